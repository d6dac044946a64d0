import type { Message, RawClient } from './raw-client.js';

export const VERSION = 'io.modelcontextprotocol/protocolVersion';
export const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
export const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';
export const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
export const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';
export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

/** The `_meta` of a modern request. */
export function envelope(capabilities: object = {}, more: object = {}): Record<string, unknown> {
  return { [VERSION]: '2026-07-28', [CAPABILITIES]: capabilities, ...more };
}

/** A modern request. */
export function modern(
  id: string | number,
  method: string,
  params: object = {},
  meta: object = envelope(),
): object {
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } };
}

/** A request without an envelope. */
export function legacy(id: string | number, method: string, params?: object): object {
  return { jsonrpc: '2.0', id, method, ...(params && { params }) };
}

export function notification(method: string, params?: object): object {
  return { jsonrpc: '2.0', method, ...(params && { params }) };
}

/** Opens a legacy session; gives the result of `initialize`, whose id is "init". */
export async function initialize(
  client: RawClient,
  protocolVersion = '2025-11-25',
  capabilities: object = {},
): Promise<Message> {
  client.send(
    legacy('init', 'initialize', {
      protocolVersion,
      capabilities,
      clientInfo: { name: 'raw', version: '0' },
    }),
  );
  const welcome = await client.next();
  client.send(notification('notifications/initialized'));
  return welcome;
}
