import type { Readable, Writable } from 'node:stream';
import { type Clock, systemClock } from '../../async/clock.js';
import { createDeferred } from '../../async/deferred.js';
import type { Attached } from '../../gateway/control/index.js';
import { decodeLine, oversizeMessage } from '../../wire/codec.js';
import type { DecodedMessage, JsonRpcErrorBody, JsonRpcMessage, RequestId } from '../../wire/json-rpc.js';
import { createLineReader } from '../../wire/lines.js';
import { failureLine, lostBody, unreachableBody } from './failures.js';
import { Link } from './link.js';
import { messagesOf, peekAnswer } from './peek.js';
import { Questions } from './questions.js';
import { SessionMemory } from './session-memory.js';
import { watchSilence } from './watch-silence.js';

export interface ShimOptions {
  /** What people call the server. */
  readonly name: string;
  readonly input: Readable;
  readonly output: Pick<Writable, 'write' | 'on'>;
  /** Opens a stream to the server, through a fresh daemon if need be. */
  attach(): Promise<Attached>;
  /** Whether the daemon answers at all; asked when a request has been without any sign for long. */
  isAlive(): Promise<boolean>;
  /** There was no way to the server; the host has been told as well. */
  onTrouble(error: unknown): void;
  readonly maxLineBytes?: number;
  /** How long answers that are still due may take when the host has closed its end. Default 12 s. */
  readonly graceMs?: number;
  readonly clock?: Clock;
}

export interface Shim {
  /** Settles when the host has gone, and all answers have left. */
  readonly ended: Promise<{ readonly wasAttached: boolean }>;
  /** As if the host had closed its end. */
  end(): void;
}

/** Stands between a host and the daemon: passes lines on, and outlives the daemon. */
export function runShim(options: ShimOptions): Shim {
  const running = new RunningShim(options);
  return { ended: running.ended, end: () => running.inputEnded() };
}

/** A line of the host on its way. */
interface Departing {
  readonly bytes: Buffer;
  readonly messages: readonly DecodedMessage[];
}

class RunningShim {
  readonly #options: ShimOptions;
  readonly #clock: Clock;
  readonly #ended = createDeferred<{ readonly wasAttached: boolean }>();
  readonly #memory = new SessionMemory();
  readonly #questions = new Questions();
  /** Requests that the daemon has and has not answered. */
  readonly #inFlight = new Map<RequestId, string>();
  #link: Link | undefined;
  #isAttaching = false;
  #wasAttached = false;
  /** The answer to `initialize` that is waited for before anything else is sent. */
  #replayed: { readonly id: RequestId; readonly rest: readonly JsonRpcMessage[] } | undefined;
  readonly #ownIds = new Set<RequestId>();
  #counter = 0;
  #waiting: Departing[] = [];
  #waitingBytes = 0;
  #toHost: Buffer[] = [];
  #isOver = false;
  #isInputOver = false;
  /** Handshakes that a daemon has not survived, in a row. */
  #lostOpenings = 0;
  /** Times in a row that it was attached again by itself. */
  #returns = 0;
  #callOff = () => {};

  constructor(options: ShimOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const { input, output, maxLineBytes = MAX_LINE_BYTES } = options;
    const reader = createLineReader({
      maxLineBytes,
      onLine: (line) => this.#fromHost(line),
      onOversize: (head, tail) => {
        const { id, error } = oversizeMessage(head, tail, maxLineBytes);
        this.#tellHost(failureLine(id, error));
      },
    });
    input.on('data', (chunk: Buffer) => {
      reader.push(chunk);
      this.#flush();
    });
    input.once('end', () => {
      reader.end();
      this.inputEnded();
    });
    input.once('error', () => this.inputEnded());
    output.on('error', () => this.#settle());
    output.on('drain', () => this.#link?.hold(false));
    watchSilence({
      clock: this.#clock,
      isWaiting: () => this.#inFlight.size > 0,
      isAlive: () => options.isAlive(),
      onDead: () => this.#link?.giveUp(),
      heard: () => this.#heard,
      over: this.ended,
    });
    this.#attach();
  }

  #heard = 0;

  get ended(): Promise<{ readonly wasAttached: boolean }> {
    return this.#ended.promise;
  }

  inputEnded(): void {
    if (this.#isInputOver) return;
    this.#isInputOver = true;
    this.#flush();
    const { graceMs = GRACE_MS } = this.#options;
    const callOff = this.#clock.after(graceMs, () => this.#settle());
    void this.ended.then(callOff);
    this.#review();
  }

  /** When the host has closed its end: whether there is still something to wait for. */
  #review(): void {
    if (!this.#isInputOver || this.#isOver) return;
    const isIdle = this.#inFlight.size === 0 && this.#waiting.length === 0;
    if (isIdle) return this.#settle();
    if (this.#link && !this.#replayed && this.#waiting.length === 0) this.#link.end();
  }

  #fromHost(line: Buffer): void {
    const decoded = decodeLine(line);
    let bytes = line;
    if (decoded.kind === 'result' || (decoded.kind === 'error' && decoded.id !== undefined)) {
      const answer = this.#questions.answered(line, decoded.id!);
      if (!answer) return;
      bytes = answer;
    }
    // The memory of the line is used again, so this has to be a copy.
    this.#depart({ bytes: Buffer.concat([bytes, NEWLINE]), messages: messagesOf(decoded) });
  }

  #depart(line: Departing): void {
    if (this.#link && !this.#replayed) return this.#send(line);
    const isQuestion = line.messages.some(({ kind }) => kind === 'request' || kind === 'invalid');
    if (!isQuestion && !this.#isAttaching && !this.#replayed) {
      // Not worth a daemon by itself; what has to be known of it is said again when there is one.
      for (const message of line.messages) this.#memory.sent(message);
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += line.bytes.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#options.input.pause();
    this.#attach();
  }

  #send({ bytes, messages }: Departing): void {
    for (const message of messages) {
      this.#memory.sent(message);
      if (message.kind === 'request') this.#inFlight.set(message.id, message.method);
      else if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
        this.#inFlight.delete(message.params?.['requestId'] as RequestId);
      }
    }
    if (!this.#link!.send(bytes)) this.#options.input.pause();
  }

  #attach(): void {
    if (this.#link || this.#isAttaching || this.#isOver) return;
    this.#callOff();
    this.#isAttaching = true;
    this.#options.attach().then(
      (attached) => this.#attached(attached),
      (error: unknown) => {
        this.#isAttaching = false;
        this.#options.onTrouble(error);
        this.#refuseWaiting(unreachableBody(error));
      },
    );
  }

  #attached(attached: Attached): void {
    this.#isAttaching = false;
    this.#wasAttached = true;
    if (this.#isOver) return void attached.stream.destroy();
    const began = this.#clock.now();
    this.#link = new Link(attached, {
      onLine: (line) => this.#fromDaemon(line),
      onOversize: (head, tail) => this.#tooLong(head, tail),
      onRead: () => this.#flush(),
      onLost: () => {
        if (this.#clock.now() - began > STABLE_MS) this.#returns = 0;
        this.#lost();
      },
      onDrained: () => this.#options.input.resume(),
    });
    this.#heard = began;
    const replay = this.#memory.replay(() => this.#ownId());
    if (!replay) return this.#sendWaiting();
    this.#replayed = { id: (replay.initialize as { id: RequestId }).id, rest: replay.rest };
    this.#say(replay.initialize);
  }

  #sendWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#options.input.resume();
    for (const line of waiting) this.#send(line);
    this.#review();
  }

  #fromDaemon(line: Buffer): void {
    this.#heard = this.#clock.now();
    const peeked = peekAnswer(line);
    switch (peeked.kind) {
      case 'answer': {
        const { id, isError } = peeked;
        if (this.#ownIds.delete(id)) return this.#agreed(id, isError, line);
        if (this.#inFlight.get(id) === 'initialize') this.#lostOpenings = 0;
        this.#inFlight.delete(id);
        this.#memory.answered(id, isError);
        this.#toHost.push(Buffer.from(line), NEWLINE);
        return this.#review();
      }
      case 'request':
        this.#toHost.push(Buffer.from(this.#questions.asked(line, peeked.id)), NEWLINE);
        return;
      case 'other':
        this.#toHost.push(Buffer.from(this.#questions.passing(line)), NEWLINE);
    }
  }

  /** The answer to something that we said again for the host, which has heard it before. */
  #agreed(id: RequestId, isError: boolean, line: Buffer): void {
    if (this.#replayed?.id !== id) return;
    const { rest } = this.#replayed;
    this.#replayed = undefined;
    if (isError) {
      const { error } = JSON.parse(line.toString('utf8')) as { error: JsonRpcErrorBody };
      this.#link?.drop();
      this.#link = undefined;
      return this.#refuseWaiting(error);
    }
    for (const message of rest) this.#say(message);
    this.#sendWaiting();
  }

  #tooLong(head: Buffer, tail: Buffer): void {
    const { answers, error } = oversizeMessage(head, tail, 0);
    if (answers === undefined) return;
    this.#inFlight.delete(answers);
    this.#tellHost(failureLine(answers, { ...error, message: 'The answer is too long' }));
  }

  /** The daemon is gone. Nothing that it had is made again, except for a handshake. */
  #lost(): void {
    this.#link = undefined;
    this.#replayed = undefined;
    this.#ownIds.clear();
    const { opening } = this.#memory;
    for (const [id, method] of this.#inFlight) {
      if (method === 'initialize' && opening && this.#lostOpenings < MAX_LOST_OPENINGS) {
        this.#lostOpenings += 1;
        const bytes = Buffer.from(`${JSON.stringify(opening)}\n`);
        this.#waiting.unshift({ bytes, messages: messagesOf(decodeLine(bytes)) });
      } else this.#tellHost(failureLine(id, lostBody(this.#options.name)));
    }
    this.#inFlight.clear();
    this.#memory.lost();
    for (const line of this.#questions.forget()) this.#tellHost(line);
    this.#flush();
    this.#options.input.resume();
    if (this.#waiting.length > 0) this.#attach();
    else if (this.#memory.awaitsNews && !this.#isInputOver) this.#attachLater();
    this.#review();
  }

  /** Nobody asks for anything, but there are subscriptions. */
  #attachLater(): void {
    const delay = Math.min(MAX_RETURN_MS, FIRST_RETURN_MS * 2 ** this.#returns);
    this.#returns += 1;
    this.#callOff = this.#clock.after(delay, () => this.#attach());
  }

  #refuseWaiting(error: JsonRpcErrorBody): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const message of waiting.flatMap(({ messages }) => messages)) {
      if (message.kind === 'request') this.#tellHost(failureLine(message.id, error));
      else if (message.kind === 'invalid') this.#tellHost(failureLine(message.id, message.error));
      else this.#memory.sent(message);
    }
    this.#flush();
    this.#options.input.resume();
    this.#review();
  }

  #say(message: JsonRpcMessage): void {
    this.#link?.send(Buffer.from(`${JSON.stringify(message)}\n`));
  }

  #ownId(): string {
    this.#counter += 1;
    const id = `isthmus-attach-${this.#counter}`;
    this.#ownIds.add(id);
    return id;
  }

  #tellHost(line: string): void {
    this.#toHost.push(Buffer.from(`${line}\n`));
  }

  #flush(): void {
    if (this.#toHost.length === 0) return;
    const bytes = Buffer.concat(this.#toHost);
    this.#toHost = [];
    if (!this.#options.output.write(bytes)) this.#link?.hold(true);
  }

  #settle(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#callOff();
    this.#flush();
    this.#link?.end();
    // Empty, and behind all that was written before.
    this.#options.output.write('', () => {
      this.#link?.drop();
      this.#ended.resolve({ wasAttached: this.#wasAttached });
    });
  }
}

const NEWLINE = Buffer.from('\n');
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** What waits for a daemon to come; then the host is not read. */
const MAX_WAITING_BYTES = 1024 * 1024;
const GRACE_MS = 12_000;
const MAX_LOST_OPENINGS = 2;
const FIRST_RETURN_MS = 250;
const MAX_RETURN_MS = 30_000;
const STABLE_MS = 60_000;
