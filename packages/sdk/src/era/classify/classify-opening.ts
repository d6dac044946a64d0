import type { Era, RequestEnvelope } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { DecodedRequest, JsonRpcErrorBody } from '../../wire/json-rpc.js';
import { type Handshake, readInitialize } from '../legacy/handshake.js';
import { claimsModern } from '../meta-keys.js';
import { isModernOnly } from '../methods.js';
import { readEnvelope, unsupportedVersion } from '../modern/envelope.js';

/**
 * What a request means on a connection whose era is not chosen yet. Only `legacy` and `modern` choose it. A refused
 * request does not, so that a handshake is possible after a failed probe.
 */
type ConnectionOpening =
  | { readonly kind: 'legacy'; readonly handshake: Handshake }
  | { readonly kind: 'modern'; readonly envelope: RequestEnvelope }
  | { readonly kind: 'pong' }
  | { readonly kind: 'refused'; readonly error: JsonRpcErrorBody };

export function classifyOpening(
  request: DecodedRequest,
  eras: readonly Era[],
  principal: string | undefined,
  remote?: string,
): ConnectionOpening {
  const { method, params } = request;
  const legacy = eras.includes('legacy');
  if (method === 'initialize') {
    if (!legacy) return refused(unsupportedVersion(String(params?.['protocolVersion'] ?? '')));
    // Its envelope is modern, and the modern era has no such method (VER-005).
    if (claimsModern(params)) return refused(noSuchMethod(method));
    const handshake = readInitialize(params);
    return 'code' in handshake ? refused(handshake) : { kind: 'legacy', handshake };
  }
  if (method === 'ping') {
    return legacy && !claimsModern(params) ? { kind: 'pong' } : refused(noSuchMethod(method));
  }
  if (!eras.includes('modern')) {
    return refused(isModernOnly(method) ? noSuchMethod(method) : initializeFirst(method));
  }
  if (!claimsModern(params) && legacy && !isModernOnly(method)) return refused(eraUnknown(method));
  const envelope = readEnvelope(params, principal, remote);
  return envelope.kind === 'valid' ? { kind: 'modern', envelope } : refused(envelope.error);
}

function refused(error: JsonRpcErrorBody): ConnectionOpening {
  return { kind: 'refused', error };
}

function noSuchMethod(method: string): JsonRpcErrorBody {
  return { code: ErrorCode.MethodNotFound, message: `Method not found: ${method}` };
}

function initializeFirst(method: string): JsonRpcErrorBody {
  return { code: ErrorCode.InvalidRequest, message: `${method} came before initialize` };
}

/** META-004 for a modern client, and a hint for a legacy one. */
function eraUnknown(method: string): JsonRpcErrorBody {
  return {
    code: ErrorCode.InvalidParams,
    message: `${method} needs either initialize first (legacy) or protocolVersion and clientCapabilities in params._meta (modern)`,
  };
}
