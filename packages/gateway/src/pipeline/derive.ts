import type { Cancellation, LazyAbort } from '@isthmus/sdk/internal/async/abort.js';
import type {
  Call,
  CallTask,
  ForeignNotification,
  OutlivingSlot,
  Peer,
  RequestFacts,
  ServedSession,
} from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject, RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type {
  InputRequest,
  InputResponse,
  InputResponses,
  LogEntry,
  LoggingLevel,
  ProgressUpdate,
} from '@isthmus/sdk/internal/wire/model.js';

/** What is different about a derived call. */
export interface CallChanges {
  readonly params?: JsonObject;
  /** Another method, for a request that the gateway makes by itself. It does not go on with an earlier round. */
  readonly method?: string;
  /** Cancels this call alone. The call that it is derived from goes on. */
  readonly abort?: LazyAbort;
  /** Its progress is not reported to the client, because it is not that of the whole call. */
  readonly isSilent?: boolean;
  readonly ask?: Call['ask'];
  readonly progress?: Call['progress'];
  /** The place of the call in this limit. The limits around it are asked, too. */
  readonly outlive?: () => OutlivingSlot;
  /** Its number in what a tap records. */
  readonly number?: number;
}

/** The same call except for `changes`. All else is read from `inner` each time, since it changes while the call runs. */
export function deriveCall(inner: Call, changes: CallChanges): Call {
  return new DerivedCall(inner, changes);
}

/** The same session, whose client is told of changes by `changed`. */
export function deriveSession(inner: ServedSession, changed: ServedSession['changed']): ServedSession {
  return {
    peer: inner.peer,
    isReachable: () => inner.isReachable(),
    log: (entry) => inner.log(entry),
    ask: (request, signal) => inner.ask(request, signal),
    changed,
    notify: (notification) => inner.notify(notification),
    elicited: (elicitationId) => inner.elicited(elicitationId),
    end: () => inner.end(),
  };
}

/** A class, because one is made for most calls: accessors on a prototype cost nothing to make. */
class DerivedCall implements Call {
  readonly params: JsonObject;
  readonly #inner: Call;
  readonly #changes: CallChanges;

  constructor(inner: Call, changes: CallChanges) {
    this.params = changes.params ?? inner.params;
    this.#inner = inner;
    this.#changes = changes;
  }

  get id(): RequestId | undefined {
    return this.#inner.id;
  }

  get number(): number | undefined {
    return this.#changes.number ?? this.#inner.number;
  }

  get method(): string {
    return this.#changes.method ?? this.#inner.method;
  }

  get peer(): Peer {
    return this.#inner.peer;
  }

  get request(): RequestFacts | undefined {
    return this.#inner.request;
  }

  get session(): ServedSession | undefined {
    return this.#inner.session;
  }

  get task(): CallTask | undefined {
    return this.#inner.task;
  }

  get signal(): AbortSignal {
    return this.#changes.abort?.signal ?? this.#inner.signal;
  }

  get cancellation(): Cancellation {
    return this.#changes.abort ?? this.#inner.cancellation;
  }

  get answers(): InputResponses | undefined {
    return this.#changes.method === undefined ? this.#inner.answers : undefined;
  }

  get state(): unknown {
    return this.#changes.method === undefined ? this.#inner.state : undefined;
  }

  get logLevel(): LoggingLevel | undefined {
    return this.#inner.logLevel;
  }

  get wantsProgress(): boolean {
    return !this.#changes.isSilent && this.#inner.wantsProgress;
  }

  progress(update: ProgressUpdate): void {
    const { isSilent, progress } = this.#changes;
    if (progress) progress(update);
    else if (!isSilent) this.#inner.progress(update);
  }

  log(entry: LogEntry): void {
    this.#inner.log(entry);
  }

  notify(notification: ForeignNotification): void {
    this.#inner.notify(notification);
  }

  outlive(): OutlivingSlot | undefined {
    const outer = this.#inner.outlive?.();
    const own = this.#changes.outlive?.();
    return outer && own ? bothSlots(outer, own) : (own ?? outer);
  }

  ask(request: InputRequest, signal?: AbortSignal): Promise<InputResponse> {
    const { ask } = this.#changes;
    return ask ? ask(request, signal) : this.#inner.ask(request, signal);
  }
}

function bothSlots(outer: OutlivingSlot, inner: OutlivingSlot): OutlivingSlot {
  const each = (act: (slot: OutlivingSlot) => void) => () => [outer, inner].forEach(act);
  return {
    stepOut: each((slot) => slot.stepOut()),
    comeBack: each((slot) => slot.comeBack()),
    leave: each((slot) => slot.leave()),
    ended(status, error) {
      outer.ended?.(status, error);
      inner.ended?.(status, error);
    },
  };
}
