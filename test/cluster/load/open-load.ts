import { Agent, request } from 'node:http';
import {
  initialize,
  legacyCall,
  modernCall,
  POST_HEADERS,
} from '../../../packages/sdk/test/support/http-server.js';

export interface LoadOptions {
  readonly url: string;
  readonly sessions: number;
  readonly perSecond: number;
}

export interface LoadReport {
  readonly calls: number;
  readonly failures: readonly string[];
  /** Of successful calls, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Calls that could not be made in time, since this process or the machine is too slow. */
  readonly skipped: number;
}

/** Sessions that call in turn, and every fourth call is one of the modern era. The rate does not depend on answers. */
export async function openLoad({ url, sessions, perSecond }: LoadOptions) {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const post = (message: unknown, headers: Record<string, string>) => send(agent, url, message, headers);
  const ids: string[] = [];
  const failures: string[] = [];
  const latencies: number[] = [];
  const openOne = async (at: number) => {
    const { status, session, text } = await post(initialize(0), {});
    if (session === undefined) return void failures.push(`session ${at}: ${status} ${text}`);
    ids[at] = session;
    await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, sessionHeaders(session));
  };
  for (let at = 0; at < sessions; at += 20) {
    await Promise.all(Array.from({ length: Math.min(20, sessions - at) }, (_, more) => openOne(at + more)));
  }
  let calls = 0;
  let skipped = 0;
  let underWay = 0;
  const callOnce = async (at: number, isModern: boolean) => {
    const text = `call ${calls}`;
    const began = performance.now();
    calls += 1;
    underWay += 1;
    try {
      const answer = isModern
        ? await modern(agent, url, calls, text)
        : await post(legacyCall(calls, 'echo', { text }), sessionHeaders(ids[at]!));
      if (answer.status === 200 && answer.text.includes(`"${text}"`))
        latencies.push(performance.now() - began);
      else
        failures.push(
          `${isModern ? 'modern' : ids[at]} ${text}: ${answer.status} ${answer.text.slice(0, 300)}`,
        );
    } catch (error) {
      failures.push(`${isModern ? 'modern' : ids[at]} ${text}: ${String(error)}`);
    }
    underWay -= 1;
  };
  const began = performance.now();
  let due = 0;
  const timer = setInterval(() => {
    const wanted = Math.floor(((performance.now() - began) / 1000) * perSecond);
    for (; due < wanted; due += 1) {
      if (underWay > 200) skipped += 1;
      else void callOnce(due % sessions, due % 4 === 3);
    }
  }, 5);
  return {
    /** Each session is asked once more: none may be lost. */
    async stop(): Promise<LoadReport> {
      clearInterval(timer);
      while (underWay > 0) await new Promise((resolve) => setTimeout(resolve, 20));
      for (let at = 0; at < sessions; at += 20) {
        const some = Array.from({ length: Math.min(20, sessions - at) }, (_, more) => at + more);
        await Promise.all(some.map((each) => callOnce(each, false)));
      }
      agent.destroy();
      const sorted = latencies.sort((a, b) => a - b);
      const at = (share: number) => Math.round(10 * (sorted[Math.floor(share * sorted.length)] ?? 0)) / 10;
      return { calls, failures, p50: at(0.5), p99: at(0.99), skipped };
    },
  };
}

function sessionHeaders(session: string): Record<string, string> {
  return { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
}

function modern(agent: Agent, url: string, id: number, text: string): Promise<PlainAnswer> {
  const { headers, body } = modernCall(id, 'echo', { text }) as {
    headers: Record<string, string>;
    body: string;
  };
  return sendText(agent, url, String(body), headers);
}

interface PlainAnswer {
  readonly status: number;
  readonly text: string;
  readonly session: string | undefined;
}

function send(agent: Agent, url: string, message: unknown, headers: Record<string, string>) {
  return sendText(agent, url, JSON.stringify(message), {
    ...POST_HEADERS,
    ...headers,
  });
}

/** `fetch` would need more of the processor than the replicas. */
function sendText(
  agent: Agent,
  url: string,
  body: string,
  headers: Record<string, string>,
): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    const sent = request(url, { method: 'POST', agent, headers: { ...headers, ...length } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('error', reject);
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => {
        const session = answer.headers['mcp-session-id'];
        resolve({
          status: answer.statusCode!,
          text,
          session: session === undefined ? session : String(session),
        });
      });
    });
    sent.on('error', reject).end(body);
  });
}
