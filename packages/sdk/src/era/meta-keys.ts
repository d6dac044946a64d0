import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';

/** The reserved `_meta` keys of the modern era (wire sheet §2). */
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;

/** True if a request claims to be modern, valid or not. */
export function claimsModern(params: JsonObject | undefined): boolean {
  const meta = params?.['_meta'];
  return isJsonObject(meta) && meta[META.protocolVersion] !== undefined;
}
