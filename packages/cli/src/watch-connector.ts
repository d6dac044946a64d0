import type { Connection, Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import { childOf } from '@isthmus/sdk/internal/transport/stream-connection.js';
import type { DecodedMessage } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** A connector whose connections can be looked at: what the server said first, and what is on its stderr. */
export interface WatchedConnector extends Connector {
  /** How many connections were opened; for a command: how often it was started. */
  readonly opened: number;
  /** The answers that came in until `stopWatching`, up to `MAX_SEEN` of them and `MAX_SEEN_BYTES` in all. */
  readonly seen: readonly DecodedMessage[];
  stopWatching(): void;
  /** The last lines that the command wrote to stderr; none for a socket. */
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
        // A larger one is left out; a small one behind it may be the one that tells the era.
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

/** `bytes` is not known for all transports, and for a batch it is that of all its messages. */
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
