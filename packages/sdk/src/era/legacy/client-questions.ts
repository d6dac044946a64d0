import { within } from '../../async/clock.js';
import { createDeferred } from '../../async/deferred.js';
import { IsthmusError, messageOf, ProtocolError } from '../../errors.js';
import { events } from '../../events.js';
import type { OnBehalfOf, OutgoingCall } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import {
  errorMessage,
  isJsonObject,
  type JsonObject,
  type JsonRpcErrorBody,
  type RequestId,
  resultMessage,
} from '../../wire/json-rpc.js';
import type { InputRequest, InputResponse } from '../../wire/model.js';
import { type Answers, answerQuestion, canAnswer } from '../answers.js';
import type { NegotiatedConnection } from '../client/negotiated-connection.js';
import type { TenantCaller } from '../client/tenant-caller.js';
import { META } from '../meta-keys.js';
import type { Attributed, Attribution, Unclear } from './attribution/attribution.js';
import type { CallAttribution } from './attribution/call-attribution.js';
import type { AskedOwners } from './attribution/session-calls.js';
import type { LegacySession } from './client-request.js';
import type { Scopes } from './scopes.js';

/** The questions of a legacy server: each goes to the tenant that it belongs to, or is refused with a reason. */
export class LegacyQuestions {
  readonly #connection: NegotiatedConnection;
  readonly #attribution: CallAttribution;
  readonly #asked: AskedOwners;
  readonly #scopes: Scopes;
  readonly #open = new Map<RequestId, Question>();
  readonly #first = createDeferred<void>();
  /** Questions of tasks whose result has not been asked for yet. */
  readonly #awaited = new Set<{ readonly taskId: string; found(): void }>();

  constructor({ connection, attribution, asked, scopes }: LegacySession) {
    this.#connection = connection;
    this.#attribution = attribution;
    this.#asked = asked;
    this.#scopes = scopes;
  }

  /** The first tenant has joined. */
  joined(): void {
    this.#first.resolve();
  }

  /** `about` is the request on whose stream the question came, if known: over HTTP it says which call it belongs to. */
  async answer(id: RequestId, request: InputRequest, about?: RequestId): Promise<void> {
    // A question may arrive together with the answer to the handshake, before the first tenant has joined.
    if (this.#connection.callers.size === 0)
      await within(this.#connection.clock, FIRST_TENANT_MS, this.#first.promise);
    const question: Question = { caller: undefined, over: new AbortController() };
    this.#open.set(id, question);
    const { signal } = question.over;
    let declared = false;
    try {
      const taskId = taskOf(request);
      const waiting = taskId === undefined ? undefined : await this.#requestFor(taskId, about, signal);
      if (!this.#open.has(id)) return;
      const found = this.#targetOf(request, waiting ?? about);
      const target = found.kind === 'several' ? await this.#clarify(found, request, signal) : found;
      if (!this.#open.has(id)) return;
      if (target.kind === 'refused') return this.#refuse(id, target.why);
      question.caller = target.caller;
      if (target.number !== undefined)
        this.#connection.connection.tap?.relate('to-client', id, target.number);
      declared = target.answers !== undefined && isDeclared(request, target.answers);
      const answer = await this.#ask(target, request, signal);
      if (this.#open.has(id)) {
        const result = answer as unknown as JsonObject;
        this.#connection.connection.send(
          resultMessage(id, taskId === undefined ? result : withTask(result, taskId)),
        );
      }
    } catch (error) {
      if (this.#open.has(id)) this.#connection.connection.send(errorMessage(id, refusal(error, declared)));
    } finally {
      this.#open.delete(id);
    }
  }

  /** A request is about to be sent: perhaps a question of its task came before it. */
  calls({ method, params }: OutgoingCall): void {
    if (method !== 'tasks/result') return;
    const { taskId } = params;
    for (const awaited of this.#awaited) if (awaited.taskId === taskId) queueMicrotask(awaited.found);
  }

  /**
   * The request that waits for the result of a task: a question of the task belongs to it (TASK-L-033). A server may ask
   * before it has that request.
   */
  async #requestFor(
    taskId: string,
    about: RequestId | undefined,
    signal: AbortSignal,
  ): Promise<RequestId | undefined> {
    const find = () =>
      this.#connection.requests.find(
        ({ call }) => call?.method === 'tasks/result' && call.params['taskId'] === taskId,
      );
    const known = find();
    if (known !== undefined || about !== undefined) return known;
    const { promise, resolve } = createDeferred<void>();
    const awaited = { taskId, found: resolve };
    this.#awaited.add(awaited);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await within(this.#connection.clock, TASK_MS, promise);
    this.#awaited.delete(awaited);
    return find();
  }

  /** The only client that waits for results of tasks. A server may forget to say that its question belongs to a task. */
  #onlyWaiting(): Asked | undefined {
    const { requests } = this.#connection;
    const waiting = new Map<object, Asked>();
    requests.find(({ call, owner }) => {
      if (call?.method !== 'tasks/result') return false;
      const caller = owner as TenantCaller;
      if (this.#scopes.mayBeOther(call.behalf?.principal ?? caller.tenant.principal)) return false;
      waiting.set(
        call.behalf?.owner ?? caller,
        call.behalf ? byBehalf(call.behalf, caller) : byTenant(caller, call),
      );
      return false;
    });
    return waiting.size === 1 ? [...waiting.values()][0] : undefined;
  }

  /** The server cancelled its question. False if there is no such question. */
  takeBack(id: RequestId): boolean {
    const question = this.#open.get(id);
    if (!question) return false;
    this.#open.delete(id);
    question.over.abort(new IsthmusError('CANCELLED', 'the server cancelled its question'));
    return true;
  }

  /** A tenant has left: refuses the questions that it was asked, so that the server does not wait. */
  refuse(caller: TenantCaller, error: IsthmusError): void {
    for (const [id, question] of this.#open) {
      if (question.caller !== caller) continue;
      this.#open.delete(id);
      this.#refuse(id, `The client that was asked has left: ${error.message}`);
      question.over.abort(error);
    }
  }

  ended(error: Error): void {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const { over } of open) over.abort(error);
  }

  async #ask(target: Asked, request: InputRequest, signal: AbortSignal): Promise<InputResponse> {
    const { owner, attributed } = target;
    const question = attributed?.ask();
    // The time of the answer must not count against the call, whichever of the owner's calls it is.
    const goOn = owner && this.#connection.requests.suspend(owner);
    if (owner) this.#asked.add(owner);
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      question?.over();
      goOn?.();
      if (owner) this.#asked.remove(owner);
    };
    // A server that cancels its question goes on at once, whether or not the answering code observes the signal.
    signal.addEventListener('abort', end, { once: true });
    try {
      return await target.answer(request, signal).finally(() => question?.comeBack(signal));
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  }

  #targetOf(request: InputRequest, about: RequestId | undefined): QuestionTarget | Unclear {
    const [only] = this.#connection.callers;
    const made = about === undefined ? undefined : this.#connection.requests.get(about);
    if (made?.call?.behalf) return byBehalf(made.call.behalf, made.owner as TenantCaller);
    if (this.#connection.settings.questions === undefined && only)
      return byTenant(only, made?.call ?? this.#onlyCall());
    if (made && this.#connection.callers.has(made.owner as TenantCaller))
      return byTenant(made.owner as TenantCaller, made.call);
    // It names a request, and that is none of the calls in flight.
    if (about !== undefined) return this.#ofNoCall(request);
    if (this.#scopes.areSeveral) return this.#ofSeveralPrincipals(request);
    const attribution = this.#attribution.attribute();
    return attribution.kind === 'several' ? attribution : this.#byAttribution(attribution, request);
  }

  /** The call that a question without a stream belongs to, if there is just one. A console shows the question with it. */
  #onlyCall(): OutgoingCall | undefined {
    const { requests } = this.#connection;
    const id = requests.size === 1 ? requests.find(() => true) : undefined;
    return id === undefined ? undefined : requests.get(id)?.call;
  }

  async #clarify(unclear: Unclear, request: InputRequest, signal: AbortSignal): Promise<QuestionTarget> {
    const attribution = await unclear.clarify(signal);
    if (attribution.kind !== 'several') return this.#byAttribution(attribution, request);
    attribution.suspect();
    return {
      kind: 'refused',
      why:
        `${attribution.count} conversations share this connection and have calls in flight, and the question does ` +
        'not say which of them it belongs to; give each client its own process',
    };
  }

  #byAttribution(attribution: Exclude<Attribution, Unclear>, request: InputRequest): QuestionTarget {
    if (attribution.kind === 'none') {
      const { fallbackAnswers } = this.#connection.settings;
      const waiting = canAnswer(fallbackAnswers, request) ? undefined : this.#onlyWaiting();
      return waiting ?? this.#ofNoCall(request);
    }
    const { behalf, caller: made, request: sent } = attribution.call;
    const caller = made as TenantCaller;
    if (behalf) return { ...byBehalf(behalf, caller), attributed: attribution };
    if (this.#connection.callers.has(caller))
      return { ...byTenant(caller, sent?.call), attributed: attribution };
    return { kind: 'refused', why: 'The client whose call led to this question has left' };
  }

  /** A question of one principal never reaches another, whatever the history of the server says. */
  #ofSeveralPrincipals(request: InputRequest): QuestionTarget {
    const { fallbackAnswers } = this.#connection.settings;
    if (canAnswer(fallbackAnswers, request) && this.#attribution.attribute().kind === 'none')
      return byFallback(fallbackAnswers);
    return OF_SEVERAL_PRINCIPALS;
  }

  /** No call in flight could have led to it (servers ask for roots right after the handshake). */
  #ofNoCall(request: InputRequest): QuestionTarget {
    const { fallbackAnswers } = this.#connection.settings;
    if (canAnswer(fallbackAnswers, request)) return byFallback(fallbackAnswers);
    const [only, another] = this.#connection.callers;
    if (only && !another) {
      // Its call may have ended just now, and the principal of that call may have left.
      return this.#scopes.mayBeOther(only.tenant.principal) ? OF_SEVERAL_PRINCIPALS : byTenant(only);
    }
    const count = this.#connection.callers.size;
    if (count === 0) return byFallback(fallbackAnswers);
    return {
      kind: 'refused',
      why: `${count} conversations share this connection, and the question belongs to none of their calls`,
    };
  }

  #refuse(id: RequestId, message: string): void {
    const error: JsonRpcErrorBody = { code: ErrorCode.InternalError, message };
    if (events.refused.hasSubscribers) {
      events.refused.publish({ connection: this.#connection.label, id, error });
    }
    this.#connection.connection.send(errorMessage(id, error));
  }
}

/** The task that a question belongs to, if it names one. */
function taskOf({ params }: InputRequest): string | undefined {
  const meta = (params as JsonObject | undefined)?.['_meta'];
  const task = isJsonObject(meta) ? meta[META.relatedTask] : undefined;
  const taskId = isJsonObject(task) ? task['taskId'] : undefined;
  return typeof taskId === 'string' ? taskId : undefined;
}

/** TASK-L-050: the answer names the task, too. */
function withTask(result: JsonObject, taskId: string): JsonObject {
  const meta = isJsonObject(result['_meta']) ? result['_meta'] : {};
  return { ...result, _meta: { ...meta, [META.relatedTask]: { taskId } } };
}

/** How long a question waits for the first tenant. */
const FIRST_TENANT_MS = 1000;
/** How long a question of a task waits for the request for the result of that task. */
const TASK_MS = 2000;

interface Question {
  /** The tenant that was asked, once it is known. */
  caller: TenantCaller | undefined;
  readonly over: AbortController;
}

const OF_SEVERAL_PRINCIPALS: QuestionTarget = {
  kind: 'refused',
  why:
    'several principals share this process, and the question does not say whose call it belongs to; ' +
    'give each principal its own process',
};

type QuestionTarget = Asked | { readonly kind: 'refused'; readonly why: string };

interface Asked {
  readonly kind: 'asked';
  readonly caller: TenantCaller | undefined;
  readonly owner: object | undefined;
  /** Undefined if the owner was known without attribution. */
  readonly attributed?: Attributed;
  /** The number of the call that led to it, for a tap. */
  readonly number?: number | undefined;
  /** The answers that are known beforehand. */
  readonly answers?: Answers;
  answer(request: InputRequest, signal: AbortSignal): Promise<InputResponse>;
}

function byTenant(caller: TenantCaller, call?: OutgoingCall): Asked {
  const { answers } = caller.tenant;
  const number = call?.number;
  const answer = (request: InputRequest, signal: AbortSignal) =>
    answerQuestion(answers, request, signal, number);
  return { kind: 'asked', caller, owner: caller, number, answers, answer };
}

function byBehalf(behalf: OnBehalfOf, caller: TenantCaller): Asked {
  const answer = (request: InputRequest, signal: AbortSignal) => behalf.answer(request, signal);
  return { kind: 'asked', caller, owner: behalf.owner, number: behalf.number, answer };
}

function byFallback(answers: Answers): Asked {
  const answer = (request: InputRequest, signal: AbortSignal) => answerQuestion(answers, request, signal);
  return { kind: 'asked', caller: undefined, owner: undefined, answers, answer };
}

function refusal(error: unknown, declared: boolean): JsonRpcErrorBody {
  const said = error instanceof IsthmusError && error.code === 'REFUSED_BY_PEER' ? error.cause : error;
  if (said instanceof ProtocolError) return { code: said.code, message: said.message, data: said.data };
  if (!(error instanceof IsthmusError)) return { code: ErrorCode.InternalError, message: messageOf(error) };
  const { message } = error;
  switch (error.code) {
    case 'CAPABILITY_MISSING':
      return { code: ErrorCode.MethodNotFound, message };
    case 'CANNOT_ANSWER':
      // ELIC-026, SAMP-004: the feature was declared, but not this mode of it.
      return { code: declared ? ErrorCode.InvalidParams : ErrorCode.MethodNotFound, message };
    default:
      return { code: ErrorCode.InternalError, message };
  }
}

function isDeclared({ method }: InputRequest, answers: Answers): boolean {
  switch (method) {
    case 'elicitation/create':
      return answers.elicit !== undefined;
    case 'sampling/createMessage':
      return answers.sample !== undefined;
    case 'roots/list':
      return answers.roots !== undefined;
  }
}
