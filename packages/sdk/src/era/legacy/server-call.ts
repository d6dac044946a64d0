import { type Cancellation, LazyAbort } from '../../async/abort.js';
import type { Clock } from '../../async/clock.js';
import { IsthmusError, messageOf, ProtocolError } from '../../errors.js';
import type { Peer, RequestFacts, Service } from '../../exchange/call.js';
import type { InboundCall } from '../../exchange/inbound-calls.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject, isRequestId, type JsonObject, type RequestId } from '../../wire/json-rpc.js';
import type {
  InputRequest,
  InputResponse,
  InputResponses,
  LogEntry,
  LoggingLevel,
  ProgressUpdate,
} from '../../wire/model.js';
import { emptyRound, type InputRequired, isInputRequired, missingCapability } from '../input-rounds.js';
import { checkedResult, type RunningCall } from '../server-dialect-context.js';

/** What a running call needs of its session. */
export interface LegacyServerSession {
  completed(call: LegacyServerCall, result: JsonObject): void;
  failed(call: LegacyServerCall, thrown: unknown): void;
  readonly peer: Peer;
  readonly logLevel: LoggingLevel | undefined;
  requestOf(id: RequestId): RequestFacts | undefined;
  progress(call: LegacyServerCall, update: ProgressUpdate): void;
  log(call: LegacyServerCall, entry: LogEntry): void;
  ask(call: LegacyServerCall, request: InputRequest, signal: AbortSignal): Promise<InputResponse>;
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

  get peer(): Peer {
    return this.#session.peer;
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

/**
 * Runs a call to its end whose handler returned `inputRequired` (replay style): it is run again with the answers, which a
 * legacy client gives to real requests. The client never sees `input_required`.
 */
export async function answerRounds(
  service: Service,
  call: LegacyServerCall,
  clock: Clock,
  first: InputRequired,
): Promise<JsonObject> {
  let required = first;
  const visited = new VisitedPages();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const requests = Object.entries(required.inputRequests ?? {});
    // Without questions the handler only wants to be run again later (MRTR-017).
    if (requests.length === 0) {
      if (required.state === undefined) throw emptyRound(call.method);
      await pause(clock, call.signal);
    }
    try {
      if (requests.length > 0 && requests.every(([, request]) => visited.has(request))) {
        await pause(clock, call.signal, visited.nextPauseMs());
      }
      const asked = requests.map(async ([key, request]) => [key, await ask(call, request, visited)] as const);
      call.answers = Object.fromEntries(await Promise.all(asked)) as InputResponses;
    } catch (error) {
      return unanswered(call, error);
    }
    call.state = required.state;
    const result = checkedResult(await service.handle(call));
    if (!isInputRequired(result)) return result;
    required = result;
  }
  throw new ProtocolError(
    ErrorCode.InternalError,
    `${call.method} asked for input ${MAX_ROUNDS} times, which is the limit`,
  );
}

async function ask(
  call: LegacyServerCall,
  request: InputRequest,
  visited: VisitedPages,
): Promise<InputResponse> {
  // The user is not sent to the same page twice; the handler still waits for what the user does there.
  if (visited.has(request)) return { action: 'accept' };
  try {
    const answer = await call.ask(request);
    visited.note(request, answer);
    return answer;
  } catch (error) {
    // A handler cannot be given an error as an answer. An elicitation can be answered with `cancel`.
    if (request.method !== 'elicitation/create' || !isRefusal(error, call, request)) throw error;
    return { action: 'cancel' };
  }
}

/** The client refused the question, or its revision cannot express it. */
function isRefusal(error: unknown, { peer }: LegacyServerCall, request: InputRequest): boolean {
  if (!(error instanceof IsthmusError)) return false;
  const inexpressible = error.code === 'CAPABILITY_MISSING' && !missingCapability(request, peer.capabilities);
  return error.code === 'REFUSED_BY_PEER' || inexpressible;
}

/** The URLs that the user has agreed to open during one call. */
class VisitedPages {
  readonly #urls = new Set<string>();
  #pauses = 0;

  has(request: InputRequest): boolean {
    const url = pageOf(request);
    return url !== undefined && this.#urls.has(url);
  }

  note(request: InputRequest, answer: InputResponse): void {
    const url = pageOf(request);
    if (url !== undefined && 'action' in answer && answer.action === 'accept') this.#urls.add(url);
  }

  /** Doubles each time that the server asks for the same pages again. */
  nextPauseMs(): number {
    this.#pauses += 1;
    return Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** this.#pauses);
  }
}

function pageOf(request: InputRequest): string | undefined {
  if (request.method !== 'elicitation/create' || request.params.mode !== 'url') return undefined;
  return request.params.url;
}

/** As if the handler's own `await ctx.elicit()` had failed: a tool reports it to the model (TOOL-017). */
function unanswered(call: LegacyServerCall, error: unknown): JsonObject {
  if (call.method !== 'tools/call') throw error;
  return { content: [{ type: 'text', text: messageOf(error) }], isError: true };
}

const MAX_ROUNDS = 64;
const PAUSE_MS = 200;
const MAX_PAUSE_MS = 10_000;

function pause(clock: Clock, signal: AbortSignal, ms = PAUSE_MS): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      callOff();
      reject(signal.reason);
    };
    const callOff = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
