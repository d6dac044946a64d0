import type { Connection, Connector } from '../exchange/connection.js';
import type { ChildConnection } from '../transport/child.js';
import type { DecodedMessage } from '../wire/json-rpc.js';

/** A connector whose connections can be looked at: what the server said first, and what is on its stderr. */
export interface WatchedConnector extends Connector {
  /** How many connections were opened; for a command: how often it was started. */
  readonly opened: number;
  /** What came in, up to `MAX_SEEN` messages and until `stopWatching`. */
  readonly seen: readonly DecodedMessage[];
  stopWatching(): void;
  /** The last lines that the command wrote to stderr; none for a socket. */
  stderrTail(): readonly string[];
}

export function watchConnector(connector: Connector, onStderr?: (text: string) => void): WatchedConnector {
  const seen: DecodedMessage[] = [];
  let watching = true;
  let opened = 0;
  let newest: Connection | undefined;
  return {
    label: connector.label,
    identity: connector.identity,
    seen,
    get opened() {
      return opened;
    },
    stopWatching() {
      watching = false;
    },
    async connect() {
      const connection = await connector.connect();
      opened += 1;
      newest = connection;
      if (onStderr && isChild(connection)) {
        connection.stderr().setEncoding('utf8').on('data', onStderr);
      }
      return watched(connection, (message) => {
        if (watching && seen.length < MAX_SEEN) seen.push(message);
      });
    },
    stderrTail() {
      if (!newest || !isChild(newest)) return [];
      const lines = newest.stderrTail().trimEnd().split(/\r?\n/);
      return lines.slice(-TAIL_LINES).filter((line) => line !== '');
    },
  };
}

const MAX_SEEN = 100;
const TAIL_LINES = 10;

function isChild(connection: Connection): connection is ChildConnection {
  return 'stderrTail' in connection;
}

function watched(inner: Connection, note: (message: DecodedMessage) => void): Connection {
  return {
    label: inner.label,
    principal: inner.principal,
    life: inner.life,
    closed: inner.closed,
    get congested() {
      return inner.congested;
    },
    ...(inner.answersAll !== undefined && { answersAll: inner.answersAll }),
    get usable() {
      return inner.usable ?? true;
    },
    hold: (held) => inner.hold(held),
    send: (message) => inner.send(message),
    finish: () => inner.finish(),
    close: () => inner.close(),
    open: (receiver) =>
      inner.open({
        receive(message, about) {
          for (const one of message.kind === 'batch' ? message.items : [message]) note(one);
          receiver.receive(message, about);
        },
        inputEnded: () => receiver.inputEnded(),
        drained: () => receiver.drained(),
        failed: (id, error) => receiver.failed?.(id, error),
      }),
  };
}
