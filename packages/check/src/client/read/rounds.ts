import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { HeardMessage, Said, View } from './view.js';

/** A result that asks, and what became of it. */
export interface HeardRound {
  readonly request: Said;
  readonly interim: HeardMessage;
  /** The keys of its questions. */
  readonly asked: readonly string[];
  readonly retry: Said | undefined;
}

/** Each interim result, with the call that it answers and the next one of that tool. */
export function roundsIn(view: View): HeardRound[] {
  return view.named('tools/call').flatMap((request) => {
    const interim = view.answerTo(request);
    const result = interim?.message['result'];
    if (!interim || !isJsonObject(result) || result['resultType'] !== 'input_required') return [];
    const retry = view
      .named('tools/call')
      .find(({ index, params }) => index > interim.index && params['name'] === request.params['name']);
    return [{ request, interim, asked: Object.keys(questionsIn(interim)), retry }];
  });
}

export type Retry = HeardRound & { readonly retry: Said; readonly index: number };

export function retriesIn(view: View): Retry[] {
  return roundsIn(view).flatMap((round) =>
    round.retry ? [{ ...round, retry: round.retry, index: round.retry.index }] : [],
  );
}

export function questionsIn({ message }: HeardMessage): JsonObject {
  const asked = (message['result'] as JsonObject)['inputRequests'];
  return isJsonObject(asked) ? asked : {};
}

export function stateIn({ message }: HeardMessage): unknown {
  return (message['result'] as JsonObject)['requestState'];
}

export function responsesIn({ params }: Said): JsonObject {
  return isJsonObject(params['inputResponses']) ? params['inputResponses'] : {};
}
