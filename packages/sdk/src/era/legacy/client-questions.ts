import { within } from '../../async/clock.js';
import { createDeferred } from '../../async/deferred.js';
import { IsthmusError, messageOf, ProtocolError } from '../../errors.js';
import { events } from '../../events.js';
import type { OnBehalfOf } from '../../exchange/call.js';
import type { OutboundRequests } from '../../exchange/outbound-requests.js';
import { ErrorCode } from '../../wire/error-codes.js';
import {
  errorMessage,
  type JsonObject,
  type JsonRpcErrorBody,
  type RequestId,
  resultMessage,
} from '../../wire/json-rpc.js';
import type { InputRequest, InputResponse } from '../../wire/model.js';
import { type Answers, answerQuestion, canAnswer } from '../answers.js';
import type { ClientDialectContext } from '../client-dialect-context.js';
import type { Attributed, Attribution, Unclear } from './attributable-call.js';
import type { CallAttribution } from './call-attribution.js';
import type { Scopes } from './scopes.js';
import type { LegacyTenantCaller } from './tenant-caller.js';

/** The questions of a legacy server: each goes to the voice it belongs to, or is refused with a reason. */
export class LegacyQuestions {
  readonly #side: ClientDialectContext;
  readonly #requests: OutboundRequests;
  readonly #turns: CallAttribution;
  readonly #scopes: Scopes;
  readonly #speakers: ReadonlySet<LegacyTenantCaller>;
  readonly #open = new Map<RequestId, Question>();
  readonly #first = createDeferred<void>();

  constructor(
    side: ClientDialectContext,
    requests: OutboundRequests,
    { turns, scopes }: { readonly turns: CallAttribution; readonly scopes: Scopes },
    speakers: ReadonlySet<LegacyTenantCaller>,
  ) {
    this.#side = side;
    this.#requests = requests;
    this.#turns = turns;
    this.#scopes = scopes;
    this.#speakers = speakers;
  }

  /** Somebody is there to be asked. */
  joined(): void {
    this.#first.resolve();
  }

  /** `about` is the request on whose stream it came, where that is known: over HTTP it says whose it is. */
  async answer(id: RequestId, request: InputRequest, about?: RequestId): Promise<void> {
    // A question may come in one breath with the answer to the handshake, before anybody has begun to speak.
    if (this.#speakers.size === 0) await within(this.#side.clock, FIRST_VOICE_MS, this.#first.promise);
    const question: Question = { speaker: undefined, over: new AbortController() };
    this.#open.set(id, question);
    const { signal } = question.over;
    let declared = false;
    try {
      const found = this.#whose(request, about);
      const whose = found.kind === 'several' ? await this.#clarify(found, request, signal) : found;
      if (!this.#open.has(id)) return;
      if (whose.kind === 'refused') return this.#refuse(id, whose.why);
      question.speaker = whose.speaker;
      declared = whose.answers !== undefined && isDeclared(request, whose.answers);
      const answer = await this.#ask(whose, request, signal);
      if (this.#open.has(id)) {
        this.#side.connection.send(resultMessage(id, answer as unknown as JsonObject));
      }
    } catch (error) {
      if (this.#open.has(id)) this.#side.connection.send(errorMessage(id, refusal(error, declared)));
    } finally {
      this.#open.delete(id);
    }
  }

  /** The server no longer wants the answer. False when there was no such question. */
  takeBack(id: RequestId): boolean {
    const question = this.#open.get(id);
    if (!question) return false;
    this.#open.delete(id);
    question.over.abort(new IsthmusError('CANCELLED', 'the server took its question back'));
    return true;
  }

  /** A voice has left; the server is not to wait for its answers. */
  refuse(speaker: LegacyTenantCaller, error: IsthmusError): void {
    for (const [id, question] of this.#open) {
      if (question.speaker !== speaker) continue;
      this.#open.delete(id);
      this.#refuse(id, `Whoever was asked has gone: ${error.message}`);
      question.over.abort(error);
    }
  }

  ended(error: Error): void {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const { over } of open) over.abort(error);
  }

  async #ask(whose: Asked, request: InputRequest, signal: AbortSignal): Promise<InputResponse> {
    const { owner, attributed } = whose;
    const question = attributed && this.#turns.asking(attributed);
    // The call that it belongs to is not to pay for the time it takes, whichever of the owner's calls it is.
    const goOn = owner && this.#requests.suspend(owner);
    if (owner) this.#turns.answering(owner, 1);
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      if (question) this.#turns.over(question);
      goOn?.();
      if (owner) this.#turns.answering(owner, -1);
    };
    // A server that takes its question back goes on at once, whether or not whoever was asked takes notice.
    signal.addEventListener('abort', end, { once: true });
    try {
      return await whose
        .answer(request, signal)
        .finally(() => question && this.#turns.comeBack(question, { signal }));
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  }

  #whose(request: InputRequest, about: RequestId | undefined): Whose | Unclear {
    const [only] = this.#speakers;
    const made = about === undefined ? undefined : this.#requests.get(about);
    if (made?.behalf) return byBehalf(made.behalf, made.owner as LegacyTenantCaller);
    if (this.#side.questions === undefined && only) return byVoice(only);
    if (made && this.#speakers.has(made.owner as LegacyTenantCaller))
      return byVoice(made.owner as LegacyTenantCaller);
    // It says which request it belongs to: that is none of the calls in flight.
    if (about !== undefined) return this.#ofNoCall(request);
    if (this.#scopes.areSeveral) return this.#ofSeveralPrincipals(request);
    const attribution = this.#turns.attribute();
    return attribution.kind === 'several' ? attribution : this.#byAttribution(attribution, request);
  }

  async #clarify(unclear: Unclear, request: InputRequest, signal: AbortSignal): Promise<Whose> {
    const attribution = await this.#turns.clarify(unclear, signal);
    if (attribution.kind !== 'several') return this.#byAttribution(attribution, request);
    this.#turns.suspect(attribution);
    return {
      kind: 'refused',
      why:
        `${attribution.count} conversations share this connection and have calls in flight, and the question does ` +
        'not say which of them it belongs to; give each client its own process',
    };
  }

  #byAttribution(attribution: Exclude<Attribution, Unclear>, request: InputRequest): Whose {
    if (attribution.kind === 'nobody') return this.#ofNoCall(request);
    const { behalf, speaker: made } = attribution.turn;
    const speaker = made as LegacyTenantCaller;
    if (behalf) return { ...byBehalf(behalf, speaker), attributed: attribution };
    if (this.#speakers.has(speaker)) return { ...byVoice(speaker), attributed: attribution };
    return { kind: 'refused', why: 'Whoever made the call that this belongs to has gone' };
  }

  /** Whatever the habits of the server: a question of one principal never reaches another. */
  #ofSeveralPrincipals(request: InputRequest): Whose {
    const { fallbackAnswers } = this.#side;
    if (canAnswer(fallbackAnswers, request) && this.#turns.attribute().kind === 'nobody')
      return byHouse(fallbackAnswers);
    return OF_SEVERAL_PRINCIPALS;
  }

  /** No call is in flight that could have led to it (servers ask for roots right after the handshake). */
  #ofNoCall(request: InputRequest): Whose {
    const { fallbackAnswers } = this.#side;
    if (canAnswer(fallbackAnswers, request)) return byHouse(fallbackAnswers);
    const [only, another] = this.#speakers;
    if (only && !another) {
      // The call may have ended just now, and its principal may have left.
      return this.#scopes.mayBeOther(only.voice.principal) ? OF_SEVERAL_PRINCIPALS : byVoice(only);
    }
    const count = this.#speakers.size;
    if (count === 0) return byHouse(fallbackAnswers);
    return {
      kind: 'refused',
      why: `${count} conversations share this connection, and the question belongs to no call of theirs`,
    };
  }

  #refuse(id: RequestId, message: string): void {
    const error: JsonRpcErrorBody = { code: ErrorCode.InternalError, message };
    if (events.refused.hasSubscribers) {
      events.refused.publish({ connection: this.#side.connection.label, id, error });
    }
    this.#side.connection.send(errorMessage(id, error));
  }
}

/** How long a question waits for somebody who could be asked. */
const FIRST_VOICE_MS = 1000;

interface Question {
  /** Who was asked, once that is clear. */
  speaker: LegacyTenantCaller | undefined;
  readonly over: AbortController;
}

const OF_SEVERAL_PRINCIPALS: Whose = {
  kind: 'refused',
  why:
    'several principals share this process, and the question does not say whose call it belongs to; ' +
    'give each principal its own process',
};

type Whose = Asked | { readonly kind: 'refused'; readonly why: string };

interface Asked {
  readonly kind: 'asked';
  readonly speaker: LegacyTenantCaller | undefined;
  readonly owner: object | undefined;
  /** Undefined where it was not found out by what is in flight. */
  readonly attributed?: Attributed;
  /** What it is known to answer. */
  readonly answers?: Answers;
  answer(request: InputRequest, signal: AbortSignal): Promise<InputResponse>;
}

function byVoice(speaker: LegacyTenantCaller): Asked {
  const { answers } = speaker.voice;
  const answer = (request: InputRequest, signal: AbortSignal) => answerQuestion(answers, request, signal);
  return { kind: 'asked', speaker, owner: speaker, answers, answer };
}

function byBehalf(behalf: OnBehalfOf, speaker: LegacyTenantCaller): Asked {
  const answer = (request: InputRequest, signal: AbortSignal) => behalf.answer(request, signal);
  return { kind: 'asked', speaker, owner: behalf.owner, answer };
}

function byHouse(answers: Answers): Asked {
  const answer = (request: InputRequest, signal: AbortSignal) => answerQuestion(answers, request, signal);
  return { kind: 'asked', speaker: undefined, owner: undefined, answers, answer };
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
      // ELIC-026, SAMP-004: a feature that was declared, in a mode that was not.
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
