import { type Cancellation, LazyAbort } from '../../async/abort.js';
import { IsthmusError } from '../../errors.js';
import type { ForeignNotification, Peer, RequestFacts, ServedSession } from '../../exchange/call.js';
import type { InboundCall } from '../../exchange/inbound-calls.js';
import { isJsonObject, isRequestId, type JsonObject, type RequestId } from '../../wire/json-rpc.js';
import type {
  InputRequest,
  InputResponse,
  InputResponses,
  LogEntry,
  LoggingLevel,
  ProgressUpdate,
} from '../../wire/model.js';
import type { RunningCall } from '../server-dialect-context.js';

/** What a running call needs of its session. */
export interface LegacyServerSession {
  completed(call: LegacyServerCall, result: JsonObject): void;
  failed(call: LegacyServerCall, thrown: unknown): void;
  readonly peer: Peer;
  readonly logLevel: LoggingLevel | undefined;
  requestOf(id: RequestId): RequestFacts | undefined;
  numberOf(id: RequestId): number | undefined;
  progress(call: LegacyServerCall, update: ProgressUpdate): void;
  log(call: LegacyServerCall, entry: LogEntry): void;
  notify(call: LegacyServerCall, notification: ForeignNotification): void;
  ask(call: LegacyServerCall, request: InputRequest, signal: AbortSignal): Promise<InputResponse>;
  readonly served: ServedSession;
}

/** A legacy call as its handler sees it: one request, answered once, that may send requests to the client. */
export class LegacyServerCall implements RunningCall {
  readonly inbound: InboundCall;
  readonly method: string;
  readonly params: JsonObject;
  /** It may be answered with a round of questions. */
  readonly mayAsk: boolean;
  readonly #session: LegacyServerSession;
  #abort: LazyAbort | undefined;
  #hasEnded = false;
  /** Aborted at the end of the call: its open questions are cancelled. */
  #questions: AbortController | undefined;
  /** For questions with a signal of their own: aborted only if the call is cancelled. */
  #others: AbortController | undefined;
  answers: InputResponses | undefined;
  state: unknown;
  /** False once the request is answered or cancelled. */
  live = true;
  #lastProgress = Number.NEGATIVE_INFINITY;

  constructor(
    session: LegacyServerSession,
    inbound: InboundCall,
    method: string,
    params: JsonObject,
    mayAsk: boolean,
  ) {
    this.inbound = inbound;
    this.method = method;
    this.params = params;
    this.mayAsk = mayAsk;
    this.#session = session;
  }

  get id(): RequestId {
    return this.inbound.id;
  }

  get number(): number | undefined {
    return this.#session.numberOf(this.id);
  }

  get peer(): Peer {
    return this.#session.peer;
  }

  get session(): ServedSession {
    return this.#session.served;
  }

  get request(): RequestFacts | undefined {
    return this.#session.requestOf(this.id);
  }

  get signal(): AbortSignal {
    return this.#cancellation.signal;
  }

  get cancellation(): Cancellation {
    return this.#cancellation;
  }

  get #cancellation(): LazyAbort {
    this.#abort ??= new LazyAbort();
    return this.#abort;
  }

  get logLevel(): LoggingLevel | undefined {
    return this.#session.logLevel;
  }

  get progressToken(): RequestId | undefined {
    const meta = this.params['_meta'];
    const token = isJsonObject(meta) ? meta['progressToken'] : undefined;
    return isRequestId(token) ? token : undefined;
  }

  get wantsProgress(): boolean {
    return this.progressToken !== undefined;
  }

  progress(update: ProgressUpdate): void {
    if (!this.live || !(update.progress > this.#lastProgress)) return;
    this.#lastProgress = update.progress;
    this.#session.progress(this, update);
  }

  log(entry: LogEntry): void {
    if (this.live) this.#session.log(this, entry);
  }

  notify(notification: ForeignNotification): void {
    if (this.live) this.#session.notify(this, notification);
  }

  ask(request: InputRequest, signal?: AbortSignal): Promise<InputResponse> {
    if (!this.live) {
      return Promise.reject(
        new IsthmusError('CANCELLED', `${this.method} is over; no more questions can be asked`),
      );
    }
    if (!signal) {
      this.#questions ??= new AbortController();
      return this.#session.ask(this, request, this.#questions.signal);
    }
    this.#others ??= new AbortController();
    return this.#session.ask(this, request, AbortSignal.any([this.#others.signal, signal]));
  }

  complete(result: JsonObject): void {
    this.#session.completed(this, result);
  }

  fail(thrown: unknown): void {
    this.#session.failed(this, thrown);
  }

  /** False if it had ended already. */
  end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.live = false;
    this.#questions?.abort(new IsthmusError('CANCELLED', `${this.method} is over`));
    return true;
  }

  cancel(reason: string): void {
    this.live = false;
    const error = new IsthmusError('CANCELLED', reason);
    this.#cancellation.abort(error);
    this.#questions?.abort(error);
    this.#others?.abort(error);
  }
}
