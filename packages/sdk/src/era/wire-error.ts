import { IsthmusError, messageOf, ProtocolError } from '../errors.js';
import { events } from '../events.js';
import type { Era } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonRpcErrorBody } from '../wire/json-rpc.js';

/** What a failed call tells the peer: the code that was thrown, fitted to the era, or -32603. Never a stack. */
export function toWireError(thrown: unknown, method: string, era: Era): JsonRpcErrorBody {
  if (thrown instanceof ProtocolError) {
    const code = fitCode(thrown.code, thrown.data, method, era);
    const message = messageOf(thrown);
    return thrown.data === undefined ? { code, message } : { code, message, data: thrown.data };
  }
  if (!(thrown instanceof IsthmusError) && events.handlerFailed.hasSubscribers) {
    events.handlerFailed.publish({ method, error: thrown });
  }
  return { code: ErrorCode.InternalError, message: messageOf(thrown) };
}

function fitCode(code: number, data: unknown, method: string, era: Era): number {
  if (!Number.isSafeInteger(code)) return ErrorCode.InternalError;
  if (era === 'legacy') {
    // A missing resource has its own code in the legacy revisions (ERR-022).
    const missingResource =
      method === 'resources/read' && isJsonObject(data) && typeof data['uri'] === 'string';
    if (code === ErrorCode.InvalidParams && missingResource) return ErrorCode.LegacyResourceNotFound;
    return code;
  }
  if (code === ErrorCode.LegacyResourceNotFound) return ErrorCode.InvalidParams; // ERR-006
  if (code === ErrorCode.LegacyUrlElicitationRequired) return ErrorCode.InternalError; // ERR-008
  return code;
}
