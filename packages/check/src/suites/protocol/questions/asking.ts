/** Requests that make a server ask questions, in either era, and answers to them. */

import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import {
  type CheckConversation,
  type CheckRequestOptions,
  type Reply,
  refuseAll,
} from '../../../conversation/conversation.js';
import type { CheckContext } from '../../../run/check-context.js';
import { sampleArguments } from '../../../survey/callable-tools.js';
import type { WalkthroughStop } from '../../../survey/facts.js';
import { membersOf } from '../../../wire/transcript.js';

/** A question of a server: `elicitation/create` and so on, without an envelope. */
export interface Question {
  readonly method: string;
  readonly params: JsonObject;
}

/** An `input_required` result: the questions by key, and the `requestState`. */
export interface QuestionRound {
  readonly questions: ReadonlyMap<string, Question>;
  readonly state: string | undefined;
}

/** The requests of the survey that led to questions in this era. Skips if there are none. */
export function askingStops(context: CheckContext): readonly WalkthroughStop[] {
  const stops = context.facts.walkthrough.filter((stop) => questionsAt(stop).length > 0);
  if (stops.length === 0)
    context.skip('nothing that may be called asks the client a question (see --call-tools and --allow)');
  return stops;
}

/** The questions of the server to this request of the survey. */
export function questionsAt({ reply, questions }: WalkthroughStop): readonly Question[] {
  const round = roundIn(reply);
  if (round) return [...round.questions.values()];
  return questions.map((frame) => toQuestion(membersOf(frame)));
}

/** The round in a modern reply. */
export function roundIn(reply: Reply): QuestionRound | undefined {
  if (reply.kind !== 'result' || reply.result['resultType'] !== 'input_required') return undefined;
  const { inputRequests, requestState } = reply.result;
  const entries = isJsonObject(inputRequests) ? Object.entries(inputRequests) : [];
  return {
    questions: new Map(entries.map(([key, value]) => [key, toQuestion(value)])),
    state: typeof requestState === 'string' ? requestState : undefined,
  };
}

function toQuestion(value: unknown): Question {
  const { method, params } = isJsonObject(value) ? value : {};
  return { method: String(method), params: isJsonObject(params) ? params : {} };
}

/** At most `most` requests with different kinds of questions. */
export function variety(stops: readonly WalkthroughStop[], most: number): readonly WalkthroughStop[] {
  const first = new Map<string, WalkthroughStop>();
  for (const stop of stops) {
    const kinds = questionsAt(stop).map(({ method, params }) => `${method} ${params['mode'] ?? ''}`);
    const key = [stop.method, ...kinds].join(' ');
    if (!first.has(key)) first.set(key, stop);
  }
  return [...first.values()].slice(0, most);
}

export function nameOf({ method, params }: WalkthroughStop): string {
  return `${method} ${JSON.stringify(params['name'] ?? params['uri'])}`;
}

export function isForm({ method, params }: Question): boolean {
  return method === 'elicitation/create' && params['mode'] !== 'url';
}

/** A plausible answer of a user or a model. */
export function answerTo({ method, params }: Question): JsonObject {
  switch (method) {
    case 'elicitation/create':
      return params['mode'] === 'url'
        ? { action: 'accept' }
        : { action: 'accept', content: filledIn(params['requestedSchema']) };
    case 'sampling/createMessage':
      return {
        role: 'assistant',
        content: { type: 'text', text: 'hello' },
        model: 'isthmus-check',
        stopReason: 'endTurn',
      };
    default:
      return { roots: [{ uri: 'file:///isthmus-check', name: 'isthmus-check' }] };
  }
}

/** A form with every field filled in. */
function filledIn(schema: unknown): JsonObject {
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return {};
  return sampleArguments({ ...schema, required: Object.keys(schema['properties']) });
}

export function answersTo(round: QuestionRound, answer = answerTo): JsonObject {
  return Object.fromEntries([...round.questions].map(([key, question]) => [key, answer(question)]));
}

/** Repeats a request with answers. `more` replaces members of its params. */
export function retry(
  conversation: CheckConversation,
  stop: WalkthroughStop,
  round: QuestionRound,
  inputResponses: unknown,
  more: JsonObject = {},
  options: CheckRequestOptions = {},
): Promise<Reply> {
  const state = round.state !== undefined && { requestState: round.state };
  return conversation.request(stop.method, { ...stop.params, inputResponses, ...state, ...more }, options);
}

/** Repeats a request of the survey, and returns its round. Skips if the server does not ask this time. */
export async function openRound(
  context: CheckContext,
  conversation: CheckConversation,
  stop: WalkthroughStop,
): Promise<QuestionRound> {
  const reply = await conversation.request(stop.method, stop.params);
  const round = roundIn(reply);
  if (!round)
    return context.skip(`${nameOf(stop)} asked a question during the survey, and does not ask any more`);
  answerAtEnd(context, conversation, stop, reply);
  return round;
}

/** Answers the round at the end of the check, since an open round may hold resources of the server. */
export function answerAtEnd(
  context: CheckContext,
  conversation: CheckConversation,
  stop: WalkthroughStop,
  reply: Reply,
): void {
  const round = roundIn(reply);
  if (round) context.atEnd(() => retry(conversation, stop, round, answersTo(round), {}, { ms: LAST_MS }));
}

const LAST_MS = 1000;

/** Sends a request and answers all questions, in either era, until there is a final reply. */
export async function askAndAnswer(
  conversation: CheckConversation,
  stop: WalkthroughStop,
  answer: (question: Question) => JsonObject = answerTo,
  options: CheckRequestOptions = {},
): Promise<Reply> {
  if (conversation.era === 'legacy') {
    conversation.answerWith((frame) => ({ result: answer(toQuestion(membersOf(frame))) }));
    return conversation.request(stop.method, stop.params, options);
  }
  let reply = await conversation.request(stop.method, stop.params, options);
  for (let rounds = 0; rounds < MOST_ROUNDS; rounds++) {
    const round = roundIn(reply);
    if (!round) return reply;
    reply = await retry(conversation, stop, round, answersTo(round, answer));
  }
  return reply;
}

export const MOST_ROUNDS = 10;

/** A conversation whose answers to the server may be changed. They are reset at the end of the check. */
export async function answeringConversation(context: CheckContext): Promise<CheckConversation> {
  const conversation = await context.abuseConversation();
  context.atEnd(() => conversation.answerWith(refuseAll));
  return conversation;
}

/** A short description for reports. */
export function describe(reply: Reply): string {
  switch (reply.kind) {
    case 'silence':
      return `no answer (${reply.why})`;
    case 'error':
      return `error ${reply.error.code}: ${reply.error.message}`;
    case 'result': {
      const round = roundIn(reply);
      if (round) {
        const keys = [...round.questions].map(([key, { method }]) => `${key} (${method})`);
        return keys.length > 0
          ? `another round that asks for ${keys.join(', ')}`
          : 'a round without questions';
      }
      return reply.result['isError'] === true ? 'a result with isError' : 'a complete result';
    }
  }
}

/** Whether the server accepted the request and completed it. */
export function isSuccess(reply: Reply): boolean {
  return reply.kind === 'result' && !roundIn(reply) && reply.result['isError'] !== true;
}
