import { IsthmusError, ProtocolError } from '../errors.js';
import type { Call } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject } from '../wire/json-rpc.js';

/**
 * A failure of the far side as the near side may see it. Codes that mean something else in the other era (a
 * dual-era client would misread them) become -32603, with what was said in `data`; so do failures on the way,
 * with whether the call may have run.
 */
export function toNearError(error: unknown, call: Call): unknown {
  return error instanceof ProtocolError ? refit(error, call) : toWayError(error);
}

/** A failure before the far side had a say. */
export function toWayError(error: unknown): unknown {
  return error instanceof IsthmusError ? onTheWay(error) : error;
}

function refit(error: ProtocolError, call: Call): ProtocolError {
  const { code, message, data } = error;
  if (call.peer.era === 'legacy') return ONLY_MODERN.has(code) ? wrapped(error) : error;
  if (code === ErrorCode.LegacyResourceNotFound) {
    const uri = isJsonObject(data) ? data['uri'] : undefined;
    const known = isJsonObject(data) ? data : {};
    return new ProtocolError(ErrorCode.InvalidParams, message, { ...known, uri: uri ?? call.params['uri'] });
  }
  const isReserved = code <= -32000 && code >= -32768;
  return isReserved && !HAVE_ONE_MEANING.has(code) ? wrapped(error) : error;
}

function wrapped({ code, message, data }: ProtocolError): ProtocolError {
  const original = data === undefined ? { code, message } : { code, message, data };
  return new ProtocolError(ErrorCode.InternalError, message, { original });
}

function onTheWay(error: IsthmusError): ProtocolError {
  const { code, message, sent, generation, status } = error;
  return new ProtocolError(ErrorCode.InternalError, message, {
    reason: code,
    ...(sent !== undefined && { sent }),
    ...(generation !== undefined && { generation }),
    ...(status !== undefined && { status }),
  });
}

/** A legacy client would take them for something of the server's own. */
const ONLY_MODERN: ReadonlySet<number> = new Set([
  ErrorCode.HeaderMismatch,
  ErrorCode.MissingClientCapability,
  ErrorCode.UnsupportedProtocolVersion,
]);

/** In the range that JSON-RPC reserves, these say the same in all revisions, or concern the near client itself. */
const HAVE_ONE_MEANING: ReadonlySet<number> = new Set([
  ErrorCode.ParseError,
  ErrorCode.InvalidRequest,
  ErrorCode.MethodNotFound,
  ErrorCode.InvalidParams,
  ErrorCode.InternalError,
  ErrorCode.MissingClientCapability,
]);
