import type { Writable } from 'node:stream';
import { type Clock, systemClock } from '../async/clock.js';
import type { IsthmusError } from '../errors.js';
import { encodeMessage } from '../wire/codec.js';
import type { JsonRpcMessage } from '../wire/json-rpc.js';
import { admitToOutbox, busy, isFarOverBound, notReading, Outbox, SILENT_MS, SLICE_BYTES } from './outbox.js';

export interface StreamOutputOptions {
  readonly label: string;
  readonly output: Writable;
  /** Replaces `output.write`, where user code has been kept from that. */
  readonly write?: ((data: string | Buffer, done: (error?: Error | null) => void) => boolean) | undefined;
  /** Requests are refused when the peer has yet to read more than this. Default 32 MiB. */
  readonly maxOutboxBytes?: number | undefined;
  /** A client writes once per round of the event loop, a server once per turn; see `#flushSoon`. */
  readonly isClient: boolean;
  readonly clock?: Clock | undefined;
  /** Called before a write while the output is congested. */
  onCongested(): void;
  /** Called when the peer has taken a write. */
  onTaken(): void;
  /** The connection has to end: the peer does not read. */
  onLost(error: IsthmusError): void;
  /** Sees each message that was queued, as a line. */
  readonly onSent?: (line: string, message?: JsonRpcMessage) => void;
}

/** The sending half of a stream connection: a queue in front of one write at a time, bounded by what the peer reads. */
export class StreamOutput {
  readonly #options: StreamOutputOptions;
  readonly #maxOutboxBytes: number;
  readonly #write: NonNullable<StreamOutputOptions['write']>;
  /** Messages that have not begun to leave. */
  readonly #outbox = new Outbox();
  /** The remaining pieces of a write that was too large for one slice, in order. */
  #slices: Buffer[] = [];
  #isFlushDue = false;
  #isWriting = false;
  #isClosed = false;
  /** Handed to the stream or sliced for it, and not yet taken by the peer. A mix of bytes and characters. */
  #unread = 0;
  #progress = 0;
  /** The length of a message above the bound that was sent while little waited, until the peer has read it. */
  #large = 0;
  /** Set while a timer watches whether the peer reads. */
  #stopWatching: (() => void) | undefined;
  #onFlushed: (() => void)[] = [];

  constructor(options: StreamOutputOptions) {
    this.#options = options;
    this.#maxOutboxBytes = options.maxOutboxBytes ?? MAX_OUTBOX_BYTES;
    this.#write = options.write ?? ((piece, done) => options.output.write(piece, done));
  }

  /** How many messages were queued. */
  get sent(): number {
    return this.#outbox.added;
  }

  /** How many of them have begun to leave. */
  get begun(): number {
    return this.#outbox.taken;
  }

  get unread(): number {
    return this.#unread + this.#outbox.size;
  }

  /** Grows whenever the peer takes something. */
  get progress(): number {
    return this.#progress;
  }

  get isCongested(): boolean {
    return this.#unread + this.#outbox.size > CONGESTED_AT;
  }

  get isFlushed(): boolean {
    return this.#unread === 0 && this.#outbox.size === 0;
  }

  send(message: JsonRpcMessage): void {
    const text = `${encodeMessage(message)}\n`;
    const waiting = this.#unread + this.#outbox.size;
    if (waiting + text.length + this.#outbox.overhead > this.#maxOutboxBytes && waiting > 0) {
      if (!this.#addToFull(message, text, waiting)) return;
    } else this.#add(text, waiting);
    if (this.#options.onSent !== undefined) this.#options.onSent(text, message);
    this.#flushSoon();
  }

  sendRequestText(text: string): void {
    const waiting = this.#unread + this.#outbox.size;
    if (waiting + text.length + this.#outbox.overhead > this.#maxOutboxBytes && waiting > 0) {
      throw busy({ label: this.#options.label, waiting, max: this.#maxOutboxBytes });
    }
    const line = `${text}\n`;
    this.#add(line, waiting);
    if (this.#options.onSent !== undefined) this.#options.onSent(line);
    this.#flushSoon();
  }

  withdraw(number: number): boolean {
    return this.#outbox.withdraw(number);
  }

  /** Starts the next write, unless one is under way: what is queued meanwhile leaves together. */
  flush(): void {
    this.#isFlushDue = false;
    if (this.isCongested) this.#options.onCongested();
    if (this.#isWriting || this.#isClosed) return;
    const data = this.#next();
    if (data === undefined) return;
    this.#isWriting = true;
    this.#write(data, (error) => {
      // A failed write also arrives as an 'error' event, which ends the connection.
      if (error) return;
      this.#isWriting = false;
      this.#unread -= data.length;
      this.#progress += 1;
      this.flush();
      this.#options.onTaken();
      if (this.#onFlushed.length > 0 && this.isFlushed) this.#tellFlushed();
    });
  }

  /** Settles when the peer has taken everything, or when the output is closed. */
  flushed(): Promise<void> {
    if (this.isFlushed) return Promise.resolve();
    return new Promise((resolve) => this.#onFlushed.push(resolve));
  }

  /** Drops what has not left. */
  close(): void {
    this.#isClosed = true;
    this.#stopWatching?.();
    this.#outbox.clear();
    this.#slices = [];
    this.#tellFlushed();
  }

  #tellFlushed(): void {
    for (const notify of this.#onFlushed.splice(0)) notify();
  }

  #flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    // The requests of a client may come from many sources (a bridge has a socket for each): everything that is read in
    // one round of the event loop leaves together. A server writes when all promises of the turn have settled.
    if (this.#options.isClient) setImmediate(() => this.flush());
    else queueMicrotask(() => process.nextTick(() => this.flush()));
  }

  /** Cuts large messages into slices: each slice that is taken shows that the peer reads. */
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

  /** Handles a message above the bound. True when something was queued for it. */
  #addToFull(message: JsonRpcMessage, text: string, waiting: number): boolean {
    const max = this.#maxOutboxBytes;
    const admitted = admitToOutbox(message, { label: this.#options.label, waiting, max, large: this.#large });
    switch (admitted.kind) {
      case 'queue':
        this.#add(text, waiting);
        if (this.#isFarOverBound) this.#watchReading();
        return true;
      case 'replace': {
        const short = `${encodeMessage(admitted.message)}\n`;
        // A result that is shorter than the error takes its place.
        this.#outbox.add(text.length <= short.length ? text : short);
        return true;
      }
      case 'refuse':
        throw admitted.error;
      case 'close':
        this.#options.onLost(admitted.error);
        return false;
    }
  }

  get #isFarOverBound(): boolean {
    return isFarOverBound({ waiting: this.unread, max: this.#maxOutboxBytes, large: this.#large });
  }

  /** Ends the connection when the peer reads nothing for `SILENT_MS` while the queue is far over its bound. */
  #watchReading(): void {
    if (this.#stopWatching) return;
    const { clock = systemClock, label } = this.#options;
    const seen = this.#progress;
    const look = () => {
      this.#stopWatching = undefined;
      if (!this.#isFarOverBound) return;
      if (this.#progress !== seen) return this.#watchReading();
      this.#options.onLost(notReading(label, this.unread));
    };
    this.#stopWatching = clock.after(SILENT_MS, look, { background: true });
  }
}

/** The peer counts as not reading when more than this waits. */
const CONGESTED_AT = 1024 * 1024;
const MAX_OUTBOX_BYTES = 32 * 1024 * 1024;
