import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Over } from '../model.js';

/** Where a scripted server speaks MCP. */
export const MCP_PATH = '/mcp';

/** Where messages go in the HTTP+SSE transport of 2024-11-05: what its `endpoint` event names. */
export const ENDPOINT = '/messages?session=one';

/** Every other path is for something else: metadata, registration and tokens of OAuth, pages, schemas. */
export function isMcpPath(path: string): boolean {
  const [plain] = path.split('?');
  return plain === MCP_PATH || path === ENDPOINT;
}

/** One message of the client, and what a script can do about it. */
export interface ScriptTurn {
  readonly over: Over;
  readonly message: JsonObject;
  readonly method: string;
  readonly params: JsonObject;
  readonly id: unknown;
  /** Of the POST; empty over stdio. */
  readonly path: string;
  /** Of the POST; none over stdio. */
  readonly headers: Readonly<Record<string, string>>;
  /** The result, and the end of an HTTP answer: as JSON, or as the last event when something was said before. */
  reply(result: JsonObject, headers?: Readonly<Record<string, string>>): void;
  /** The error; `status` is HTTP's, 200 by default. */
  fail(code: number, message: string, data?: unknown, status?: number): void;
  /** Takes note of what has no answer: 202 over HTTP. */
  accept(): void;
  /** A message before the answer: a line, or an event. */
  say(message: JsonObject): void;
  /** Bytes as they are: to the pipe, or into the event stream. */
  raw(data: string | Uint8Array): void;
  /** To stderr of the process, where there is one; settles when it was read. */
  log(text: string): Promise<void>;
  /** Ends an event stream (over stdio: nothing). */
  end(): void;
  /** Cuts the connection of this answer (over stdio: the process exits). */
  cut(): void;
  /** An HTTP answer that is none of the above. */
  status(status: number, body?: string, headers?: Readonly<Record<string, string>>): void;
}

export function resultOf(id: unknown, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, result };
}

export function errorOf(id: unknown, code: number, message: string, data?: unknown): JsonObject {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
}

/** What a turn knows of its message. */
export function partsOf(message: JsonObject): Pick<ScriptTurn, 'message' | 'method' | 'params' | 'id'> {
  const { method, params, id } = message;
  return {
    message,
    method: typeof method === 'string' ? method : '',
    params: typeof params === 'object' && params !== null ? (params as JsonObject) : {},
    id,
  };
}

/** A GET, a DELETE or anything else that is no POST, and what a script can do about it. */
export interface ScriptRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole answer. */
  status(status: number, body?: string, headers?: Readonly<Record<string, string>>): void;
  /** Begins an event stream that stays open until `end`. */
  stream(headers?: Readonly<Record<string, string>>): void;
  event(data: string, fields?: { readonly event?: string; readonly id?: string }): void;
  raw(text: string): void;
  end(): void;
}
