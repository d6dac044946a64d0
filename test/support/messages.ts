/** The messages that tests send, written out by hand: the code under test must not help to test itself. */

export interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results by path and compare with literals
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

const MODERN = '2026-07-28';

export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A modern request: it carries all that the server needs to know. */
export function request(id: string | number, method: string, params: object = {}): object {
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: ENVELOPE } };
}

/** A modern tool call. */
export function call(id: string | number, name: string, args: object = {}): object {
  return request(id, 'tools/call', { name, arguments: args });
}

/** A legacy tool call, for a connection that `initialize` has opened. */
export function legacyCall(id: string | number, name: string, args: object = {}): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}

export function initialize(id: string | number, protocolVersion = '2025-11-25'): object {
  const clientInfo = { name: 'test', version: '1' };
  return {
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo },
  };
}

export function line(message: unknown): string {
  return `${JSON.stringify(message)}\n`;
}

/** The text of a tool result. */
export function textOf(message: Message): string {
  return message.result.content[0].text;
}
