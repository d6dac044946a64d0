import type { Connection, Connector } from '../../../src/exchange/connection.js';
import { memoryPair } from '../../../src/transport/memory.js';
import type { JsonRpcMessage } from '../../../src/wire/json-rpc.js';

/** A message as it crossed the wire. */
export interface Wire {
  readonly jsonrpc?: unknown;
  readonly id?: string | number | null;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages by path and compare with literals
  readonly params?: any;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** One connection, seen from the server. */
export interface ScriptedConnection {
  /** 1 for the first connection, 2 for the next one. */
  readonly number: number;
  /** All that the client sent, in order. */
  readonly received: Wire[];
  send(message: object): void;
  result(request: Wire, result: object): void;
  error(request: Wire, code: number, data?: unknown): void;
  close(): void;
  isOpen(): boolean;
}

export interface ScriptedConnector extends Connector {
  readonly connections: ScriptedConnection[];
}

/** What a scripted server does with a message. Nothing is answered by itself. */
export type Script = (message: Wire, connection: ScriptedConnection) => void;

/**
 * A server in this process that does exactly what its script says. `life` is when a connection shows its first
 * sign of life; `identity` what its era is remembered by.
 */
export function scripted(
  script: Script,
  options: { life?: () => Promise<void>; identity?: string } = {},
): ScriptedConnector {
  const connections: ScriptedConnection[] = [];
  return {
    label: 'scripted',
    identity: options.identity,
    connections,
    connect() {
      const [near, far] = memoryPair();
      let open = true;
      void far.closed.then(() => {
        open = false;
      });
      const connection: ScriptedConnection = {
        number: connections.length + 1,
        received: [],
        send: (message) => far.send(message as JsonRpcMessage),
        result: ({ id }, result) => connection.send({ jsonrpc: '2.0', id, result }),
        error: ({ id }, code, data) =>
          connection.send({ jsonrpc: '2.0', id, error: { code, message: `error ${code}`, data } }),
        close: () => far.close(),
        isOpen: () => open,
      };
      connections.push(connection);
      far.open({
        receive(decoded) {
          const { kind: _kind, ...message } = decoded as unknown as Wire & { kind: string };
          connection.received.push(message);
          script(message, connection);
        },
        inputEnded: () => {},
        drained: () => {},
      });
      return options.life ? withLife(near, options.life()) : near;
    },
  };
}

function withLife(connection: Connection, life: Promise<void>): Connection {
  return {
    label: connection.label,
    principal: connection.principal,
    get congested() {
      return connection.congested;
    },
    hold: (held) => connection.hold(held),
    life,
    open: (receiver) => connection.open(receiver),
    send: (message) => connection.send(message),
    finish: () => connection.finish(),
    close: () => connection.close(),
    closed: connection.closed,
  };
}

export const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  instructions: 'be kind',
  ttlMs: 0,
  cacheScope: 'private',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'scripted', version: '1' } },
};

export const WELCOME = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'scripted', version: '1' },
};

/** Answers `initialize`, and every tool call with the tool's name; nothing else. */
export const legacyScript: Script = (message, connection) => {
  if (message.method === 'initialize') connection.result(message, WELCOME);
  else answerCalls(message, connection);
};

/** Answers `server/discover`, and every tool call with the tool's name; refuses `initialize`. */
export const modernScript: Script = (message, connection) => {
  if (message.method === 'server/discover') connection.result(message, DISCOVERED);
  else if (message.method === 'initialize')
    connection.error(message, -32022, { supported: ['2026-07-28'], requested: '2025-11-25' });
  else answerCalls(message, connection);
};

export const answerCalls: Script = (message, connection) => {
  if (message.method !== 'tools/call') return;
  connection.result(message, {
    resultType: 'complete',
    content: [{ type: 'text', text: message.params.name }],
  });
};

/** The methods of what a client sent, in order. */
export function methods(connection: ScriptedConnection | undefined): (string | undefined)[] {
  return (connection?.received ?? []).map(({ method }) => method);
}
