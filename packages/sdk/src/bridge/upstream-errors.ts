import { IsthmusError, ProtocolError } from '../errors.js';
import type { Call, Era } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject } from '../wire/json-rpc.js';

/**
 * A failure of the far side as the near side may see it. Codes that mean something else in the other era (a
 * dual-era client would misread them) become -32603, with what was said in `data`; so do failures on the way,
 * with whether the call may have run.
 */
export function toClientError(error: unknown, call: Pick<Call, 'peer' | 'params'>, far: Era): unknown {
  if (!(error instanceof ProtocolError)) return toWayError(error);
  return ownWords.has(error) ? error : refit(error, call, far);
}

/** Says that an error is not the far side's word, but that of the near dialect: it is right as it is. */
export function asOwn<T>(error: T): T {
  if (error instanceof ProtocolError) ownWords.add(error);
  return error;
}

const ownWords = new WeakSet<ProtocolError>();

/** A failure before the far side had a say. */
export function toWayError(error: unknown): unknown {
  return error instanceof IsthmusError ? onTheWay(error) : error;
}

function refit(error: ProtocolError, call: Pick<Call, 'peer' | 'params'>, far: Era): ProtocolError {
  const { code, message, data } = error;
  if (call.peer.era === 'legacy') return ONLY_MODERN.has(code) ? wrapped(error) : error;
  if (code === ErrorCode.LegacyResourceNotFound) {
    const uri = isJsonObject(data) ? data['uri'] : undefined;
    const known = isJsonObject(data) ? data : {};
    return new ProtocolError(ErrorCode.InvalidParams, message, { ...known, uri: uri ?? call.params['uri'] });
  }
  const isReserved = code <= -32000 && code >= -32768;
  const isUnderstood =
    HAVE_ONE_MEANING.has(code) || (code === ErrorCode.MissingClientCapability && far === 'modern');
  return isReserved && !isUnderstood ? wrapped(error) : error;
}

function wrapped({ code, message, data }: ProtocolError): ProtocolError {
  const original = data === undefined ? { code, message } : { code, message, data };
  return new ProtocolError(ErrorCode.InternalError, message, { original });
}

function onTheWay(error: IsthmusError): ProtocolError {
  const { code, message, sent, generation, status } = error;
  return new ProtocolError(ErrorCode.InternalError, withoutStderr(message), {
    reason: code,
    ...(sent !== undefined && { sent }),
    ...(generation !== undefined && { generation }),
    ...(status !== undefined && { status }),
  });
}

/** Removes secrets from errors of the connection. Errors that the server answered stay as they are. */
export function cleaned(error: unknown, clean: (text: string) => string): unknown {
  if (!(error instanceof ProtocolError && isJsonObject(error.data) && 'reason' in error.data)) return error;
  const message = clean(error.message);
  return message === error.message ? error : new ProtocolError(error.code, message, error.data, error.status);
}

/** The operator may read stderr of a server; clients of a bridge may not. */
export function withoutStderr(message: string): string {
  const at = message.indexOf('; last stderr:');
  return at < 0 ? message : message.slice(0, at);
}

/** A legacy client would take them for something of the server's own. */
const ONLY_MODERN: ReadonlySet<number> = new Set([
  ErrorCode.HeaderMismatch,
  ErrorCode.MissingClientCapability,
  ErrorCode.UnsupportedProtocolVersion,
]);

/** In the range that JSON-RPC reserves, these say the same in all revisions. */
const HAVE_ONE_MEANING: ReadonlySet<number> = new Set([
  ErrorCode.ParseError,
  ErrorCode.InvalidRequest,
  ErrorCode.MethodNotFound,
  ErrorCode.InvalidParams,
  ErrorCode.InternalError,
]);
