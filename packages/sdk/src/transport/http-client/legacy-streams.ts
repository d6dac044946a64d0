import type { Clock } from '../../async/clock.js';
import type { Delivery } from './delivery.js';
import { lost } from './failures.js';
import { followStream, StreamCursor } from './follow-stream.js';
import type { InFlightRequest } from './in-flight-request.js';
import type { LegacyClientSession } from './legacy-session.js';
import { readAnswer } from './read-answer.js';
import type { RetryingHttp } from './retrying-http.js';

/** Where the streams of a legacy session come from. */
export interface StreamSource {
  readonly asker: RetryingHttp;
  readonly url: URL;
  readonly clock: Clock;
  readonly session: LegacyClientSession;
  readonly delivery: Delivery;
}

/** The rest of an answer comes on a GET that says what was heard last (LHTTP-022). */
export async function resumeAnswer(
  source: StreamSource,
  flight: InFlightRequest,
  cursor: StreamCursor,
): Promise<void> {
  const { asker, clock, delivery } = source;
  const { signal } = flight;
  const failure = await followStream({
    label: asker.label,
    clock,
    cursor,
    signal,
    patience: MAX_BARREN,
    resumes: true,
    get: (lastEventId) => get(source, lastEventId, signal),
    read: async (answer) => void (await readAnswer(answer, delivery.reading(flight, cursor))),
    isOver: () => !flight.live,
  });
  if (failure) throw lost(`The answer to ${flight.request.method} broke off: ${failure.message}`, failure);
}

export interface StandingStream {
  readonly signal: AbortSignal;
  /** It was opened, or is not to be had; or that may take long. */
  onTried(): void;
  /** The server no longer knows the session. */
  onLost(): void;
  warn(warning: string): void;
}

/** The standing stream, for what belongs to no request. A server need not have one (LHTTP-016). */
export async function keepStanding(source: StreamSource, standing: StandingStream): Promise<void> {
  const { asker, clock, session, delivery } = source;
  const { signal, onTried } = standing;
  const cursor = new StreamCursor();
  let stood = false;
  const failure = await followStream({
    label: asker.label,
    clock,
    cursor,
    signal,
    patience: Number.POSITIVE_INFINITY,
    resumes: false,
    get: (lastEventId) => get(source, lastEventId, signal),
    read: async (answer) => {
      stood = true;
      await readAnswer(answer, delivery.reading(undefined, cursor));
    },
    onTried,
    isOver: () => false,
  });
  if (failure?.status === 404) {
    // Where there never was one, that is another way to say 405.
    if (stood && session.hasId) standing.onLost();
  } else if (failure && failure.status !== 405) {
    standing.warn(`there is no stream for what the server says by itself: ${failure.message}`);
  }
}

function get({ asker, url, session }: StreamSource, lastEventId: string | undefined, signal: AbortSignal) {
  const headers = {
    accept: 'text/event-stream',
    ...session.headers,
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  };
  return asker.ask({ method: 'GET', url, headers, signal });
}

/** How often in a row taking up a stream may bring nothing. */
const MAX_BARREN = 5;
