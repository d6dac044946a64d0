import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject, RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { CLIENT_INFO, legacyCapabilities, modernParams } from './envelope.js';

/** The greeting of an era: `server/discover`, or `initialize`. */
export function helloMessage(
  era: Era,
  revision: string,
  options: { readonly id?: RequestId; readonly capabilities?: JsonObject | undefined } = {},
) {
  const { id = 1, capabilities } = options;
  if (era === 'modern') {
    const params = modernParams({}, revision, { ...(capabilities && { capabilities }) });
    return { jsonrpc: '2.0', id, method: 'server/discover', params };
  }
  const params: JsonObject = {
    protocolVersion: revision,
    capabilities: capabilities ?? legacyCapabilities(revision),
    clientInfo: CLIENT_INFO,
  };
  return { jsonrpc: '2.0', id, method: 'initialize', params };
}
