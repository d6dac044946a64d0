import type { Readable, Writable } from 'node:stream';
import { type Clock, systemClock, within } from '../async/clock.js';
import { createDeferred } from '../async/deferred.js';
import type { Connection, ConnectionEnd, Receiver } from '../exchange/connection.js';
import { decodeLine, encodeMessage, oversizeMessage } from '../wire/codec.js';
import type { JsonRpcMessage } from '../wire/json-rpc.js';
import { createLineReader } from '../wire/lines.js';
import { admitToOutbox, busy, isFar, notReading, Outbox, SILENT_MS, SLICE_BYTES } from './outbox.js';

export const DEFAULT_MAX_LINE_BYTES = 16 * 1024 * 1024;

export interface StreamConnectionOptions {
  readonly label: string;
  /** The address of the peer, where it has one. */
  readonly remote?: string | undefined;
  readonly input: Readable;
  readonly output: Writable;
  /** How bytes are written; differs from `output.write` where that has been taken from user code. */
  readonly write?: (data: string | Buffer, done: (error?: Error | null) => void) => boolean;
  /** Longer lines are discarded and answered with an error; the connection lives on. */
  readonly maxLineBytes?: number;
  /** Called once at the end, to close what the caller opened; the connection has ended when it settles. */
  readonly release: (end: ConnectionEnd) => Promise<void> | void;
  /** Settles when the peer is gone although its streams may still be open, with what is known of the cause. */
  readonly gone?: Promise<Error>;
  /**
   * Goes on reading while output piles up. One side of a conversation must, or two full pipes wait for each
   * other: servers stop reading, clients (who decide how much they ask for) do not.
   */
  readonly alwaysReads?: boolean;
  /** Settles at the peer's first sign of life; at once by default. */
  readonly life?: Promise<void>;
  /** What may wait to be read by the peer before requests to it are refused. Default 32 MiB. */
  readonly maxOutboxBytes?: number;
  readonly clock?: Clock;
}

/**
 * Newline-delimited JSON over any pair of byte streams. All messages of one turn leave in one write. When
 * more than 1 MiB waits to be read by the peer, input is paused until it has been taken. When more than 32 MiB
 * waits, requests are refused.
 */
export function createStreamConnection(options: StreamConnectionOptions): Connection {
  return new StreamConnection(options);
}

class StreamConnection implements Connection {
  readonly label: string;
  readonly principal = undefined;
  readonly remote: string | undefined;
  readonly closed: Promise<ConnectionEnd>;
  readonly life: Promise<void>;
  readonly #options: StreamConnectionOptions;
  readonly #end = createDeferred<ConnectionEnd>();
  #receiver: Receiver | undefined;
  #state: 'open' | 'finishing' | 'closed' = 'open';
  /** Messages that have not begun to leave. */
  readonly #outbox = new Outbox();
  #flushDue = false;
  /** The rest of what has begun to leave and was too large for one write, in order. */
  #slices: Buffer[] = [];
  #writing = false;
  /** Handed to the stream or sliced for it, and not yet taken by the peer; bytes or characters, near enough. */
  #unread = 0;
  /** Goes up whenever the peer takes something. */
  #progress = 0;
  readonly #maxOutboxBytes: number;
  /** The length of a message larger than the bound that was sent while little waited, until it has been read. */
  #large = 0;
  /** Called off when the connection ends; there while the peer is watched. */
  #stopWatching: (() => void) | undefined;
  /** The output is full. */
  #paused = false;
  /** The receiver has enough to do. */
  #held = false;
  #reading = true;
  #onFlushed: (() => void)[] = [];

  constructor(options: StreamConnectionOptions) {
    this.#options = options;
    this.label = options.label;
    this.remote = options.remote;
    this.closed = this.#end.promise;
    this.life = options.life ?? Promise.resolve();
    this.#maxOutboxBytes = options.maxOutboxBytes ?? MAX_OUTBOX_BYTES;
  }

  get sent(): number {
    return this.#outbox.added;
  }

  get begun(): number {
    return this.#outbox.taken;
  }

  get unread(): number {
    return this.#unread + this.#outbox.size;
  }

  get progress(): number {
    return this.#progress;
  }

  get congested(): boolean {
    return this.#unread + this.#outbox.size > CONGESTED_AT;
  }

  open(receiver: Receiver): void {
    const { input, output, maxLineBytes = DEFAULT_MAX_LINE_BYTES } = this.#options;
    this.#receiver = receiver;
    let isEnding = false;
    const reader = createLineReader({
      maxLineBytes,
      onLine: (bytes, release) => {
        if (this.#state !== 'open') return;
        const { length } = bytes;
        const message = decodeLine(bytes, release);
        // A server that dies in the middle of a line has not said it; that it is gone is told in a moment.
        if (isEnding && this.#options.alwaysReads && message.kind === 'invalid') return;
        receiver.receive(message, undefined, length);
      },
      onOversize: (head, tail) => {
        if (this.#state === 'open') receiver.receive(oversizeMessage(head, tail, maxLineBytes));
      },
    });
    input.on('data', (chunk: Buffer) => {
      reader.push(chunk);
      if (this.congested) this.#pause();
    });
    input.on('end', () => {
      isEnding = true;
      reader.end();
      if (this.#state !== 'closed') receiver.inputEnded();
    });
    input.on('error', (error) => this.#shut({ kind: 'lost', error }));
    input.on('close', () => {
      // A reset may close the input without an 'end'; there is nobody to answer then.
      if (!input.readableEnded) this.#shut({ kind: 'lost' });
    });
    output.on('error', (error) => this.#shut({ kind: 'lost', error }));
    void this.#options.gone?.then((error) => this.#shut({ kind: 'lost', error }));
    output.on('close', () => this.#shut({ kind: 'lost' }));
  }

  hold(held: boolean): void {
    this.#held = held;
    this.#steer();
  }

  send(message: JsonRpcMessage): void {
    if (this.#state === 'closed') return;
    const text = `${encodeMessage(message)}\n`;
    const waiting = this.#unread + this.#outbox.size;
    if (waiting + text.length + this.#outbox.overhead > this.#maxOutboxBytes && waiting > 0) {
      if (!this.#addToFull(message, text, waiting)) return;
    } else this.#add(text, waiting);
    this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#flushDue) return;
    this.#flushDue = true;
    // A client's requests may come from many places (a bridge has a socket for each): all that is read in one round
    // of the event loop leaves together. A server answers when all promises of the turn have settled.
    if (this.#options.alwaysReads) setImmediate(() => this.#flush());
    else queueMicrotask(() => process.nextTick(() => this.#flush()));
  }

  sendRequestText(text: string): void {
    if (this.#state === 'closed') return;
    const waiting = this.#unread + this.#outbox.size;
    if (waiting + text.length + this.#outbox.overhead > this.#maxOutboxBytes && waiting > 0) {
      throw busy({ label: this.label, waiting, max: this.#maxOutboxBytes });
    }
    this.#add(`${text}\n`, waiting);
    this.#flushSoon();
  }

  /** Takes a message out of the queue by its number (`sent` right after it was sent). False: it has begun to leave. */
  withdraw(number: number): boolean {
    return this.#outbox.withdraw(number);
  }

  async finish(): Promise<void> {
    if (this.#state === 'open') {
      this.#state = 'finishing';
      // Everything accepted has been answered; what a peer sends now would only keep the end away.
      this.#steer();
      this.#flush();
      // A slow reader gets all the time it needs, as long as it reads.
      let seen = -1;
      while (!this.#isFlushed && seen !== this.#progress) {
        seen = this.#progress;
        await within(systemClock, SILENCE_MS, this.#flushed());
      }
      this.#shut({ kind: this.#isFlushed ? 'finished' : 'lost' });
    }
    await this.closed;
  }

  close(): void {
    this.#shut({ kind: 'closed' });
  }

  /** One write at a time: what is sent meanwhile waits and leaves together. */
  #flush(): void {
    this.#flushDue = false;
    if (this.congested) this.#pause();
    if (this.#writing || this.#state === 'closed') return;
    const data = this.#next();
    if (data === undefined) return;
    this.#writing = true;
    const write = this.#options.write ?? ((piece, done) => this.#options.output.write(piece, done));
    write(data, (error) => {
      // A failed write also arrives as an 'error' event, which ends the connection.
      if (error) return;
      this.#writing = false;
      this.#unread -= data.length;
      this.#progress += 1;
      this.#flush();
      this.#taken();
    });
  }

  /** Large messages go in slices: that shows whether the peer is reading. */
  #next(): string | Buffer | undefined {
    if (this.#slices.length > 0) return this.#slices.shift();
    const text = this.#outbox.take();
    if (text === undefined || text.length <= SLICE_BYTES) {
      this.#unread += text?.length ?? 0;
      return text;
    }
    const bytes = Buffer.from(text);
    this.#unread += bytes.length;
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      this.#slices.push(bytes.subarray(at, at + SLICE_BYTES));
    }
    return this.#slices.shift();
  }

  #add(text: string, waiting: number): void {
    if (waiting <= this.#maxOutboxBytes) this.#large = text.length > this.#maxOutboxBytes ? text.length : 0;
    this.#outbox.add(text);
  }

  /** The peer has not read for long. True when the message was queued all the same. */
  #addToFull(message: JsonRpcMessage, text: string, waiting: number): boolean {
    const max = this.#maxOutboxBytes;
    const admitted = admitToOutbox(message, { label: this.label, waiting, max, large: this.#large });
    switch (admitted.kind) {
      case 'queue':
        this.#add(text, waiting);
        if (this.#isFar) this.#watchReading();
        return true;
      case 'replace': {
        const short = `${encodeMessage(admitted.message)}\n`;
        // A result that is shorter still takes no more room than the error would.
        this.#outbox.add(text.length <= short.length ? text : short);
        return true;
      }
      case 'refuse':
        throw admitted.error;
      case 'close':
        this.#shut({ kind: 'lost', error: admitted.error });
        return false;
    }
  }

  get #isFar(): boolean {
    return isFar({ waiting: this.unread, max: this.#maxOutboxBytes, large: this.#large });
  }

  /** Goes on while very much waits, and ends the connection when the peer has read nothing for a while. */
  #watchReading(): void {
    if (this.#stopWatching) return;
    const { clock = systemClock } = this.#options;
    const seen = this.#progress;
    const look = () => {
      this.#stopWatching = undefined;
      if (!this.#isFar) return;
      if (this.#progress !== seen) return this.#watchReading();
      this.#shut({ kind: 'lost', error: notReading(this.label, this.unread) });
    };
    this.#stopWatching = clock.after(SILENT_MS, look, { background: true });
  }

  #taken(): void {
    if (!this.congested && this.#state !== 'closed') {
      // Work that waited for room goes first; it may fill the room again.
      this.#receiver?.drained();
      this.#paused = this.congested && !this.#options.alwaysReads;
      this.#steer();
    }
    if (this.#onFlushed.length > 0 && this.#isFlushed)
      for (const notify of this.#onFlushed.splice(0)) notify();
  }

  get #isFlushed(): boolean {
    return this.#unread === 0 && this.#outbox.size === 0;
  }

  #pause(): void {
    if (this.#options.alwaysReads) return;
    this.#paused = true;
    this.#steer();
  }

  #steer(): void {
    if (this.#state === 'closed') return;
    const read = this.#state === 'open' && !this.#paused && !this.#held;
    if (read === this.#reading) return;
    this.#reading = read;
    if (read) this.#options.input.resume();
    else this.#options.input.pause();
  }

  #flushed(): Promise<void> {
    if (this.#isFlushed) return Promise.resolve();
    return new Promise((resolve) => this.#onFlushed.push(resolve));
  }

  /** A broken pipe is the symptom; what is known of the peer's end, now that it has been seen out, is the cause. */
  #causeOf(end: ConnectionEnd): Promise<Error | undefined> | undefined {
    const { gone } = this.#options;
    return end.kind === 'lost' && gone ? Promise.race([gone, Promise.resolve(undefined)]) : undefined;
  }

  #shut(end: ConnectionEnd): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#stopWatching?.();
    this.#outbox.clear();
    this.#slices = [];
    this.#options.input.pause();
    void Promise.resolve(this.#options.release(end))
      .then(() => this.#causeOf(end))
      .then((error) => this.#end.resolve(error ? { ...end, error } : end));
    for (const notify of this.#onFlushed.splice(0)) notify();
  }
}

/** Where "the peer does not read" begins. */
const CONGESTED_AT = 1024 * 1024;
/** What may wait before requests are refused. */
const MAX_OUTBOX_BYTES = 32 * 1024 * 1024;
/** How long a finishing connection waits for a peer that takes nothing of what is queued. */
const SILENCE_MS = 5000;
