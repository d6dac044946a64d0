import type { Readable, Writable } from 'node:stream';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { SessionMemory } from '@isthmus/sdk/internal/era/legacy/session-memory.js';
import type { JsonRpcErrorBody, JsonRpcMessage, RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Attached } from '../../control/index.js';
import { DaemonLink } from './daemon-link.js';
import { HostOutput, readHost } from './host-streams.js';
import {
  encodeLine,
  failureLine,
  type HostLine,
  lostBody,
  peekLine,
  refusalsOf,
  stoppedBody,
  tooLongLine,
  unreachableBody,
  WaitingLines,
  wantsAnswer,
} from './lines.js';
import { Questions } from './questions.js';
import { createReattachment, watchSilence } from './timing.js';

export interface ShimOptions {
  /** The name of the server, for errors. */
  readonly name: string;
  readonly input: Readable;
  readonly output: Pick<Writable, 'write' | 'on'>;
  /** Opens a stream to the server. Starts a daemon when there is none. */
  attach(): Promise<Attached>;
  /** Whether the daemon answers. Called when a request waits and the daemon has been silent for long. */
  isAlive(): Promise<boolean>;
  /** Attaching failed. Waiting requests of the host are answered with the same error. */
  onTrouble(error: unknown): void;
  /** Longer lines of the host are refused. Default 16 MiB. */
  readonly maxLineBytes?: number;
  /** How long pending answers may take after the host has closed its end. Default 12 s. */
  readonly graceMs?: number;
  readonly clock?: Clock;
}

export interface Shim {
  /** Settles when the host is gone and all answers have left. */
  readonly ended: Promise<{ readonly wasAttached: boolean }>;
  /** Ends as if the host had closed its end. Requests that are pending after the grace get an error. */
  end(options?: { readonly graceMs?: number }): void;
}

/** Passes lines between a host and the daemon. It survives the daemon, and attaches to the next one. */
export function runShim(options: ShimOptions): Shim {
  const running = new RunningShim(options);
  return { ended: running.ended, end: ({ graceMs } = {}) => running.inputEnded(graceMs) };
}

class RunningShim {
  readonly #options: ShimOptions;
  readonly #clock: Clock;
  readonly #output: HostOutput;
  readonly #ended = createDeferred<{ readonly wasAttached: boolean }>();
  readonly #memory = new SessionMemory('isthmus-attach-');
  readonly #questions = new Questions();
  readonly #waiting = new WaitingLines();
  /** Requests that the daemon has not answered yet, with their methods. */
  readonly #inFlight = new Map<RequestId, string>();
  readonly #reattachment;
  #link: DaemonLink | undefined;
  #isAttaching = false;
  #wasAttached = false;
  /** The session is being opened again: nothing else is sent before `initialize` is answered. */
  #reopening: { readonly id: RequestId; readonly rest: readonly JsonRpcMessage[] } | undefined;
  /** Ids of requests that the shim has repeated. The host must not get their answers. */
  readonly #ownIds = new Set<RequestId>();
  #heardAt = 0;
  #isInputOver = false;
  #isOver = false;
  /** How many daemons in a row ended during `initialize`. */
  #lostHandshakes = 0;

  constructor(options: ShimOptions) {
    const { input, output, maxLineBytes = MAX_LINE_BYTES, clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#output = new HostOutput(output);
    this.#reattachment = createReattachment(clock, () => this.#attach());
    readHost(input, maxLineBytes, {
      onAnswer: (line, id) => this.#questions.answered(line, id),
      onLines: (lines) => {
        for (const line of lines) this.#fromHost(line);
        this.#flush();
      },
      onRefused: (answer) => this.#output.add(answer),
      onEnd: () => this.inputEnded(),
    });
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

  /** A second call may shorten the grace, but not extend it. */
  inputEnded(graceMs = this.#options.graceMs ?? GRACE_MS): void {
    const callOff = this.#clock.after(graceMs, () => this.#abandon());
    void this.ended.then(callOff);
    if (this.#isInputOver) return;
    this.#isInputOver = true;
    this.#flush();
    this.#review();
  }

  /** The grace is over: pending requests get an error. The daemon cancels them when the shim is gone. */
  #abandon(): void {
    if (this.#isOver) return;
    for (const id of this.#inFlight.keys()) this.#output.add(failureLine(id, stoppedBody('maybe')));
    this.#inFlight.clear();
    this.#refuseWaiting(stoppedBody('no'));
    this.#end();
  }

  /** After the host has closed its end: ends when no answer is due. */
  #review(): void {
    if (!this.#isInputOver || this.#isOver || !this.#waiting.isEmpty) return;
    if (this.#inFlight.size === 0) this.#end();
    else if (!this.#reopening) this.#link?.endInput();
  }

  #fromHost(line: HostLine): void {
    const isAttaching = this.#isAttaching || this.#reopening !== undefined;
    if (this.#link && !isAttaching) return this.#send(line);
    if (!isAttaching && !wantsAnswer(line)) {
      // Such a line does not start a daemon. The memory repeats what the next daemon must know.
      for (const message of line.messages) this.#memory.sent(message);
      return;
    }
    this.#waiting.add(line);
    if (this.#waiting.isFull) this.#options.input.pause();
    this.#attach();
  }

  #send({ bytes, messages }: HostLine): void {
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
    this.#reattachment.callOff();
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
    this.#reattachment.attached();
    const replay = this.#memory.replay();
    if (!replay) return this.#sendWaiting();
    this.#reopening = { id: replay.id, rest: replay.rest };
    this.#repeat(replay.initialize);
  }

  #repeat(message: JsonRpcMessage): void {
    if ('id' in message && message.id !== undefined) this.#ownIds.add(message.id);
    this.#link?.send(encodeLine(message).bytes);
  }

  #sendWaiting(): void {
    for (const line of this.#waiting.takeAll()) this.#send(line);
    this.#options.input.resume();
    this.#review();
  }

  #fromDaemon(line: Buffer): void {
    // All pending requests were answered already.
    if (this.#isOver) return;
    this.#heardAt = this.#clock.now();
    const peeked = peekLine(line);
    if (peeked.kind === 'request') return this.#output.add(this.#questions.asked(line, peeked.id));
    if (peeked.kind === 'other') return this.#output.add(this.#questions.passing(line));
    const { id, isError } = peeked;
    if (this.#ownIds.delete(id)) return this.#repeatAnswered(id, isError, line);
    if (this.#inFlight.get(id) === 'initialize') this.#lostHandshakes = 0;
    this.#inFlight.delete(id);
    this.#memory.answered(id, isError);
    this.#output.add(line);
    this.#review();
  }

  /** The answer to a repeated request. The host had its answer before. */
  #repeatAnswered(id: RequestId, isError: boolean, line: Buffer): void {
    if (this.#reopening?.id !== id) return;
    const { rest } = this.#reopening;
    this.#reopening = undefined;
    if (!isError) {
      for (const message of rest) this.#repeat(message);
      return this.#sendWaiting();
    }
    this.#link?.drop();
    this.#link = undefined;
    this.#ownIds.clear();
    this.#refuseWaiting((JSON.parse(line.toString('utf8')) as { error: JsonRpcErrorBody }).error);
  }

  /** The daemon is gone. Of its pending requests only `initialize` is sent again. */
  #lost(): void {
    this.#link = undefined;
    this.#reopening = undefined;
    this.#ownIds.clear();
    const { opening } = this.#memory;
    for (const [id, method] of this.#inFlight) {
      if (method === 'initialize' && opening && this.#lostHandshakes < MAX_LOST_HANDSHAKES) {
        this.#lostHandshakes += 1;
        this.#waiting.addFirst(encodeLine(opening));
      } else this.#output.add(failureLine(id, lostBody(this.#options.name)));
    }
    this.#inFlight.clear();
    this.#memory.lost();
    for (const line of this.#questions.forget()) this.#output.add(line);
    this.#flush();
    this.#options.input.resume();
    if (!this.#waiting.isEmpty) this.#attach();
    else if (this.#memory.hasSubscriptions && !this.#isInputOver) this.#reattachment.schedule();
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
    this.#reattachment.callOff();
    void this.#output.drained().then(() => {
      this.#link?.drop();
      this.#ended.resolve({ wasAttached: this.#wasAttached });
    });
  }
}

const MAX_LINE_BYTES = 16 * 1024 * 1024;
const GRACE_MS = 12_000;
const MAX_LOST_HANDSHAKES = 2;
