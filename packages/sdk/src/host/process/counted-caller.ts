import { EvictingSlots } from '../../async/evicting-slots.js';
import type { CallSuspender, TenantCaller } from '../../era/client-dialect-context.js';
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

/** The caller of a conversation in one process: it limits and counts calls, and adds the instance number to errors. */
export class CountedCaller implements Caller {
  readonly #instance: ProcessInstance;
  readonly #caller: TenantCaller;
  readonly #onLog: (entry: LogEntry) => void;
  /** Calls that wait for a slot. */
  readonly #waiting = new Set<AbortController>();
  /** One for all calls. */
  readonly #suspender: CallSuspender;

  /** `client` is the key under which fair limits count its calls, unless a call is made on behalf of another client. */
  constructor(
    instance: ProcessInstance,
    caller: TenantCaller,
    client: string,
    onLog: (entry: LogEntry) => void,
  ) {
    this.#instance = instance;
    this.#caller = caller;
    this.#onLog = onLog;
    const { suspended } = instance;
    this.#suspender = {
      suspend: (call, end) => suspended.suspend(call.behalf?.client ?? client, call, originOf(call), end),
      resume: (call) => suspended.resume(call, originOf(call)),
    };
  }

  get era(): Era {
    return this.#caller.era;
  }

  get revision(): string {
    return this.#caller.revision;
  }

  get server(): ServerFacts {
    return this.#caller.server;
  }

  call(call: OutgoingCall): Promise<JsonObject> {
    const instance = this.#instance;
    if (instance.isRetired) return Promise.reject(this.#retired());
    const origin = originOf(call);
    if (instance.calls.tryTake(origin)) return this.#now(call, origin);
    // A server that asked a question may wait for the answer, and the answer may need this call.
    if (!this.#caller.isAsked(call) || !instance.calls.tryOverdraw(origin)) {
      return this.#later(call, origin);
    }
    return this.#now(call, origin);
  }

  /** The conversation has ended: calls that wait for a slot are cancelled. */
  leave(why: string): void {
    const error = new IsthmusError('CANCELLED', why, { sent: 'no' });
    for (const over of this.#waiting) over.abort(error);
    this.#caller.leave(why);
  }

  async listen(
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
    timeoutMs: number,
    as?: CallerIdentity,
  ): Promise<OpenListen> {
    if (this.#instance.isRetired) throw this.#retired();
    const release = this.#instance.holdSubscription();
    try {
      const open = await this.#caller.listen(wanted, onChange, timeoutMs, as);
      void open.ended.then(release);
      return open;
    } catch (error) {
      release();
      throw error;
    }
  }

  async setLogLevel(level: LoggingLevel, timeoutMs: number): Promise<void> {
    if (this.#instance.isRetired) throw this.#retired();
    return this.#caller.setLogLevel(level, timeoutMs);
  }

  rootsChanged(): void {
    this.#caller.rootsChanged?.();
  }

  #now(call: OutgoingCall, origin: Origin | undefined): Promise<JsonObject> {
    const instance = this.#instance;
    const made = call.onLog ? this.#withHostLog(call) : call;
    return this.#caller.call(made, this.#suspender).then(
      (result) => {
        instance.served += 1;
        instance.callEnded(made, origin);
        return result;
      },
      (error) => {
        instance.callEnded(made, origin);
        throw error instanceof IsthmusError ? instance.attribute(error) : error;
      },
    );
  }

  /** The host gets the logs of a call, too. */
  #withHostLog(call: OutgoingCall): OutgoingCall {
    return {
      ...call,
      onLog: (entry) => {
        this.#onLog(entry);
        call.onLog?.(entry);
      },
    };
  }

  /** Waits for a slot. The wait counts against the timeout of the call. */
  async #later(call: OutgoingCall, origin: Origin | undefined): Promise<JsonObject> {
    const { clock, calls } = this.#instance;
    const began = clock.now();
    const over = new AbortController();
    const cancelTimeout = clock.after(call.timeoutMs, () => {
      const message = `${call.method} waited ${call.timeoutMs} ms for a free slot: ${calls.taken} calls are in flight`;
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
      cancelTimeout();
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
    const message = 'The process is being replaced or ended, and accepts no new calls';
    return new IsthmusError('CONNECTION_CLOSED', message, {
      sent: 'no',
      generation: this.#instance.number,
    });
  }
}

/** The client that a bridge makes the call for. Undefined for calls that an application makes itself. */
function originOf({ behalf }: OutgoingCall): Origin | undefined {
  return behalf?.client === undefined ? undefined : { who: behalf.client, part: behalf.session };
}

/**
 * Calls that the process does not work on: their clients are being asked a question, or they wait for their turn. They
 * hold no slot. Calls that wait for a person are parked: they have their own limit, which is fair between clients.
 */
export class SuspendedCalls {
  readonly #label: string;
  readonly #calls: CallSemaphore;
  readonly #parked: EvictingSlots<OutgoingCall>;
  readonly #onFull: (parked: number) => void;
  /** Ends the call with an error. Undefined: the call only waits for its turn. */
  readonly #suspended = new Map<OutgoingCall, ((error: IsthmusError) => void) | undefined>();
  #isFull = false;

  constructor(label: string, calls: CallSemaphore, maxParked: number, onFull: (parked: number) => void) {
    this.#label = label;
    this.#calls = calls;
    this.#parked = new EvictingSlots(maxParked);
    this.#onFull = onFull;
  }

  get size(): number {
    return this.#suspended.size;
  }

  /** Calls that wait for a person. */
  get parked(): number {
    return this.#parked.size;
  }

  suspend(
    client: string,
    call: OutgoingCall,
    origin: Origin | undefined,
    end?: (error: IsthmusError) => void,
  ): void {
    if (this.#suspended.has(call)) return;
    this.#suspended.set(call, end);
    this.#calls.release(origin);
    if (end) this.#park(client, call);
  }

  /** The call goes on at once, above the limit if necessary: other calls may wait for what it holds in the server. */
  resume(call: OutgoingCall, origin: Origin | undefined): void {
    if (this.callEnded(call)) this.#calls.takeAnyway(origin);
  }

  /** Returns whether the call was suspended: then it has no slot to release. */
  callEnded(call: OutgoingCall): boolean {
    if (this.#suspended.size === 0 || !this.#suspended.delete(call)) return false;
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
    const message = `${this.#label}: ${max} calls wait for an answer to a question, which is the limit. This was the oldest call of the client with the most. Answer its questions or cancel its calls, then call again`;
    this.#suspended.get(loser)?.(new IsthmusError('BUSY', message, { sent: 'maybe' }));
  }
}

/** Below this share of its limit it counts as not full, so that the next time it is full is reported again. */
const LOW_WATER = 0.9;
