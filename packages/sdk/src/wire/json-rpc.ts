/** JSON-RPC 2.0 as MCP narrows it: the shapes of messages, and their constructors. */

/** A string or a safe integer. `0` and `""` are valid ids: compare with `undefined`, never by truthiness. */
export type RequestId = string | number;

/** A JSON object with unknown members. */
export type JsonObject = Record<string, unknown>;

/** A request on the wire. */
export interface JsonRpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: JsonObject;
}

/** A notification on the wire. */
export interface JsonRpcNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: JsonObject;
}

/** A result on the wire. */
export interface JsonRpcResult {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly result: JsonObject;
}

/** The code and message of an error answer. */
export interface JsonRpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** An error answer on the wire. */
export interface JsonRpcError {
  readonly jsonrpc: '2.0';
  /** Absent when the id of the offending message could not be read. */
  readonly id?: RequestId;
  readonly error: JsonRpcErrorBody;
}

/** Any message on the wire. */
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResult | JsonRpcError;

/** A decoded line. Decoding never throws: a bad line is a value, too. */
export type Decoded = DecodedMessage | DecodedBatch;

/** One message, after decoding. `kind` says which. */
export type DecodedMessage =
  | DecodedRequest
  | DecodedNotification
  | DecodedResult
  | DecodedError
  | InvalidMessage;

/** A request, after decoding. */
export interface DecodedRequest {
  readonly kind: 'request';
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** A notification, after decoding. */
export interface DecodedNotification {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** A result, after decoding. */
export interface DecodedResult {
  readonly kind: 'result';
  readonly id: RequestId;
  readonly result: JsonObject;
}

/** An error answer, after decoding. */
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

/** Whether a value can be the id of a request: a string or a whole number. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/** Whether a value is a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Makes the answer to a request. */
export function resultMessage(id: RequestId, result: JsonObject): JsonRpcResult {
  return { jsonrpc: '2.0', id, result };
}

/** An error answer. Without an id the member is left out, since MCP has no `null` ids. */
export function errorMessage(id: RequestId | undefined, error: JsonRpcErrorBody): JsonRpcError {
  return id === undefined ? { jsonrpc: '2.0', error } : { jsonrpc: '2.0', id, error };
}

/** Makes a notification. */
export function notificationMessage(method: string, params?: JsonObject): JsonRpcNotification {
  return params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params };
}

/** Makes a request. */
export function requestMessage(id: RequestId, method: string, params?: JsonObject): JsonRpcRequest {
  return params === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params };
}
