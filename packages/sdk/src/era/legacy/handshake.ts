import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject, type JsonObject, type JsonRpcErrorBody } from '../../wire/json-rpc.js';
import type { ClientCapabilities, Implementation } from '../../wire/model.js';
import { type LegacyRevision, negotiateLegacy } from '../revisions.js';

/** What `initialize` settles for the life of the connection. */
export interface Handshake {
  readonly revision: LegacyRevision;
  readonly info: Implementation;
  readonly capabilities: ClientCapabilities;
}

/** INIT-002: all three members are required. The version is negotiated, never refused (INIT-010). */
export function readInitialize(params: JsonObject | undefined): Handshake | JsonRpcErrorBody {
  const version = params?.['protocolVersion'];
  if (typeof version !== 'string') return invalid('initialize needs a string protocolVersion');
  const capabilities = params?.['capabilities'];
  if (!isJsonObject(capabilities)) return invalid('initialize needs a capabilities object');
  const info = params?.['clientInfo'];
  if (!isJsonObject(info) || typeof info['name'] !== 'string' || typeof info['version'] !== 'string') {
    return invalid('initialize needs clientInfo with a string name and version');
  }
  return {
    revision: negotiateLegacy(version),
    info: info as unknown as Implementation,
    capabilities: capabilities as ClientCapabilities,
  };
}

function invalid(message: string): JsonRpcErrorBody {
  return { code: ErrorCode.InvalidParams, message };
}
