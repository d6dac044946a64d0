import { createDeferred } from '../../async/deferred.js';
import { within } from '../../async/within.js';
import { IsthmusError, messageOf, ProtocolError } from '../../errors.js';
import { events } from '../../events.js';
import type { OutboundRequests } from '../../exchange/outbound-requests.js';
import { ErrorCode } from '../../wire/error-codes.js';
import {
  errorMessage,
  type JsonObject,
  type JsonRpcErrorBody,
  type RequestId,
  resultMessage,
} from '../../wire/json-rpc.js';
import type { InputRequest } from '../../wire/model.js';
import { type Answers, answerQuestion, canAnswer } from '../answers.js';
import type { ClientSide } from '../client-side.js';
import type { LegacySpeaker } from './client-speaker.js';
import type { Turns } from './client-turns.js';

/** The questions of a legacy server: each goes to the voice it belongs to, or is refused with a reason. */
export class LegacyQuestions {
  readonly #side: ClientSide;
  readonly #requests: OutboundRequests;
  readonly #turns: Turns;
  readonly #speakers: ReadonlySet<LegacySpeaker>;
  readonly #open = new Map<RequestId, Question>();
  readonly #first = createDeferred<void>();

  constructor(
    side: ClientSide,
    requests: OutboundRequests,
    turns: Turns,
    speakers: ReadonlySet<LegacySpeaker>,
  ) {
    this.#side = side;
    this.#requests = requests;
    this.#turns = turns;
    this.#speakers = speakers;
  }

  /** Somebody is there to be asked. */
  joined(): void {
    this.#first.resolve();
  }

  async answer(id: RequestId, request: InputRequest): Promise<void> {
    // A question may come in one breath with the answer to the handshake, before anybody has begun to speak.
    if (this.#speakers.size === 0) await within(this.#side.clock, FIRST_VOICE_MS, this.#first.promise);
    const whose = this.#whose(request);
    if (whose.kind === 'refused') return this.#refuse(id, whose.why);
    const { speaker, answers } = whose;
    const question: Question = { speaker, over: new AbortController() };
    const { signal } = question.over;
    this.#open.set(id, question);
    // The call that it belongs to is not to pay for the time it takes, whichever of the voice's calls it is.
    if (speaker) {
      this.#requests.suspend(speaker);
      this.#turns.answering(speaker, 1);
    }
    try {
      const answer = await answerQuestion(answers, request, signal);
      if (this.#open.has(id)) {
        this.#side.connection.send(resultMessage(id, answer as unknown as JsonObject));
      }
    } catch (error) {
      if (this.#open.has(id)) {
        this.#side.connection.send(errorMessage(id, refusal(error, isDeclared(request, answers))));
      }
    } finally {
      this.#open.delete(id);
      if (speaker) {
        this.#requests.goOn(speaker);
        this.#turns.answering(speaker, -1);
      }
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
  refuse(speaker: LegacySpeaker, error: IsthmusError): void {
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

  #whose(request: InputRequest): Whose {
    const [only] = this.#speakers;
    if (this.#side.questions === undefined && only) {
      return { kind: 'answers', speaker: only, answers: only.voice.answers };
    }
    const attribution = this.#turns.attribute();
    switch (attribution.kind) {
      case 'one': {
        const speaker = attribution.owner as LegacySpeaker;
        if (this.#speakers.has(speaker)) return { kind: 'answers', speaker, answers: speaker.voice.answers };
        return { kind: 'refused', why: 'Whoever made the call that this belongs to has gone' };
      }
      case 'several':
        return {
          kind: 'refused',
          why: `${attribution.count} conversations share this connection and have calls in flight, and the question does not say which of them it belongs to`,
        };
      case 'nobody':
        return this.#ofNoCall(request);
    }
  }

  /** No call is in flight that could have led to it (servers ask for roots right after the handshake). */
  #ofNoCall(request: InputRequest): Whose {
    const { houseAnswers } = this.#side;
    if (canAnswer(houseAnswers, request))
      return { kind: 'answers', speaker: undefined, answers: houseAnswers };
    const [only, another] = this.#speakers;
    if (only && !another) return { kind: 'answers', speaker: only, answers: only.voice.answers };
    const count = this.#speakers.size;
    if (count === 0) return { kind: 'answers', speaker: undefined, answers: houseAnswers };
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
  readonly speaker: LegacySpeaker | undefined;
  readonly over: AbortController;
}

type Whose =
  | { readonly kind: 'answers'; readonly speaker: LegacySpeaker | undefined; readonly answers: Answers }
  | { readonly kind: 'refused'; readonly why: string };

function refusal(error: unknown, declared: boolean): JsonRpcErrorBody {
  if (error instanceof ProtocolError) return { code: error.code, message: error.message, data: error.data };
  if (!(error instanceof IsthmusError) || error.code !== 'CANNOT_ANSWER') {
    return { code: ErrorCode.InternalError, message: messageOf(error) };
  }
  // ELIC-026, SAMP-004: a feature that was declared, in a mode that was not.
  return { code: declared ? ErrorCode.InvalidParams : ErrorCode.MethodNotFound, message: error.message };
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
