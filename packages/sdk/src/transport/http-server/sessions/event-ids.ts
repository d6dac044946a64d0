import { isRequestId, type RequestId } from '../../../wire/json-rpc.js';

/*
 * The id of an event is `STREAM-NUMBER`; the number rises. In a cluster the stream is `EPOCH.NUMBER`, and the stream of a
 * POST also names the requests that it answers: `EPOCH.NUMBER~REQUESTS`. So a process that takes the session over can
 * answer them with an error, even if the store has lost everything about the stream.
 */

export interface EventId {
  readonly stream: string;
  readonly number: number;
}

export function readEventId(eventId: string): EventId {
  const at = eventId.lastIndexOf('-');
  return { stream: eventId.slice(0, at), number: Number(eventId.slice(at + 1)) };
}

/** The epoch in the id of an event. */
export function epochOf(eventId: string): number {
  const [, epoch] = /^(\d{1,15})\.\d+(?:~[\w-]+)?-\d+$/.exec(eventId) ?? [];
  return epoch === undefined ? Number.POSITIVE_INFINITY : Number(epoch);
}

/** The part of a name that says which requests the stream answers. Empty if their ids are long. */
export function markOf(requests: readonly RequestId[]): string {
  if (requests.length === 0) return '';
  const mark = `~${Buffer.from(JSON.stringify(requests)).toString('base64url')}`;
  return mark.length > MAX_MARK ? '' : mark;
}

/** The requests that the name of a stream says. A client can only write ids of its own requests there. */
export function requestsIn(stream: string): readonly RequestId[] {
  const at = stream.indexOf('~');
  if (at < 0 || stream.length - at > MAX_MARK) return [];
  try {
    const ids: unknown = JSON.parse(Buffer.from(stream.slice(at + 1), 'base64url').toString());
    return Array.isArray(ids) ? ids.filter(isRequestId) : [];
  } catch {
    return [];
  }
}

/** Ids of requests are small numbers, or as long as a UUID. */
const MAX_MARK = 256;
