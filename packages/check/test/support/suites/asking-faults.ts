import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckOptions } from '../../../src/index.js';
import { answering, changing, type Passing } from './altered.js';
import type { Middle } from './mutant.js';

/** For mutants of one era, and of a few tools: the others are not even looked at. */
export function inEra(era: Era, visit: readonly string[], more: CheckOptions = {}) {
  return { era, options: { eras: [era], visit, ...more } };
}

/** Tools of the demo that ask: the user, the model, for roots, and for all of it. */
const ASKING = [
  'test_sampling',
  'test_elicitation',
  'test_url_elicitation',
  'test_roots',
  'test_input_required_result_multiple_inputs',
];
export const ASKING_MODERN = inEra('modern', ASKING);
export const ASKING_LEGACY = inEra('legacy', ASKING);

/** The demo, but for its results that ask back. */
export function changingRounds(change: (result: JsonObject) => JsonObject): () => Middle {
  return changing((answer) =>
    isRound(answer['result']) ? { ...answer, result: change(answer['result']) } : undefined,
  );
}

export function isRound(result: unknown): result is JsonObject {
  return isJsonObject(result) && result['resultType'] === 'input_required';
}

/** The demo, but for what it asks: in rounds, and in requests of its own. */
export function changingQuestions(method: string, change: (params: JsonObject) => JsonObject): () => Middle {
  const changed = (question: unknown): unknown =>
    isJsonObject(question) && question['method'] === method
      ? { ...question, params: change(objectOf(question['params'])) }
      : question;
  return () => ({
    outgoing(message) {
      if (message['method'] === method) return changed(message) as JsonObject;
      const result = message['result'];
      if (!isRound(result)) return message;
      const questions = Object.entries(objectOf(result['inputRequests']));
      const inputRequests = Object.fromEntries(questions.map(([key, value]) => [key, changed(value)]));
      return { ...message, result: { ...result, inputRequests } };
    },
  });
}

/** The demo, but for retries: requests that bring answers. Nothing returned lets one pass. */
export function answeringRetries(
  answer: (
    answers: JsonObject,
    retry: Passing,
  ) => { readonly result: JsonObject } | { readonly error: unknown } | undefined,
): () => Middle {
  return answering((request) => {
    const answers = request.params['inputResponses'];
    return answers === undefined ? undefined : answer(objectOf(answers), request);
  });
}

export const REFUSED = { error: { code: -32602, message: 'no' } };
export const BROKEN = { error: { code: -32603, message: 'oops' } };
export const DONE = { result: { resultType: 'complete', content: [], messages: [] } };

/** Requests of the referee, with other params. */
export function asking(change: (params: JsonObject, method: string) => JsonObject): () => Middle {
  return () => ({
    incoming(message) {
      const { method, params } = message;
      if (typeof method !== 'string' || message['id'] === undefined) return message;
      return { ...message, params: change(objectOf(params), method) };
    },
  });
}

/** The demo, but for its notifications: with what becomes of each. Nothing returned swallows it. */
export function telling(
  change: (message: JsonObject, method: string) => JsonObject | readonly JsonObject[] | undefined,
): () => Middle {
  return () => ({
    outgoing: (message) =>
      typeof message['method'] === 'string' && message['id'] === undefined
        ? change(message, message['method'])
        : message,
  });
}

export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Params of a notification, changed. */
export function withParams(message: JsonObject, change: JsonObject): JsonObject {
  return { ...message, params: { ...objectOf(message['params']), ...change } };
}

/** Short limits, for faults that show as silence. */
export const HASTY = { helloMs: 10_000, answerMs: 1000, quietMs: 50, checkMs: 10_000 };

/** The first connection is without fault, so that the walkthrough does not wait for what never comes. */
export function afterTheWalkthrough(fault: () => Middle): () => Middle {
  let connections = 0;
  return () => (connections++ === 0 ? {} : fault());
}
