import type { Message } from '../../../../../test/support/messages.js';
import {
  initialize,
  legacy,
  legacyCall,
  modernCall,
  parseEvents,
} from '../../../../sdk/test/support/http-server.js';
import { type StormClient, textOf } from './clients.js';

/** Sees every byte: one request, one answer to it, and nothing behind that. */
export async function rawModern(url: string): Promise<StormClient> {
  const complaints: string[] = [];
  let id = 0;
  return {
    complaints,
    async call(tool, args, signal) {
      id += 1;
      const mine = id;
      const { status, messages } = await post(url, modernCall(mine, tool, args), signal);
      return theAnswer(mine, status, messages, complaints);
    },
    close: async () => {},
  };
}

export interface RawLegacyClient extends StormClient {
  /** `at`: the URL of another replica than the one that opened the session. */
  call(tool: string, args: Record<string, unknown>, signal: AbortSignal, at?: string): Promise<unknown>;
}

/** The same in a session of its own. */
export async function rawLegacy(url: string): Promise<RawLegacyClient> {
  const complaints: string[] = [];
  const welcome = await post(url, legacy(initialize(0)), undefined);
  theAnswer(0, welcome.status, welcome.messages, complaints, (result) => result);
  const session = welcome.headers.get('mcp-session-id')!;
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
  await post(url, legacy({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers), undefined);
  let id = 0;
  return {
    complaints,
    async call(tool, args, signal, at = url) {
      id += 1;
      const mine = id;
      const { status, messages } = await post(at, legacy(legacyCall(mine, tool, args), headers), signal);
      return theAnswer(mine, status, messages, complaints);
    },
    async close() {
      const gone = await fetch(url, { method: 'DELETE', headers });
      await gone.arrayBuffer();
    },
  };
}

/** A failure that was told: a JSON-RPC error, or a status with a reason. */
export class RawFailure extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

interface Posted {
  readonly status: number;
  readonly headers: Headers;
  readonly messages: readonly Message[];
}

async function post(
  url: string,
  { headers, body }: { headers?: object; body?: string | Buffer },
  signal: AbortSignal | undefined,
): Promise<Posted> {
  const response = await fetch(url, {
    method: 'POST',
    headers: headers as Record<string, string>,
    body: String(body),
    ...(signal && { signal }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, messages: messagesIn(response, text) };
}

function messagesIn(response: Response, text: string): Message[] {
  const type = response.headers.get('content-type') ?? '';
  if (text === '') return [];
  if (type === 'application/json') return [JSON.parse(text) as Message];
  if (type !== 'text/event-stream') throw new RawFailure(response.status, `of type ${type}: ${text}`, {});
  if (!text.endsWith('\n\n')) throw new Error(`the stream broke off: ${text}`);
  return parseEvents(text).flatMap(({ data }) => (data ? [JSON.parse(data) as Message] : []));
}

function theAnswer(
  id: number,
  status: number,
  messages: readonly Message[],
  complaints: string[],
  read: (result: unknown) => unknown = textOf,
): unknown {
  const answers = messages.filter(({ method }) => method === undefined);
  if (answers.length !== 1 || answers[0] !== messages.at(-1)) {
    complaints.push(`request ${id} had ${JSON.stringify(messages)}`);
  }
  const [answer] = answers;
  // There is nothing at that address, not even the protocol.
  if (typeof answer?.error === 'string') throw new RawFailure(status, answer.error, undefined);
  // A refusal at the door names no request.
  const isMine = answer?.id === id || (status >= 400 && answer?.error !== undefined);
  if (!isMine) complaints.push(`request ${id} was answered with ${status} ${JSON.stringify(answer)}`);
  if (answer?.error) throw new RawFailure(answer.error.code, answer.error.message, answer.error.data);
  return read(answer?.result);
}
