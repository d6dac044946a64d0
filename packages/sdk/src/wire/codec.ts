/** Decodes one line (or one parsed value) into a message, and encodes messages. Decoding never throws. */
import { isAscii, isUtf8 } from 'node:buffer';
import { IsthmusError, messageOf } from '../errors.js';
import { isTooDeep, MAX_DEPTH } from './depth.js';
import { ErrorCode } from './error-codes.js';
import { encodeExact } from './exact-text.js';
import {
  type Decoded,
  type DecodedMessage,
  type InvalidMessage,
  isJsonObject,
  isRequestId,
  type JsonObject,
  type JsonRpcErrorBody,
  type JsonRpcMessage,
  type JsonRpcResult,
  type RequestId,
} from './json-rpc.js';
import { passedText, readResult } from './passed-result.js';
import { recoverAnswerId, recoverId, recoverIdFromEnds } from './recover-id.js';
import { textPartsOf } from './result-text.js';
import { encodeRequest, encodeTextResult, idText } from './small-text.js';

/**
 * `release` is called when the bytes are not needed any more, before the largest part of the work. `keepsText`: the text of
 * a result is kept until `forgetResults`, so that it can be passed on.
 */
export function decodeLine(bytes: Buffer, release?: () => void, keepsText = false): Decoded {
  let text: string;
  try {
    text = toText(bytes);
  } catch {
    return invalid(undefined, NOT_JSON);
  }
  // Invalid bytes always decode to U+FFFD, so other lines need not pay for the check.
  if (text.includes('\uFFFD') && !isUtf8(bytes)) return unreadable(text, NOT_UTF8);
  if (isTooDeep(bytes)) return unreadable(text, TOO_DEEP);
  release?.();
  // In a line or an event, white space that ends it would cut the message.
  return decodeJson(text, keepsText && !text.includes('\r') && !text.includes('\n'));
}

/** For a line that is text already. Where its text is kept, it has no line break of any kind. */
export function decodeText(text: string, keepsText = false): Decoded {
  return isTooDeep(text) ? unreadable(text, TOO_DEEP) : decodeJson(text, keepsText);
}

function decodeJson(text: string, keepsText: boolean): Decoded {
  const result = keepsText ? readResult(text) : undefined;
  if (result) return result;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unreadable(text, NOT_JSON);
  }
  return decodeValue(value);
}

/** The id is that of the request, or of the request that the answer belongs to. */
function unreadable(text: string, error: JsonRpcErrorBody): InvalidMessage {
  return { ...invalid(recoverId(text), error), answers: recoverAnswerId(text) };
}

/** For JSON that is already parsed. */
export function decodeValue(value: unknown): Decoded {
  if (!Array.isArray(value)) return decodeMessage(value);
  return value.length === 0
    ? invalid(undefined, EMPTY_BATCH)
    : { kind: 'batch', items: value.map(decodeMessage) };
}

/** One line without its newline; JSON never holds a raw one. Throws `NOT_ENCODABLE` for what JSON cannot hold. */
export function encodeMessage(message: JsonRpcMessage): string {
  try {
    const text =
      'result' in message ? encodeResult(message) : (encodeExact(message) ?? encodeRequest(message));
    return text ?? JSON.stringify(message);
  } catch (error) {
    const [why] = messageOf(error).split('\n');
    throw new IsthmusError('NOT_ENCODABLE', `The message cannot be written as JSON: ${why}`, {
      cause: error,
    });
  }
}

/** A result whose text is known, or one that is a text. */
function encodeResult(message: JsonRpcResult): string | undefined {
  const parts = encodeInParts(message);
  // With `+` a large text is copied only when it is written; `join` would copy it here, too.
  if (parts) return parts[0] + parts[1] + parts[2];
  const text = passedText(message.result) ?? encodeTextResult(message.result);
  return text === undefined ? undefined : `{"jsonrpc":"2.0","id":${idText(message.id)},"result":${text}}`;
}

/**
 * The same in parts, for a large result that is passed on in its original text; undefined for any other message. Written
 * part by part, the large part is not copied.
 */
export function encodeInParts(message: JsonRpcMessage): readonly [string, string, string] | undefined {
  if (!('result' in message)) return undefined;
  const parts = textPartsOf(message.result);
  if (!parts) return undefined;
  const [before, original, after] = parts;
  return [`{"jsonrpc":"2.0","id":${idText(message.id)},"result":${before}`, original, `${after}}`];
}

/** The answer to a line over the limit, of which only both ends are known. */
export function oversizeMessage(head: Buffer, tail: Buffer, limit: number): InvalidMessage {
  const message = `Invalid request: the line is longer than ${limit} bytes`;
  const ends = [head.toString(), tail.toString()] as const;
  const error = { code: ErrorCode.InvalidRequest, message, data: { limit } };
  return { ...invalid(recoverIdFromEnds(...ends), error), answers: recoverAnswerId(...ends) };
}

/** From this size on V8 keeps Latin-1 text outside its heap: 0.6 ms instead of 5.6 ms for 9 MB (Node 20). */
const LARGE_BYTES = 1 << 20;

function toText(bytes: Buffer): string {
  return bytes.length >= LARGE_BYTES && isAscii(bytes) ? bytes.toString('latin1') : bytes.toString();
}

function decodeMessage(value: unknown): DecodedMessage {
  if (!isJsonObject(value)) return NOT_A_MESSAGE;
  const { method, id, params } = value;
  if (method === undefined) return decodeResponse(value);
  if (id !== undefined && !isRequestId(id)) return invalid(undefined, BAD_ID);
  if (value['jsonrpc'] !== '2.0') return invalid(id, BAD_VERSION);
  if (typeof method !== 'string') return invalid(id, BAD_METHOD);
  if (value['result'] !== undefined || value['error'] !== undefined) return invalid(id, REQUEST_AND_RESPONSE);
  if (params !== undefined && !isJsonObject(params)) return invalid(id, BAD_PARAMS);
  return id === undefined
    ? { kind: 'notification', method, params }
    : { kind: 'request', id, method, params };
}

/**
 * An invalid answer is refused without its id: the peer would take the error for an answer to its own request. `answers`
 * tells this side which of its requests gets no better answer.
 */
function decodeResponse(value: JsonObject): DecodedMessage {
  const { id, result, error } = value;
  if (result === undefined && error === undefined) {
    return invalid(isRequestId(id) ? id : undefined, value['jsonrpc'] === '2.0' ? NO_METHOD : BAD_VERSION);
  }
  const problem = responseProblem(value);
  if (problem)
    return isRequestId(id) ? { ...invalid(undefined, problem), answers: id } : invalid(undefined, problem);
  if (result !== undefined) return { kind: 'result', id: id as RequestId, result: result as JsonObject };
  return { kind: 'error', id: isRequestId(id) ? id : undefined, error: error as JsonRpcErrorBody };
}

function responseProblem({ jsonrpc, id, result, error }: JsonObject): JsonRpcErrorBody | undefined {
  if (jsonrpc !== '2.0') return BAD_RESPONSE_VERSION;
  if (result !== undefined && error !== undefined) return RESULT_AND_ERROR;
  // Plain JSON-RPC peers write `null` for an id that they could not read. To refuse that would answer an error with an
  // error, and two such peers would never stop.
  const mayLackId = error !== undefined && (id === undefined || id === null);
  if (!isRequestId(id) && !mayLackId) return BAD_RESPONSE_ID;
  if (result !== undefined) return isJsonObject(result) ? undefined : BAD_RESULT;
  return isErrorBody(error) ? undefined : BAD_ERROR;
}

function isErrorBody(value: unknown): value is JsonRpcErrorBody {
  return isJsonObject(value) && Number.isSafeInteger(value['code']) && typeof value['message'] === 'string';
}

function invalid(id: RequestId | undefined, error: JsonRpcErrorBody): InvalidMessage {
  return { kind: 'invalid', id, error };
}

function parseError(what: string): JsonRpcErrorBody {
  return { code: ErrorCode.ParseError, message: `Parse error: ${what}` };
}

function invalidRequest(what: string): JsonRpcErrorBody {
  return { code: ErrorCode.InvalidRequest, message: `Invalid request: ${what}` };
}

function invalidResponse(what: string): JsonRpcErrorBody {
  return { code: ErrorCode.InvalidRequest, message: `Invalid response: ${what}` };
}

const NOT_UTF8 = parseError('the line is not valid UTF-8');
const NOT_JSON = parseError('the line is not valid JSON');
const TOO_DEEP = invalidRequest(`the JSON is nested more than ${MAX_DEPTH} levels deep`);
const EMPTY_BATCH = invalidRequest('a batch must not be empty');
const BAD_VERSION = invalidRequest('jsonrpc must be "2.0"');
const BAD_ID = invalidRequest('id must be a string or an integer');
const NO_METHOD = invalidRequest('method, result or error is missing');
const BAD_METHOD = invalidRequest('method must be a string');
const BAD_PARAMS = invalidRequest('params must be an object');
const REQUEST_AND_RESPONSE = invalidRequest('a message with a method must not have result or error');
const BAD_RESPONSE_VERSION = invalidResponse('jsonrpc must be "2.0"');
const BAD_RESPONSE_ID = invalidResponse('id must be a string or an integer');
const RESULT_AND_ERROR = invalidResponse('a response must not have both result and error');
const BAD_RESULT = invalidResponse('result must be an object');
const BAD_ERROR = invalidResponse('error must have an integer code and a string message');

/** One shared object: a batch of a million numbers must not create a million of them. */
const NOT_A_MESSAGE = invalid(undefined, invalidRequest('a message must be a JSON object'));
