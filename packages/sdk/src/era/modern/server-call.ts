import { type Cancellation, LazyAbort } from '../../async/abort.js';
import { createDeferred, type Deferred } from '../../async/deferred.js';
import { IsthmusError, ProtocolError } from '../../errors.js';
import type { ForeignNotification, Peer, RequestFacts } from '../../exchange/call.js';
import { clientKey } from '../../exchange/client-key.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { JsonObject, RequestId } from '../../wire/json-rpc.js';
import type {
  ClientCapabilities,
  InputRequest,
  InputRequests,
  InputResponse,
  InputResponses,
  LogEntry,
  LoggingLevel,
  ProgressUpdate,
} from '../../wire/model.js';
import { isQuestion } from '../answers.js';
import {
  cannotAsk,
  capabilityRequired,
  checkedAnswer,
  emptyRound,
  type InputRequired,
  isInputRequired,
  missingCapability,
} from '../input-rounds.js';
import { reaches } from '../reports.js';
import type { RunningCall } from '../server-dialect-context.js';
import type { Attachment } from './attachment.js';
import { digestRequest, type ParkedState, type ReplayState, type StateBinding } from './sealed-state.js';
import type { ModernServerState } from './server-state.js';

/**
 * A modern call as its handler sees it. It may outlive the request that began it: `ask` answers that request with
 * `input_required` and parks the call; the request of the next round is attached to it.
 */
export class ModernServerCall implements RunningCall {
  readonly method: string;
  readonly params: JsonObject;
  readonly answers: InputResponses | undefined;
  readonly state: unknown;
  readonly #runtime: ModernServerState;
  readonly #mayAsk: boolean;
  #abort: LazyAbort | undefined;
  #at: Attachment | undefined;
  #peer: Peer;
  #lastProgress = Number.NEGATIVE_INFINITY;
  #questions: Map<string, Question> | undefined;
  #asked = 0;
  #roundDue = false;
  #outcome: Outcome | undefined;
  #expired: IsthmusError | undefined;
  /** Kept between two rounds. */
  #number: number | undefined;

  constructor(runtime: ModernServerState, request: ModernRequest, at: Attachment) {
    this.#runtime = runtime;
    this.method = request.method;
    this.params = request.params;
    this.answers = request.answers;
    this.state = request.state;
    this.#mayAsk = request.mayAsk;
    this.#at = at;
    this.#peer = at.peer;
  }

  get id(): RequestId | undefined {
    return this.#at?.id;
  }

  get number(): number | undefined {
    return this.#at ? this.#at.number : this.#number;
  }

  get peer(): Peer {
    return this.#peer;
  }

  get request(): RequestFacts | undefined {
    return this.#at?.request;
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

  /** The level of the request that is attached at the moment. */
  get logLevel(): LoggingLevel | undefined {
    return this.#at?.logLevel;
  }

  get wantsProgress(): boolean {
    return this.#at?.wantsProgress ?? false;
  }

  progress(update: ProgressUpdate): void {
    if (!this.#at?.live || !(update.progress > this.#lastProgress)) return;
    this.#lastProgress = update.progress;
    this.#at.progress(update);
  }

  log(entry: LogEntry): void {
    const at = this.#at;
    if (at?.live && at.logLevel !== undefined && reaches(entry.level, at.logLevel)) at.log(entry);
  }

  notify(notification: ForeignNotification): void {
    if (this.#at?.live) this.#at.notify(notification);
  }

  ask(request: InputRequest, signal?: AbortSignal): Promise<InputResponse> {
    if (!isQuestion(request.method)) return Promise.reject(notAQuestion((request as InputRequest).method));
    if (this.#abort?.aborted) return Promise.reject(callIsOver(this.method));
    if (!this.#mayAsk) {
      return Promise.reject(cannotAsk(this.method));
    }
    const missing = missingCapability(request, this.#peer.capabilities);
    if (missing) return Promise.reject(capabilityRequired(missing));
    this.#asked += 1;
    const deferred = createDeferred<InputResponse>();
    const key = `${keyNames[request.method]}-${this.#asked}`;
    this.#questions ??= new Map();
    this.#questions.set(key, { request, deferred });
    signal?.addEventListener('abort', () => this.#withdraw(key, signal.reason), { once: true });
    if (this.#at) this.#scheduleRound();
    return deferred.promise;
  }

  /** Withdraws a question. A later answer of the client is ignored. */
  #withdraw(key: string, reason: unknown): void {
    const question = this.#questions?.get(key);
    if (!question) return;
    this.#questions?.delete(key);
    question.deferred.reject(reason as Error);
  }

  /** The handler returned. */
  complete(result: JsonObject): void {
    this.#settle({ kind: 'result', result });
  }

  /** The handler threw. */
  fail(thrown: unknown): void {
    this.#settle({ kind: 'error', thrown });
  }

  /** The client cancelled the attached request. */
  cancel(reason: string): void {
    this.#end(new IsthmusError('CANCELLED', reason));
  }

  /** The parked call is not resumed: no next round came, or it was evicted. */
  expire(reason: IsthmusError): void {
    this.#expired = reason;
    this.#end(reason);
  }

  /** Refuses an invalid next round before the ticket is used up. */
  checkRetry(answers: InputResponses, capabilities: ClientCapabilities): void {
    for (const [key, { request }] of this.#questions ?? []) {
      if (Object.hasOwn(answers, key)) {
        checkedAnswer(key, request, answers[key]);
        continue;
      }
      // The question is asked again, so the client must still be able to answer it (META-007).
      const missing = missingCapability(request, capabilities);
      if (missing) throw capabilityRequired(missing);
    }
  }

  /** The next round arrived: its request is attached. Unanswered questions are asked again (MRTR-027). */
  resume(at: Attachment, answers: InputResponses): void {
    this.#at = at;
    this.#peer = at.peer;
    if (this.#number !== undefined) at.continues(this.#number);
    for (const [key, { deferred }] of [...(this.#questions ?? [])]) {
      if (!Object.hasOwn(answers, key)) continue;
      this.#questions?.delete(key);
      deferred.resolve(answers[key] as InputResponse);
    }
    if (this.#outcome) this.#deliver(this.#outcome);
    else if (this.#questions && this.#questions.size > 0) this.#scheduleRound();
  }

  #settle(outcome: Outcome): void {
    if (this.#outcome) return;
    this.#outcome = outcome;
    if (this.#questions) this.#rejectQuestions(callIsOver(this.method));
    if (this.#at) this.#deliver(outcome);
  }

  #deliver(outcome: Outcome): void {
    const at = this.#at!;
    at.release();
    if (!at.live) return;
    if (outcome.kind === 'error') at.refuse(this.#expired ?? outcome.thrown);
    else if (!isInputRequired(outcome.result)) at.answer(outcome.result);
    else if (this.#mayAsk) void this.#replayRound(at, outcome.result);
    else at.refuse(cannotAsk(this.method));
  }

  #end(reason: IsthmusError): void {
    this.#cancellation.abort(reason);
    this.#rejectQuestions(reason);
  }

  #rejectQuestions(reason: Error): void {
    const questions = [...(this.#questions?.values() ?? [])];
    this.#questions = undefined;
    for (const { deferred } of questions) {
      // The handler may not await it any more; that must not become an unhandled rejection.
      deferred.promise.catch(() => {});
      deferred.reject(reason);
    }
  }

  /** Questions of one turn of the event loop are sent in one round. */
  #scheduleRound(): void {
    if (this.#roundDue) return;
    this.#roundDue = true;
    setImmediate(() => {
      this.#roundDue = false;
      void this.#parkedRound();
    });
  }

  async #parkedRound(): Promise<void> {
    const at = this.#at;
    if (!at?.live || !this.#questions?.size) return;
    try {
      const ticket = this.#runtime.parked.park(this, clientKey(this.#peer));
      const state: ParkedState = { kind: 'parked', id: ticket.id, home: this.#runtime.home };
      const { seal, member } = this.#runtime;
      const requestState = await seal.seal(state, this.#binding(), ticket.expiresAt, member());
      // Sealing is asynchronous: meanwhile the handler may have finished, or the client may have cancelled.
      if (!at.live || !this.#questions?.size) return this.#runtime.parked.leave(ticket.id);
      this.#number = at.number;
      this.#at = undefined;
      at.release();
      at.answer({ resultType: 'input_required', inputRequests: this.#inputRequests(), requestState });
    } catch (error) {
      this.#rejectQuestions(error as Error);
    }
  }

  async #replayRound(at: Attachment, result: InputRequired): Promise<void> {
    try {
      const { state, ...rest } = result;
      for (const request of Object.values(result.inputRequests ?? {})) {
        const missing = missingCapability(request, this.#peer.capabilities);
        if (missing) throw capabilityRequired(missing);
      }
      if (state === undefined) {
        if (!hasQuestions(result)) throw emptyRound(this.method);
        return at.answer(rest);
      }
      const { clock, roundTtlMs } = this.#runtime.settings;
      const sealed: ReplayState = { kind: 'replay', value: state };
      const requestState = await this.#runtime.seal.seal(sealed, this.#binding(), clock.now() + roundTtlMs);
      if (at.live) at.answer({ ...rest, requestState });
    } catch (error) {
      at.refuse(error);
    }
  }

  #inputRequests(): InputRequests {
    const requests: InputRequests = {};
    for (const [key, { request }] of this.#questions ?? []) requests[key] = request;
    return requests;
  }

  #binding(): StateBinding {
    return { digest: digestRequest(this.method, this.params), principal: this.#peer.principal };
  }
}

/** The part of a request that outlives its envelope. */
interface ModernRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly mayAsk: boolean;
  readonly answers: InputResponses | undefined;
  readonly state: unknown;
}

type Outcome =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly thrown: unknown };

interface Question {
  readonly request: InputRequest;
  readonly deferred: Deferred<InputResponse>;
}

const keyNames: Record<InputRequest['method'], string> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** A modern server cannot send requests, and rounds have three kinds of questions. */
function notAQuestion(method: string): ProtocolError {
  return new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${method}`);
}

function callIsOver(method: string): IsthmusError {
  return new IsthmusError('CANCELLED', `${method} is over; no more questions can be asked`);
}

function hasQuestions(result: InputRequired): boolean {
  return result.inputRequests !== undefined && Object.keys(result.inputRequests).length > 0;
}
