/** JSON-RPC 2.0 as MCP narrows it: the shapes of messages, and their constructors. */

/** A string or a safe integer. `0` and `""` are valid ids: compare with `undefined`, never by truthiness. */
export type RequestId = string | number;

export type JsonObject = Record<string, unknown>;

export interface JsonRpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: JsonObject;
}

export interface JsonRpcNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: JsonObject;
}

export interface JsonRpcResult {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly result: JsonObject;
}

export interface JsonRpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface JsonRpcError {
  readonly jsonrpc: '2.0';
  /** Absent when the id of the offending message could not be read. */
  readonly id?: RequestId;
  readonly error: JsonRpcErrorBody;
}

export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResult | JsonRpcError;

/** A decoded line. Decoding never throws: a bad line is a value, too. */
export type Decoded = DecodedMessage | DecodedBatch;

export type DecodedMessage =
  | DecodedRequest
  | DecodedNotification
  | DecodedResult
  | DecodedError
  | InvalidMessage;

export interface DecodedRequest {
  readonly kind: 'request';
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject | undefined;
}

export interface DecodedNotification {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: JsonObject | undefined;
}

export interface DecodedResult {
  readonly kind: 'result';
  readonly id: RequestId;
  readonly result: JsonObject;
}

export interface DecodedError {
  readonly kind: 'error';
  readonly id: RequestId | undefined;
  readonly error: JsonRpcErrorBody;
  /** The HTTP status of the answer, if that was an error status. */
  readonly status?: number;
}

/** A line that is not a message. `error` is the answer to send; `id` is set if it could be recovered. */
export interface InvalidMessage {
  readonly kind: 'invalid';
  readonly id: RequestId | undefined;
  /** Set if the line looks like an answer to this request of ours. */
  readonly answers?: RequestId | undefined;
  readonly error: JsonRpcErrorBody;
}

/** A JSON array. Only revision 2025-03-26 allows it; the dialect decides. Never empty, never nested. */
export interface DecodedBatch {
  readonly kind: 'batch';
  readonly items: readonly DecodedMessage[];
}

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function resultMessage(id: RequestId, result: JsonObject): JsonRpcResult {
  return { jsonrpc: '2.0', id, result };
}

/** An error answer. Without an id the member is left out, since MCP has no `null` ids. */
export function errorMessage(id: RequestId | undefined, error: JsonRpcErrorBody): JsonRpcError {
  return id === undefined ? { jsonrpc: '2.0', error } : { jsonrpc: '2.0', id, error };
}

export function notificationMessage(method: string, params?: JsonObject): JsonRpcNotification {
  return params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params };
}

export function requestMessage(id: RequestId, method: string, params?: JsonObject): JsonRpcRequest {
  return params === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params };
}
