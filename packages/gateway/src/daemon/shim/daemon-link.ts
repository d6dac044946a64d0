import type { Socket } from 'node:net';
import type { Connection, Receiver } from '@isthmus/sdk/internal/exchange/connection.js';
import type { Decoded } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { createLineReader } from '@isthmus/sdk/internal/wire/lines.js';
import type { Attached } from '../../control/index.js';
import { encodeLine } from './lines.js';

export interface DaemonLinkEvents {
  onLine(line: Buffer): void;
  /** A line that was too long was skipped. */
  onOversize(head: Buffer, tail: Buffer): void;
  /** All lines that came together were reported. */
  onRead(): void;
  /** The stream has ended. Once. */
  onLost(): void;
  /** The daemon takes more. */
  onDrained(): void;
}

/** The shim's end of a stream to the daemon. Reads whole lines only: half a line of a daemon that died is dropped. */
export class DaemonLink {
  readonly #stream: Socket;
  #isOver = false;
  #hasEndedInput = false;

  constructor({ stream, leftover }: Attached, events: DaemonLinkEvents) {
    this.#stream = stream;
    const reader = createLineReader({
      maxLineBytes: MAX_LINE_BYTES,
      onLine: (line) => {
        if (!this.#isOver) events.onLine(line);
      },
      onOversize: (head, tail) => events.onOversize(head, tail),
    });
    const over = () => {
      if (this.#isOver) return;
      this.#isOver = true;
      stream.destroy();
      events.onLost();
    };
    if (leftover.length > 0) stream.unshift(leftover);
    stream.on('data', (chunk: Buffer) => {
      reader.push(chunk);
      events.onRead();
    });
    stream.on('drain', () => events.onDrained());
    stream.on('end', over);
    stream.on('error', over);
    stream.on('close', over);
    stream.resume();
  }

  /** True while the daemon takes more. */
  send(bytes: Buffer): boolean {
    return this.#isOver || this.#stream.write(bytes);
  }

  /** Tells the daemon that the host has closed its end. Answers still come. */
  endInput(): void {
    if (this.#hasEndedInput) return;
    this.#hasEndedInput = true;
    this.send(encodeLine({ jsonrpc: '2.0', method: INPUT_ENDED }).bytes);
  }

  /** While held, nothing is read. */
  hold(held: boolean): void {
    if (held) this.#stream.pause();
    else this.#stream.resume();
  }

  /** Ends the stream without `onLost`. */
  drop(): void {
    this.#isOver = true;
    this.#stream.destroy();
  }

  /** Ends the stream with `onLost`. */
  giveUp(): void {
    this.#stream.destroy();
  }
}

/** Larger than any answer that the daemon accepts from a server. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;

/**
 * A shim sends this when its host has closed its end and answers are still due. It does not half-close the socket,
 * since that looks the same as a shim that was killed.
 */
const INPUT_ENDED = 'notifications/isthmus/inputEnded';

/** The daemon's end. When the shim is gone, its calls are cancelled at once, since no one reads the answers. */
export function endWithShim(connection: Connection): Connection {
  const open = connection.open.bind(connection);
  connection.open = (receiver) => open(shimReceiver(connection, receiver));
  return connection;
}

function shimReceiver(connection: Connection, receiver: Receiver): Receiver {
  return {
    receive(message, about, bytes) {
      if (isInputEnded(message)) receiver.inputEnded();
      else receiver.receive(message, about, bytes);
    },
    inputEnded: () => connection.close(),
    drained: () => receiver.drained(),
  };
}

function isInputEnded(message: Decoded): boolean {
  return message.kind === 'notification' && message.method === INPUT_ENDED;
}
