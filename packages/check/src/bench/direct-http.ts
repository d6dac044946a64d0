import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import {
  modernHeaders,
  POST_HEADERS,
  ToolHeaders,
} from '@isthmus/sdk/internal/transport/http-client/request-headers.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { HttpReply } from './http-answers.js';
import { type HttpOutcome, openHttpLanes } from './http-lanes.js';
import {
  type BenchFailure,
  CLIENT_INFO,
  type DirectWay,
  failureOf,
  judgeEnd,
  paramsOf,
  timedOut,
} from './request.js';

interface DirectHttpOptions {
  readonly url: URL;
  readonly era: Era;
  readonly revision: string;
  /** By lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/**
 * Plain HTTP/1.1 on its own connections, with one request at a time on each, and in its own session in the legacy era.
 * Undefined if the first request does not work in this way (a redirect, for example). Then the client sends the requests.
 */
export async function openDirectHttp(options: DirectHttpOptions): Promise<DirectWay | undefined> {
  const { url, era, revision, timeoutMs } = options;
  const lanes = openHttpLanes(url, timeoutMs);
  const tools = new ToolHeaders();
  const session: Record<string, string> = {};
  const headFor = (method: string, params: JsonObject): string => {
    const own = era === 'modern' ? modernHeaders({ method, params }, revision, tools) : session;
    return headOf('POST', url, { ...POST_HEADERS, ...options.headers, ...own });
  };
  const once = (text: string): Promise<HttpReply | undefined> =>
    new Promise((resolve) => {
      lanes.send(text, (outcome) => resolve(outcome.kind === 'reply' ? outcome.reply : undefined));
    });
  const post = (message: { readonly method: string; readonly params?: JsonObject; readonly id?: number }) =>
    once(
      withBody(headFor(message.method, message.params ?? {}), JSON.stringify({ jsonrpc: '2.0', ...message })),
    );
  const endSession = async () => {
    if (session['mcp-session-id'] === undefined) return;
    const head = headOf('DELETE', url, { ...options.headers, ...session });
    await Promise.race([
      once(`${head}\r\n`),
      new Promise((resolve) => setTimeout(resolve, END_SESSION_MS).unref()),
    ]);
  };

  const hello =
    era === 'modern'
      ? await post({ id: 1, method: 'server/discover', params: paramsOf(era, revision, {}) })
      : await post({
          id: 1,
          method: 'initialize',
          params: { protocolVersion: revision, capabilities: {}, clientInfo: CLIENT_INFO },
        });
  if (hello?.status !== 200 || hello.message?.result === undefined) return void lanes.close();
  if (era === 'legacy') {
    session['mcp-protocol-version'] = revision;
    if (hello.sessionId !== undefined) session['mcp-session-id'] = hello.sessionId;
    await post({ method: 'notifications/initialized' });
  }
  // Some arguments of a modern tool must be repeated in headers. The list of tools says which.
  for (let page: JsonObject = {}, pages = 0; era === 'modern' && pages < MAX_PAGES; pages += 1) {
    const listed = await post({ id: 1, method: 'tools/list', params: paramsOf(era, revision, page) });
    const result = listed?.message?.result;
    if (!isJsonObject(result)) break;
    tools.learn(result, () => {});
    if (typeof result['nextCursor'] !== 'string') break;
    page = { cursor: result['nextCursor'] };
  }
  return {
    asker({ method, params }) {
      const head = headFor(method, params);
      const rest = JSON.stringify({ method, params: paramsOf(era, revision, params) }).slice(1);
      const restBytes = Buffer.byteLength(rest);
      let nextId = FIRST_ID;
      return (settle) => {
        const id = nextId;
        nextId += 1;
        const start = `{"jsonrpc":"2.0","id":${id},`;
        const text = `${head}content-length: ${start.length + restBytes}\r\n\r\n${start}${rest}`;
        lanes.send(text, (outcome) => settle(judgeOutcome(outcome, id, timeoutMs)));
      };
    },
    async close() {
      await endSession();
      lanes.close();
    },
  };
}

function judgeOutcome(outcome: HttpOutcome, id: number, timeoutMs: number): BenchFailure | undefined {
  if (outcome.kind === 'timed out') return timedOut(timeoutMs);
  if (outcome.kind === 'lost') return judgeEnd({ kind: 'lost', error: new Error(outcome.why) });
  const { status, message } = outcome.reply;
  if (message === undefined)
    return { kind: 'HTTP_STATUS', example: `HTTP ${status} without a JSON-RPC answer`, answered: true };
  // An error may have no id, if the server could not read it.
  if (message.id === id || (message.id == null && message.result === undefined)) return failureOf(message);
  const example = `the answer to request ${id} has the id ${JSON.stringify(message.id) ?? 'undefined'}`;
  return { kind: 'INVALID_RESULT', example, answered: true };
}

function headOf(verb: string, url: URL, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ host: url.host, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${verb} ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}`;
}

function withBody(head: string, body: string): string {
  return `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Small enough for peers that keep ids in 32 bits. */
const FIRST_ID = 2;
const MAX_PAGES = 100;
const END_SESSION_MS = 2000;
