import type { Socket } from 'node:net';
import { createLineReader } from '@isthmus/sdk/internal/wire/lines.js';
import type { Attached } from '../../control/index.js';
import { INPUT_ENDED } from '../end-with-host.js';
import { departing } from './departing.js';

export interface DaemonLinkEvents {
  onLine(line: Buffer): void;
  /** A line that was too long has been skipped. */
  onOversize(head: Buffer, tail: Buffer): void;
  /** All lines that came together have been told. */
  onRead(): void;
  /** Nothing more will come, and nothing can be sent. Once. */
  onLost(): void;
  /** What was sent has been taken. */
  onDrained(): void;
}

/** A stream to the daemon, in whole lines: what it was in the middle of saying when it died is not a line. */
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

  /** True while there is room for more. */
  send(bytes: Buffer): boolean {
    return this.#isOver || this.#stream.write(bytes);
  }

  /** Says that the host has closed its end; answers still come. Once. */
  endInput(): void {
    if (this.#hasEndedInput) return;
    this.#hasEndedInput = true;
    this.send(departing({ jsonrpc: '2.0', method: INPUT_ENDED }).bytes);
  }

  /** While held nothing is read. */
  hold(held: boolean): void {
    if (held) this.#stream.pause();
    else this.#stream.resume();
  }

  /** Lets go without a word; `onLost` is not called. */
  drop(): void {
    this.#isOver = true;
    this.#stream.destroy();
  }

  /** Gives it up: it counts as lost. */
  giveUp(): void {
    this.#stream.destroy();
  }
}

/** Larger than any answer that the daemon takes from a server. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;
