import { isDeepStrictEqual } from 'node:util';
import type { Event } from './clients/witness.js';
import type { Played } from './script.js';

/** Something that a client notices only without the bridge, or only with it, or differently. */
export interface Difference {
  readonly step: string;
  readonly path: string;
  readonly direct: unknown;
  readonly bridged: unknown;
}

/**
 * What two runs do not have in common. Where `ordered` is true all that happens comes in one order; otherwise only
 * what is of one kind does, as over HTTP, where things may come on several streams. News (changes of lists and
 * resources) belong to no request: that they stand elsewhere is a difference of its own.
 */
export function compare(direct: Played, bridged: Played, ordered: boolean): Difference[] {
  const view = (events: readonly Event[]) => (ordered ? inOrder(events) : byKind(events));
  return Object.keys(bridged).flatMap((step) =>
    differ(view(direct[step]!), view(bridged[step]!), '').map((found) => ({ step, ...found })),
  );
}

function inOrder(events: readonly Event[]): object {
  const rest = events.filter((event) => !isNews(event));
  const news = withoutRepeats(events).filter(isNews);
  if (news.length === 0) return { ...rest };
  return { ...rest, news: byKind(news), place: withoutRepeats(events).map(isNews) };
}

/** The same news twice in a row are no more than once. */
function withoutRepeats(events: readonly Event[]): readonly Event[] {
  return events.filter((event, at) => !isNews(event) || !isDeepStrictEqual(event, events[at - 1]));
}

function byKind(events: readonly Event[]): Record<string, unknown[]> {
  const kinds: Record<string, unknown[]> = {};
  for (const event of withoutRepeats(events)) {
    for (const [kind, value] of Object.entries(event)) {
      const { method } = (value ?? {}) as { method?: unknown };
      const name = kind === 'told' || kind === 'message' ? `${kind} ${String(method)}` : kind;
      kinds[name] = [...(kinds[name] ?? []), value];
    }
  }
  return kinds;
}

/** Our own client calls them changes. */
function isNews(event: Event): boolean {
  const { method } = Object.values(event)[0] as { method?: string };
  return method === 'change' || /^notifications\/.*(list_changed|updated)$/.test(method ?? '');
}

function differ(direct: unknown, bridged: unknown, path: string): Omit<Difference, 'step'>[] {
  if (isDeepStrictEqual(direct, bridged)) return [];
  if (!isContainer(direct) || !isContainer(bridged) || Array.isArray(direct) !== Array.isArray(bridged)) {
    return [{ path, direct, bridged }];
  }
  const keys = new Set([...Object.keys(direct), ...Object.keys(bridged)]);
  return [...keys].flatMap((key) => differ(direct[key], bridged[key], path ? `${path}.${key}` : key));
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
