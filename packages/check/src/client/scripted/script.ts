import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Over } from '../model.js';

/** The path of MCP on a scripted server. */
export const MCP_PATH = '/mcp';

/** Where clients POST in the HTTP+SSE transport of 2024-11-05: the address in its `endpoint` event. */
export const ENDPOINT = '/messages?session=one';

/** Other paths are not MCP: metadata, registration and tokens of OAuth, pages, schemas. */
export function isMcpPath(path: string): boolean {
  const [plain] = path.split('?');
  return plain === MCP_PATH || path === ENDPOINT;
}

/** One message of the client, and the ways to answer it. */
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
  /** The result. Over HTTP it ends the response: as JSON, or as the last event after other messages. */
  reply(result: JsonObject, headers?: Readonly<Record<string, string>>): void;
  /** The error. `status` is the HTTP status, 200 by default. */
  fail(code: number, message: string, data?: unknown, status?: number): void;
  /** For messages without an answer: 202 over HTTP. */
  accept(): void;
  /** A message before the answer: a line, or an event. */
  say(message: JsonObject): void;
  /** Bytes as they are: to the pipe, or into the event stream. */
  raw(data: string | Uint8Array): void;
  /** Writes to stderr of the process, if there is one. Settles when it was read. */
  log(text: string): Promise<void>;
  /** Ends an event stream (over stdio: nothing). */
  end(): void;
  /** Cuts the connection of this response (over stdio: the process exits). */
  cut(): void;
  /** Any other HTTP response. */
  status(status: number, body?: string, headers?: Readonly<Record<string, string>>): void;
}

export function resultOf(id: unknown, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, result };
}

export function errorOf(id: unknown, code: number, message: string, data?: unknown): JsonObject {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
}

/** The parts of a message that a turn has. */
export function partsOf(message: JsonObject): Pick<ScriptTurn, 'message' | 'method' | 'params' | 'id'> {
  const { method, params, id } = message;
  return {
    message,
    method: typeof method === 'string' ? method : '',
    params: typeof params === 'object' && params !== null ? (params as JsonObject) : {},
    id,
  };
}

/** An HTTP request other than POST (GET, DELETE), and the ways to answer it. */
export interface ScriptRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole response. */
  status(status: number, body?: string, headers?: Readonly<Record<string, string>>): void;
  /** Begins an event stream that stays open until `end`. */
  stream(headers?: Readonly<Record<string, string>>): void;
  event(data: string, fields?: { readonly event?: string; readonly id?: string }): void;
  raw(text: string): void;
  end(): void;
}

/** An HTTP request that is not MCP: metadata, registration, authorization and tokens. */
export interface AsideRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Of the server, by the name that its address has. */
  readonly origin: string;
  status(status: number, body?: string, headers?: Readonly<Record<string, string>>): void;
}
