import type { Connection, Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import { childOf } from '@isthmus/sdk/internal/transport/stream-connection.js';
import type { DecodedMessage } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** A connector that records the first answers of the server, and its stderr. */
export interface WatchedConnector extends Connector {
  /** The number of connections that were opened; for a command, the number of starts. */
  readonly opened: number;
  /** The answers before `stopWatching`, at most `MAX_SEEN` of them and `MAX_SEEN_BYTES` in total. */
  readonly seen: readonly DecodedMessage[];
  stopWatching(): void;
  /** The last lines of the command's stderr; empty for an address. */
  stderrTail(): readonly string[];
}

export function watchConnector(connector: Connector, onStderr?: (text: string) => void): WatchedConnector {
  const seen: DecodedMessage[] = [];
  let watching = true;
  let seenBytes = 0;
  let opened = 0;
  let newest: Connection | undefined;
  return {
    label: connector.label,
    identity: connector.identity,
    extensions: connector.extensions,
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
      if (onStderr) childOf(connection)?.stderr.stream().setEncoding('utf8').on('data', onStderr);
      return watched(connection, (message, known) => {
        if (!watching || seen.length >= MAX_SEEN || !isAnswer(message)) return;
        const bytes = known ?? JSON.stringify(message).length;
        // A large answer is left out. A small one after it may show the era.
        if (seenBytes + bytes > MAX_SEEN_BYTES) return;
        seenBytes += bytes;
        seen.push(message);
      });
    },
    stderrTail() {
      const child = newest && childOf(newest);
      if (!child) return [];
      const lines = child.stderr.tail().trimEnd().split(/\r?\n/);
      return lines.slice(-TAIL_LINES).filter((line) => line !== '');
    },
  };
}

const MAX_SEEN = 100;
const MAX_SEEN_BYTES = 4 * 1024 * 1024;
const TAIL_LINES = 10;

function isAnswer({ kind }: DecodedMessage): boolean {
  return kind === 'result' || kind === 'error';
}

/** `bytes` is undefined for some transports. For a batch it is the size of the whole batch. */
type Note = (message: DecodedMessage, bytes: number | undefined) => void;

function watched(inner: Connection, note: Note): Connection {
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
        receive(message, about, bytes) {
          for (const one of message.kind === 'batch' ? message.items : [message]) note(one, bytes);
          receiver.receive(message, about, bytes);
        },
        inputEnded: () => receiver.inputEnded(),
        drained: () => receiver.drained(),
        failed: (id, error) => receiver.failed?.(id, error),
      }),
  };
}
