import { IsthmusError } from '../../errors.js';
import type { Call, Peer } from '../../exchange/call.js';
import { type Cancellation, LazyAbort } from '../../exchange/lazy-abort.js';
import { isJsonObject, isRequestId, type JsonObject, type RequestId } from '../../wire/json-rpc.js';
import type {
  InputRequest,
  InputResponse,
  InputResponses,
  LogEntry,
  LoggingLevel,
  ProgressUpdate,
} from '../../wire/model.js';

/** What a call may do to its session while it runs. */
export interface LegacyServerSession {
  readonly peer: Peer;
  readonly logLevel: LoggingLevel | undefined;
  progress(call: LegacyServerCall, update: ProgressUpdate): void;
  log(call: LegacyServerCall, entry: LogEntry): void;
  ask(call: LegacyServerCall, request: InputRequest, signal: AbortSignal): Promise<InputResponse>;
}

/** A legacy call as its handler sees it: one request, answered once, free to send requests of its own. */
export class LegacyServerCall implements Call {
  /** The request that it answers. */
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  readonly #session: LegacyServerSession;
  readonly #abort = new LazyAbort();
  /** Ends with the call, however it ends: a question nobody waits for is taken back. */
  #questions: AbortController | undefined;
  /** The same for questions that end otherwise; only a cancellation ends them all. */
  #others: AbortController | undefined;
  answers: InputResponses | undefined;
  state: unknown;
  /** False once the request is answered or cancelled. */
  live = true;
  #lastProgress = Number.NEGATIVE_INFINITY;

  constructor(session: LegacyServerSession, id: RequestId, method: string, params: JsonObject) {
    this.id = id;
    this.#session = session;
    this.method = method;
    this.params = params;
  }

  get peer(): Peer {
    return this.#session.peer;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get cancellation(): Cancellation {
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

  end(): void {
    this.live = false;
    this.#questions?.abort(new IsthmusError('CANCELLED', `${this.method} is over`));
  }

  cancel(reason: string): void {
    this.live = false;
    const error = new IsthmusError('CANCELLED', reason);
    this.#abort.abort(error);
    this.#questions?.abort(error);
    this.#others?.abort(error);
  }
}
