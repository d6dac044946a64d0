import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { HttpPeer, PeerHttpAnswer } from '../wire/http-peer.js';
import type { Frame } from '../wire/transcript.js';

export interface RestOptions {
  readonly peer: HttpPeer;
  readonly clock: Clock;
  /** What every request of the session has. */
  readonly headers: Readonly<Record<string, string>>;
  /** When to give up. */
  readonly until: number;
  /** Told of every stream that is opened on the way. */
  readonly onStream?: (http: PeerHttpAnswer) => void;
}

/**
 * What is missing of a stream of the legacy era that was let go, or lost, before its response: asked for with
 * Last-Event-ID as often as it takes, after `retry` (LHTTP-012, LHTTP-014).
 */
export async function fetchRest(
  first: PeerHttpAnswer,
  isWanted: (frame: Frame) => boolean,
  { peer, clock, headers, until, onStream }: RestOptions,
): Promise<Frame | undefined> {
  let lastEventId: string | undefined;
  for (let http = first; http.status === 200 && http.isStream; ) {
    lastEventId = http.events.findLast((event) => event.id !== undefined)?.id ?? lastEventId;
    const waitMs = http.retries.at(-1) ?? LEAST_RETRY_MS;
    if (lastEventId === undefined || clock.now() + waitMs >= until) return undefined;
    await new Promise<void>((resolve) => clock.after(waitMs, resolve));
    const asked = peer.request({
      method: 'GET',
      headers: {
        ...headers,
        accept: 'text/event-stream',
        'content-type': undefined,
        'last-event-id': lastEventId,
      },
      ms: Math.max(1, until - clock.now()),
    });
    // Where there is no answer, there is no rest, either.
    const resumed = await asked.catch(() => undefined);
    if (!resumed) return undefined;
    http = resumed;
    onStream?.(http);
    const frame = await http.waitFor(isWanted, Math.max(1, until - clock.now()));
    if (frame) return frame;
  }
  return undefined;
}

const LEAST_RETRY_MS = 50;
