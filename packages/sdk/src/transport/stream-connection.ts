import type { Readable } from 'node:stream';
import { type Clock, systemClock, within } from '../async/clock.js';
import { createDeferred } from '../async/deferred.js';
import type { Connection, ConnectionEnd, Receiver } from '../exchange/connection.js';
import { LazyLine, type Tap, type TapLine, type TappedConnection } from '../exchange/tap.js';
import type { Child } from '../process/child.js';
import { decodeLine, decodeText, oversizeMessage } from '../wire/codec.js';
import type { JsonRpcMessage } from '../wire/json-rpc.js';
import { createLineReader } from '../wire/lines.js';
import { StreamOutput, type StreamOutputOptions } from './stream-output.js';

export const DEFAULT_MAX_LINE_BYTES = 16 * 1024 * 1024;

export interface StreamConnectionOptions extends Pick<StreamOutputOptions, 'label' | 'output'> {
  /** The address of the peer, where it has one. */
  readonly remote?: string | undefined;
  /** The process at the other end, where this side started it. */
  readonly child?: Child;
  readonly input: Readable;
  readonly write?: StreamOutputOptions['write'];
  /** Longer lines are discarded and answered with an error; the connection stays open. */
  readonly maxLineBytes?: number;
  /** Called once at the end, to close what the caller opened. The connection has ended when it settles. */
  readonly release: (end: ConnectionEnd) => Promise<void> | void;
  /** Settles with the cause when the peer is gone, even if its streams are still open. */
  readonly gone?: Promise<Error>;
  /**
   * Keeps reading while output piles up. One side of a conversation must, or two full pipes wait for each other:
   * servers stop reading; clients, who decide how much they ask for, do not.
   */
  readonly alwaysReads?: boolean;
  /** Settles at the peer's first sign of life. Default: at once. */
  readonly life?: Promise<void>;
  readonly maxOutboxBytes?: number;
  readonly clock?: Clock;
  readonly tap?: Tap | undefined;
}

/**
 * Newline-delimited JSON over any pair of byte streams. All messages of one turn leave in one write. When the peer has
 * yet to read more than 1 MiB, input is paused until it has read. Above 32 MiB requests are refused.
 */
export function createStreamConnection(options: StreamConnectionOptions): Connection {
  return new StreamConnection(options);
}

/** The process at the other end of a connection, where this side started it. */
export function childOf(connection: Connection): Child | undefined {
  return connection instanceof StreamConnection ? connection.child : undefined;
}

class StreamConnection implements Connection {
  readonly label: string;
  readonly principal = undefined;
  readonly remote: string | undefined;
  readonly child: Child | undefined;
  readonly closed: Promise<ConnectionEnd>;
  readonly life: Promise<void>;
  readonly #options: StreamConnectionOptions;
  readonly #output: StreamOutput;
  readonly #tapped: LazyLine | undefined;
  readonly #end = createDeferred<ConnectionEnd>();
  #receiver: Receiver | undefined;
  #state: 'open' | 'finishing' | 'closed' = 'open';
  /** The output is full. */
  #isPaused = false;
  /** The receiver wants nothing more for now. */
  #isHeld = false;
  #isReading = true;

  constructor(options: StreamConnectionOptions) {
    this.#options = options;
    this.label = options.label;
    this.remote = options.remote;
    this.child = options.child;
    this.closed = this.#end.promise;
    this.life = options.life ?? Promise.resolve();
    this.#tapped = options.tap && new LazyLine(options.tap, tappedFacts(options));
    this.#output = new StreamOutput({
      label: options.label,
      output: options.output,
      write: options.write,
      maxOutboxBytes: options.maxOutboxBytes,
      isClient: options.alwaysReads ?? false,
      clock: options.clock,
      onCongested: () => this.#pause(),
      onTaken: () => this.#resume(),
      onLost: (error) => this.#shut({ kind: 'lost', error }),
      ...(this.#tapped && { onSent: (line, message) => this.tap?.sent(line.slice(0, -1), message) }),
    });
  }

  get tap(): TapLine | undefined {
    return this.#tapped?.line;
  }

  get sent(): number {
    return this.#output.sent;
  }

  get begun(): number {
    return this.#output.begun;
  }

  get unread(): number {
    return this.#output.unread;
  }

  get progress(): number {
    return this.#output.progress;
  }

  get congested(): boolean {
    return this.#output.isCongested;
  }

  open(receiver: Receiver): void {
    const { input, output, maxLineBytes = DEFAULT_MAX_LINE_BYTES, alwaysReads = false } = this.#options;
    this.#receiver = receiver;
    let isEnding = false;
    const reader = createLineReader({
      maxLineBytes,
      onLine: (bytes, release) => {
        if (this.#state !== 'open') return;
        const { length } = bytes;
        const line = this.#tapped === undefined ? undefined : this.tap;
        // The memory of the bytes is reused.
        const copy = line && Buffer.from(bytes);
        const message = decodeLine(bytes, release, alwaysReads);
        line?.received(copy!, message);
        // The broken last line of a server that died is not a message. The loss is reported separately.
        if (isEnding && alwaysReads && message.kind === 'invalid') return;
        receiver.receive(message, undefined, length);
      },
      onText: (text) => {
        if (this.#state !== 'open') return;
        const message = decodeText(text, alwaysReads);
        if (this.#tapped !== undefined) this.tap?.received(text, message);
        receiver.receive(message, undefined, text.length);
      },
      onOversize: (head, tail) => {
        if (this.#state !== 'open') return;
        const message = oversizeMessage(head, tail, maxLineBytes);
        if (this.#tapped !== undefined) this.tap?.received(Buffer.from(head), message);
        receiver.receive(message);
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
      // A reset may close the input without an 'end'. Then answers cannot arrive either.
      if (!input.readableEnded) this.#shut({ kind: 'lost' });
    });
    output.on('error', (error) => this.#shut({ kind: 'lost', error }));
    void this.#options.gone?.then((error) => this.#shut({ kind: 'lost', error }));
    output.on('close', () => this.#shut({ kind: 'lost' }));
  }

  hold(held: boolean): void {
    this.#isHeld = held;
    this.#steer();
  }

  send(message: JsonRpcMessage): void {
    if (this.#state !== 'closed') this.#output.send(message);
  }

  sendRequestText(text: string): void {
    if (this.#state !== 'closed') this.#output.sendRequestText(text);
  }

  withdraw(number: number): boolean {
    return this.#output.withdraw(number);
  }

  async finish(): Promise<void> {
    if (this.#state === 'open') {
      const output = this.#output;
      this.#state = 'finishing';
      // Everything that was accepted has been answered. Further input would only delay the end.
      this.#steer();
      output.flush();
      // A slow reader gets all the time it needs, as long as it reads.
      let seen = -1;
      while (!output.isFlushed && seen !== output.progress) {
        seen = output.progress;
        await within(systemClock, SILENCE_MS, output.flushed());
      }
      this.#shut({ kind: output.isFlushed ? 'finished' : 'lost' });
    }
    await this.closed;
  }

  close(): void {
    this.#shut({ kind: 'closed' });
  }

  #pause(): void {
    if (this.#options.alwaysReads) return;
    this.#isPaused = true;
    this.#steer();
  }

  #resume(): void {
    if (this.congested || this.#state === 'closed') return;
    // Work that waited for room goes first; it may fill the room again.
    this.#receiver?.drained();
    this.#isPaused = this.congested && !this.#options.alwaysReads;
    this.#steer();
  }

  /** Starts or stops reading, as the state demands. */
  #steer(): void {
    if (this.#state === 'closed') return;
    const read = this.#state === 'open' && !this.#isPaused && !this.#isHeld;
    if (read === this.#isReading) return;
    this.#isReading = read;
    if (read) this.#options.input.resume();
    else this.#options.input.pause();
  }

  /** A broken pipe is only a symptom. The cause, such as the exit of the process, is known after `release`. */
  #causeOf(end: ConnectionEnd): Promise<Error | undefined> | undefined {
    const { gone } = this.#options;
    return end.kind === 'lost' && gone ? Promise.race([gone, Promise.resolve(undefined)]) : undefined;
  }

  #shut(end: ConnectionEnd): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#options.input.pause();
    void Promise.resolve(this.#options.release(end))
      .then(() => this.#causeOf(end))
      .then((error) => {
        const known = error ? { ...end, error } : end;
        this.#tapped?.end(known);
        this.#end.resolve(known);
      });
    this.#output.close();
  }
}

function tappedFacts({ label, child, alwaysReads }: StreamConnectionOptions): TappedConnection {
  const transport = child ? 'stdio' : (/^(unix|tcp):/.exec(label)?.[1] ?? 'stdio');
  return {
    label,
    side: alwaysReads ? 'upstream' : 'client',
    transport: transport as TappedConnection['transport'],
    pid: child?.pid,
  };
}

/** How long a finishing connection waits for a peer that takes nothing of what is queued. */
const SILENCE_MS = 5000;
