import type { Readable, Writable } from 'node:stream';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { decodeLine, oversizeMessage } from '@isthmus/sdk/internal/wire/codec.js';
import type { JsonRpcErrorBody, JsonRpcMessage, RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { createLineReader } from '@isthmus/sdk/internal/wire/lines.js';
import type { Attached } from '../../control/index.js';
import { DaemonLink } from './daemon-link.js';
import { type Departing, departing, refusalsOf, WaitingLines, wantsAnswer } from './departing.js';
import { failureLine, lostBody, stoppedBody, tooLongLine, unreachableBody } from './failures.js';
import { HostOutput } from './host-output.js';
import { messagesOf, peekAnswer } from './peek.js';
import { Questions } from './questions.js';
import { createReturns } from './returns.js';
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
  /** Longer lines of the host are refused. Default 16 MiB. */
  readonly maxLineBytes?: number;
  /** How long answers that are still due may take when the host has closed its end. Default 12 s. */
  readonly graceMs?: number;
  readonly clock?: Clock;
}

export interface Shim {
  /** Settles when the host has gone, and all answers have left. */
  readonly ended: Promise<{ readonly wasAttached: boolean }>;
  /** As if the host had closed its end. What is not answered within the grace is answered with an error. */
  end(options?: { readonly graceMs?: number }): void;
}

/** Stands between a host and the daemon: passes lines on, and outlives the daemon. */
export function runShim(options: ShimOptions): Shim {
  const running = new RunningShim(options);
  return { ended: running.ended, end: ({ graceMs } = {}) => running.inputEnded(graceMs) };
}

class RunningShim {
  readonly #options: ShimOptions;
  readonly #clock: Clock;
  readonly #output: HostOutput;
  readonly #ended = createDeferred<{ readonly wasAttached: boolean }>();
  readonly #memory = new SessionMemory();
  readonly #questions = new Questions();
  /** Read in this round. */
  readonly #departing: Departing[] = [];
  #isDue = false;
  readonly #waiting = new WaitingLines();
  /** Requests that the daemon has and has not answered, with their methods. */
  readonly #inFlight = new Map<RequestId, string>();
  readonly #returns;
  #link: DaemonLink | undefined;
  #isAttaching = false;
  #wasAttached = false;
  /** `initialize`, said again: nothing else is sent before it is answered. */
  #agreeing: { readonly id: RequestId; readonly rest: readonly JsonRpcMessage[] } | undefined;
  /** Of what we said again for the host; it must not see the answers. */
  readonly #ownIds = new Set<RequestId>();
  #heardAt = 0;
  #isInputOver = false;
  #isOver = false;
  /** Handshakes that a daemon has not survived, in a row. */
  #lostOpenings = 0;

  constructor(options: ShimOptions) {
    const { input, output, maxLineBytes = MAX_LINE_BYTES, clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#output = new HostOutput(output);
    this.#returns = createReturns(clock, () => this.#attach());
    const reader = createLineReader({
      maxLineBytes,
      onLine: (line) => this.#fromHost(line),
      onOversize: (head, tail) => {
        const { id, error } = oversizeMessage(head, tail, maxLineBytes);
        this.#output.add(failureLine(id, error));
      },
    });
    input.on('data', (chunk: Buffer) => {
      reader.push(chunk);
      this.#departSoon();
    });
    input.once('end', () => {
      reader.end();
      this.#departSoon();
      setImmediate(() => this.inputEnded());
    });
    input.once('error', () => this.inputEnded());
    output.on('error', () => this.#end());
    output.on('drain', () => this.#link?.hold(false));
    watchSilence({
      clock,
      isWaiting: () => this.#inFlight.size > 0,
      heardAt: () => this.#heardAt,
      isAlive: () => options.isAlive(),
      onDead: () => this.#link?.giveUp(),
      over: this.ended,
    });
    this.#attach();
  }

  get ended(): Promise<{ readonly wasAttached: boolean }> {
    return this.#ended.promise;
  }

  /** A second time may shorten the grace, never extend it. */
  inputEnded(graceMs = this.#options.graceMs ?? GRACE_MS): void {
    const callOff = this.#clock.after(graceMs, () => this.#abandon());
    void this.ended.then(callOff);
    if (this.#isInputOver) return;
    this.#isInputOver = true;
    this.#flush();
    this.#review();
  }

  /** The grace is over: whatever is not answered is answered now. The daemon cancels it when we are gone. */
  #abandon(): void {
    if (this.#isOver) return;
    for (const id of this.#inFlight.keys()) this.#output.add(failureLine(id, stoppedBody('maybe')));
    this.#inFlight.clear();
    this.#refuseWaiting(stoppedBody('no'));
    this.#end();
  }

  /** When the host has closed its end: whether there is still something to wait for. */
  #review(): void {
    if (!this.#isInputOver || this.#isOver || !this.#waiting.isEmpty) return;
    if (this.#inFlight.size === 0) this.#end();
    else if (!this.#agreeing) this.#link?.endInput();
  }

  #fromHost(line: Buffer): void {
    const decoded = decodeLine(line);
    let bytes: Buffer | undefined = line;
    if (decoded.kind === 'result' || decoded.kind === 'error') {
      if (decoded.id !== undefined) bytes = this.#questions.answered(line, decoded.id);
      // Whoever asked is gone.
      if (!bytes) return;
    }
    // The memory of the line is used again, so this has to be a copy.
    this.#departing.push({ bytes: Buffer.concat([bytes, NEWLINE]), messages: messagesOf(decoded) });
  }

  /**
   * After everything else that the system has told us in this round has been heard: that the daemon is gone may be
   * among it, and then these lines have not been sent.
   */
  #departSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      for (const line of this.#departing.splice(0)) this.#depart(line);
      this.#flush();
    });
  }

  #depart(line: Departing): void {
    const isOnItsWay = this.#isAttaching || this.#agreeing !== undefined;
    if (this.#link && !isOnItsWay) return this.#send(line);
    if (!isOnItsWay && !wantsAnswer(line)) {
      // Not worth a daemon by itself; what has to be known of it is said again when there is one.
      for (const message of line.messages) this.#memory.sent(message);
      return;
    }
    this.#waiting.add(line);
    if (this.#waiting.isFull) this.#options.input.pause();
    this.#attach();
  }

  #send({ bytes, messages }: Departing): void {
    if (this.#inFlight.size === 0) this.#heardAt = this.#clock.now();
    for (const message of messages) {
      this.#memory.sent(message);
      if (message.kind === 'request') this.#inFlight.set(message.id, message.method);
      else if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
        this.#inFlight.delete(message.params?.['requestId'] as RequestId);
      }
    }
    if (this.#link && !this.#link.send(bytes)) this.#options.input.pause();
  }

  #attach(): void {
    if (this.#link || this.#isAttaching || this.#isOver) return;
    this.#returns.callOff();
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
    const link = new DaemonLink(attached, {
      onLine: (line) => this.#fromDaemon(line),
      onOversize: (head, tail) => {
        const { id, line } = tooLongLine(head, tail);
        if (id !== undefined && this.#inFlight.delete(id)) this.#output.add(line);
      },
      onRead: () => this.#flush(),
      onLost: () => this.#lost(),
      onDrained: () => this.#options.input.resume(),
    });
    this.#link = link;
    this.#returns.began();
    const replay = this.#memory.replay();
    if (!replay) return this.#sendWaiting();
    this.#agreeing = { id: replay.id, rest: replay.rest };
    this.#say(replay.initialize);
  }

  #say(message: JsonRpcMessage): void {
    if ('id' in message && message.id !== undefined) this.#ownIds.add(message.id);
    this.#link?.send(departing(message).bytes);
  }

  #sendWaiting(): void {
    for (const line of this.#waiting.takeAll()) this.#send(line);
    this.#options.input.resume();
    this.#review();
  }

  #fromDaemon(line: Buffer): void {
    // What was left has been answered already.
    if (this.#isOver) return;
    this.#heardAt = this.#clock.now();
    const peeked = peekAnswer(line);
    if (peeked.kind === 'request') return this.#output.add(this.#questions.asked(line, peeked.id));
    if (peeked.kind === 'other') return this.#output.add(this.#questions.passing(line));
    const { id, isError } = peeked;
    if (this.#ownIds.delete(id)) return this.#agreed(id, isError, line);
    if (this.#inFlight.get(id) === 'initialize') this.#lostOpenings = 0;
    this.#inFlight.delete(id);
    this.#memory.answered(id, isError);
    this.#output.add(line);
    this.#review();
  }

  /** The answer to something that we said again for the host, which has heard it before. */
  #agreed(id: RequestId, isError: boolean, line: Buffer): void {
    if (this.#agreeing?.id !== id) return;
    const { rest } = this.#agreeing;
    this.#agreeing = undefined;
    if (!isError) {
      for (const message of rest) this.#say(message);
      return this.#sendWaiting();
    }
    this.#link?.drop();
    this.#link = undefined;
    this.#ownIds.clear();
    this.#refuseWaiting((JSON.parse(line.toString('utf8')) as { error: JsonRpcErrorBody }).error);
  }

  /** The daemon is gone. Nothing that it had is made again, except for a handshake. */
  #lost(): void {
    this.#link = undefined;
    this.#agreeing = undefined;
    this.#ownIds.clear();
    const { opening } = this.#memory;
    for (const [id, method] of this.#inFlight) {
      if (method === 'initialize' && opening && this.#lostOpenings < MAX_LOST_OPENINGS) {
        this.#lostOpenings += 1;
        this.#waiting.addFirst(departing(opening));
      } else this.#output.add(failureLine(id, lostBody(this.#options.name)));
    }
    this.#inFlight.clear();
    this.#memory.lost();
    for (const line of this.#questions.forget()) this.#output.add(line);
    this.#flush();
    this.#options.input.resume();
    if (!this.#waiting.isEmpty) this.#attach();
    else if (this.#memory.awaitsNews && !this.#isInputOver) this.#returns.soon();
    this.#review();
  }

  #refuseWaiting(error: JsonRpcErrorBody): void {
    for (const line of this.#waiting.takeAll()) {
      for (const refusal of refusalsOf(line, error)) this.#output.add(refusal);
      for (const message of line.messages) if (message.kind === 'notification') this.#memory.sent(message);
    }
    this.#flush();
    this.#options.input.resume();
    this.#review();
  }

  #flush(): void {
    if (!this.#output.flush()) this.#link?.hold(true);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#returns.callOff();
    void this.#output.drained().then(() => {
      this.#link?.drop();
      this.#ended.resolve({ wasAttached: this.#wasAttached });
    });
  }
}

const NEWLINE = Buffer.from('\n');
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const GRACE_MS = 12_000;
const MAX_LOST_OPENINGS = 2;
