import { EvictingSlots } from '../../async/evicting-slots.js';
import type { Rests, TenantCaller } from '../../era/client-dialect-context.js';
import { IsthmusError } from '../../errors.js';
import type {
  Caller,
  CallerIdentity,
  Change,
  Era,
  OpenListen,
  OutgoingCall,
  ServerFacts,
} from '../../exchange/call.js';
import type { Origin } from '../../exchange/client-key.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import type { LogEntry, LoggingLevel, SubscriptionFilter } from '../../wire/model.js';
import type { CallSemaphore } from './call-semaphore.js';
import type { ProcessInstance } from './process-instance.js';

/** A conversation's voice in one life of a process, with its calls counted and its failures attributed. */
export class CountedCaller implements Caller {
  readonly #generation: ProcessInstance;
  readonly #speaker: TenantCaller;
  readonly #onLog: (entry: LogEntry) => void;
  /** Calls that wait for room. */
  readonly #waiting = new Set<AbortController>();
  /** One for all calls: a call that waits for a person gives its place back. */
  readonly #rests: Rests;

  /** `client` is the name under which fair limits count its calls, unless they are made for another client. */
  constructor(
    generation: ProcessInstance,
    speaker: TenantCaller,
    client: string,
    onLog: (entry: LogEntry) => void,
  ) {
    this.#generation = generation;
    this.#speaker = speaker;
    this.#onLog = onLog;
    const { resting } = generation;
    this.#rests = {
      rest: (call, end) => resting.rest(call.behalf?.client ?? client, call, originOf(call), end),
      resume: (call) => resting.resume(call, originOf(call)),
    };
  }

  get era(): Era {
    return this.#speaker.era;
  }

  get revision(): string {
    return this.#speaker.revision;
  }

  get server(): ServerFacts {
    return this.#speaker.server;
  }

  call(call: OutgoingCall): Promise<JsonObject> {
    const generation = this.#generation;
    if (generation.isRetired) return Promise.reject(this.#retired());
    const origin = originOf(call);
    if (generation.calls.tryTake(origin)) return this.#now(call, origin);
    // The server may do nothing else before it has the answer to a question, and the answer may need this call.
    if (!this.#speaker.isAsked(call) || !generation.calls.tryOverdraw(origin)) {
      return this.#later(call, origin);
    }
    return this.#now(call, origin);
  }

  /** The conversation has ended: what waits for room is not made any more. */
  leave(why: string): void {
    const error = new IsthmusError('CANCELLED', why, { sent: 'no' });
    for (const over of this.#waiting) over.abort(error);
    this.#speaker.leave(why);
  }

  async listen(
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
    timeoutMs: number,
    as?: CallerIdentity,
  ): Promise<OpenListen> {
    if (this.#generation.isRetired) throw this.#retired();
    const release = this.#generation.holdListen();
    try {
      const open = await this.#speaker.listen(wanted, onChange, timeoutMs, as);
      void open.ended.then(release);
      return open;
    } catch (error) {
      release();
      throw error;
    }
  }

  async setLogLevel(level: LoggingLevel, timeoutMs: number): Promise<void> {
    if (this.#generation.isRetired) throw this.#retired();
    return this.#speaker.setLogLevel(level, timeoutMs);
  }

  rootsChanged(): void {
    this.#speaker.rootsChanged?.();
  }

  #now(call: OutgoingCall, origin: Origin | undefined): Promise<JsonObject> {
    const generation = this.#generation;
    const made = call.onLog ? this.#overheard(call) : call;
    return this.#speaker.call(made, this.#rests).then(
      (result) => {
        generation.served += 1;
        generation.settled(made, origin);
        return result;
      },
      (error) => {
        generation.settled(made, origin);
        throw error instanceof IsthmusError ? generation.blame(error) : error;
      },
    );
  }

  /** The host hears the logs of a call, too. */
  #overheard(call: OutgoingCall): OutgoingCall {
    return {
      ...call,
      onLog: (entry) => {
        this.#onLog(entry);
        call.onLog?.(entry);
      },
    };
  }

  /** Waits for room in the process; the wait counts against the call's own time. */
  async #later(call: OutgoingCall, origin: Origin | undefined): Promise<JsonObject> {
    const { clock, calls } = this.#generation;
    const began = clock.now();
    const over = new AbortController();
    const callOff = clock.after(call.timeoutMs, () => {
      const message = `${call.method} waited ${call.timeoutMs} ms for room: ${calls.taken} calls are in flight`;
      over.abort(new IsthmusError('TIMED_OUT', message, { sent: 'no' }));
    });
    const onAbort = () => {
      const cause = call.signal?.reason;
      over.abort(new IsthmusError('CANCELLED', `${call.method} was cancelled`, { cause, sent: 'no' }));
    };
    if (call.signal?.aborted) onAbort();
    call.signal?.addEventListener('abort', onAbort, { once: true });
    this.#waiting.add(over);
    try {
      await calls.take(over.signal, origin);
    } finally {
      this.#waiting.delete(over);
      callOff();
      call.signal?.removeEventListener('abort', onAbort);
    }
    const waited = clock.now() - began;
    const timeoutMs = Math.max(1, call.timeoutMs - waited);
    return this.#now(
      { ...call, timeoutMs, maxTimeoutMs: Math.max(timeoutMs, call.maxTimeoutMs - waited) },
      origin,
    );
  }

  #retired(): IsthmusError {
    const message = 'The process takes no more calls';
    return new IsthmusError('CONNECTION_CLOSED', message, {
      sent: 'no',
      generation: this.#generation.number,
    });
  }
}

/** Whom the process works for, where it is for a client of ours: undefined for calls that an application makes itself. */
function originOf({ behalf }: OutgoingCall): Origin | undefined {
  return behalf?.client === undefined ? undefined : { who: behalf.client, part: behalf.session };
}

/**
 * Calls that a process has nothing to do for: their clients are being asked, or they wait for their turn. They hold
 * no place among the calls in flight. Those that wait for a person have places of their own, fair between clients.
 */
export class RestingCalls {
  readonly #label: string;
  readonly #calls: CallSemaphore;
  readonly #parked: EvictingSlots<OutgoingCall>;
  readonly #onFull: (parked: number) => void;
  /** How each of them can be ended; undefined where it only waits for its turn. */
  readonly #resting = new Map<OutgoingCall, ((error: IsthmusError) => void) | undefined>();
  #isFull = false;

  constructor(label: string, calls: CallSemaphore, maxParked: number, onFull: (parked: number) => void) {
    this.#label = label;
    this.#calls = calls;
    this.#parked = new EvictingSlots(maxParked);
    this.#onFull = onFull;
  }

  get size(): number {
    return this.#resting.size;
  }

  /** Those that wait for a person. */
  get parked(): number {
    return this.#parked.size;
  }

  rest(
    client: string,
    call: OutgoingCall,
    origin: Origin | undefined,
    end?: (error: IsthmusError) => void,
  ): void {
    if (this.#resting.has(call)) return;
    this.#resting.set(call, end);
    this.#calls.release(origin);
    if (end) this.#park(client, call);
  }

  /** It goes on at once, above the limit if need be: it has begun, and others may wait for what it holds there. */
  resume(call: OutgoingCall, origin: Origin | undefined): void {
    if (this.settled(call)) this.#calls.takeAnyway(origin);
  }

  /** The call is over. True when it was resting, so that it has no place to give back. */
  settled(call: OutgoingCall): boolean {
    if (this.#resting.size === 0 || !this.#resting.delete(call)) return false;
    this.#parked.delete(call);
    if (this.#parked.size < this.#parked.max * LOW_WATER) this.#isFull = false;
    return true;
  }

  #park(client: string, call: OutgoingCall): void {
    const loser = this.#parked.add(client, call);
    if (!loser) return;
    if (!this.#isFull) {
      this.#isFull = true;
      this.#onFull(this.#parked.size);
    }
    const { max } = this.#parked;
    const message = `${this.#label}: ${max} calls wait for an answer to a question, which is the limit. This was the oldest call of the client that has most of them. Answer its questions, or cancel its calls, then call again`;
    this.#resting.get(loser)?.(new IsthmusError('BUSY', message, { sent: 'maybe' }));
  }
}

/** Below this share of its places it is not full any more. The next time that it is full is reported again. */
const LOW_WATER = 0.9;
