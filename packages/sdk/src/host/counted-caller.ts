import type { Rests, TenantCaller } from '../era/client-dialect-context.js';
import { IsthmusError } from '../errors.js';
import type {
  Caller,
  CallerIdentity,
  Change,
  Era,
  OpenListen,
  OutgoingCall,
  ServerFacts,
} from '../exchange/call.js';
import type { Origin } from '../exchange/client-key.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { LogEntry, LoggingLevel, SubscriptionFilter } from '../wire/model.js';
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

  /** `client` is the name under which fair limits count its calls, unless they are made for somebody. */
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
