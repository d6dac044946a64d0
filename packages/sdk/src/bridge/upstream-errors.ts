import { IsthmusError, ProtocolError } from '../errors.js';
import type { Call, Era } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject } from '../wire/json-rpc.js';

/**
 * An error of the upstream in the form for a client. A code with another meaning in the other era, which a client of both
 * eras would misread, becomes -32603 with the original in `data`. A failed connection becomes -32603 with `sent`: whether
 * the call may have run.
 */
export function toClientError(
  error: unknown,
  call: Pick<Call, 'peer' | 'params'>,
  upstreamEra: Era,
): unknown {
  if (!(error instanceof ProtocolError)) return toConnectionError(error);
  return forClient.has(error) ? error : refit(error, call, upstreamEra);
}

/** Marks an error that the bridge or the client's dialect made: it already has the form for the client. */
export function markForClient<T>(error: T): T {
  if (error instanceof ProtocolError) forClient.add(error);
  return error;
}

const forClient = new WeakSet<ProtocolError>();

/** A failure of the connection, before the upstream answered. */
export function toConnectionError(error: unknown): unknown {
  return error instanceof IsthmusError ? connectionError(error) : error;
}

function refit(error: ProtocolError, call: Pick<Call, 'peer' | 'params'>, upstreamEra: Era): ProtocolError {
  const { code, message, data } = error;
  if (call.peer.era === 'legacy') return ONLY_MODERN.has(code) ? wrapped(error) : error;
  if (code === ErrorCode.LegacyResourceNotFound) {
    const uri = isJsonObject(data) ? data['uri'] : undefined;
    const known = isJsonObject(data) ? data : {};
    return new ProtocolError(ErrorCode.InvalidParams, message, { ...known, uri: uri ?? call.params['uri'] });
  }
  const isReserved = code <= -32000 && code >= -32768;
  const isUnderstood =
    HAVE_ONE_MEANING.has(code) || (code === ErrorCode.MissingClientCapability && upstreamEra === 'modern');
  return isReserved && !isUnderstood ? wrapped(error) : error;
}

function wrapped({ code, message, data }: ProtocolError): ProtocolError {
  const original = data === undefined ? { code, message } : { code, message, data };
  return new ProtocolError(ErrorCode.InternalError, message, { original });
}

function connectionError(error: IsthmusError): ProtocolError {
  const { code, message, sent, generation, status } = error;
  return new ProtocolError(ErrorCode.InternalError, withoutStderr(message), {
    reason: code,
    ...(sent !== undefined && { sent }),
    ...(generation !== undefined && { generation }),
    ...(status !== undefined && { status }),
  });
}

/** Removes secrets from errors of the connection. Errors of the server itself stay as they are. */
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

/** A legacy client would take these for codes that the server defined. */
const ONLY_MODERN: ReadonlySet<number> = new Set([
  ErrorCode.HeaderMismatch,
  ErrorCode.MissingClientCapability,
  ErrorCode.UnsupportedProtocolVersion,
]);

/** These reserved codes of JSON-RPC have the same meaning in all revisions. */
const HAVE_ONE_MEANING: ReadonlySet<number> = new Set([
  ErrorCode.ParseError,
  ErrorCode.InvalidRequest,
  ErrorCode.MethodNotFound,
  ErrorCode.InvalidParams,
  ErrorCode.InternalError,
]);
