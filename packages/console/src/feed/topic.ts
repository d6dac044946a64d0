import type { FeedEvents } from '../contract.js';

/** One event for the page. Events with the same key replace each other until they are sent. */
export interface FeedEvent<Name extends keyof FeedEvents = keyof FeedEvents> {
  readonly name: Name;
  readonly data: FeedEvents[Name];
  readonly key?: string | undefined;
}

/** What a feed can be asked for, except rows: the present state, then the changes. */
export interface FeedTopic {
  now(): readonly FeedEvent[];
  watch(tell: (event: FeedEvent) => void): () => void;
}

export function eventOf<Name extends keyof FeedEvents>(
  name: Name,
  data: FeedEvents[Name],
  key?: string | number,
): FeedEvent {
  return { name, data, ...(key !== undefined && { key: `${name} ${key}` }) };
}
