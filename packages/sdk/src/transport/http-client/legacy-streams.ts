import type { Clock } from '../../async/clock.js';
import type { IsthmusError } from '../../errors.js';
import { pause } from './deadline.js';
import type { Delivery } from './delivery.js';
import type { HttpAnswer } from './dispatch.js';
import { lost, networkFailure, statusFailure } from './failures.js';
import type { InFlightRequest } from './in-flight-requests.js';
import type { LegacyClientSession } from './legacy-session.js';
import { mediaType, readAnswer, readSome } from './read-answer.js';
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

/** Where a stream of a legacy session was left, so that it can be taken up again there. */
export class StreamCursor {
  lastEventId: string | undefined;
  retryMs = DEFAULT_RETRY_MS;
  /** How many events have come. */
  events = 0;

  at(id: string | undefined): void {
    this.events += 1;
    if (id !== undefined) this.lastEventId = id === '' ? undefined : id;
  }
}

export interface FollowedStream {
  readonly label: string;
  readonly clock: Clock;
  readonly cursor: StreamCursor;
  readonly signal: AbortSignal;
  /** How often in a row opening it may bring nothing. */
  readonly patience: number;
  /** Whether the first time has to wait, too: the stream was open before. */
  readonly resumes: boolean;
  get(lastEventId: string | undefined): Promise<HttpAnswer>;
  read(answer: HttpAnswer): Promise<void>;
  /** The server has answered for the first time, if only to refuse. */
  onTried?(): void;
  /** What was wanted of it has come. */
  isOver(): boolean;
}

/** Opens a stream of events again and again. Settles when it is over, with the reason if there is a bad one. */
export async function followStream(stream: FollowedStream): Promise<IsthmusError | undefined> {
  const { clock, cursor, signal, label } = stream;
  let barren = 0;
  let wait = stream.resumes;
  while (!stream.isOver() && !signal.aborted) {
    const heard = cursor.events;
    let failure: IsthmusError | undefined;
    try {
      if (wait) await pause(clock, delayOf(cursor.retryMs, barren), signal);
      wait = true;
      const answer = await stream.get(cursor.lastEventId);
      const opened = clock.now();
      const refusal = await refusalOf(label, answer);
      stream.onTried?.();
      if (refusal && !TEMPORARY.has(refusal.status!)) return refusal;
      failure = refusal;
      if (!refusal) await stream.read(answer);
      // It lived for a while: nothing is wrong with opening it.
      if (!refusal && clock.now() - opened >= STEADY_MS) barren = 0;
    } catch (error) {
      stream.onTried?.();
      if (signal.aborted) return undefined;
      failure = networkFailure(error, label);
      if (failure.code === 'RESULT_TOO_LARGE' || failure.code === 'UNAUTHORIZED') return failure;
    }
    barren = cursor.events > heard ? 0 : barren + 1;
    if (barren > stream.patience) return failure ?? lost(`${label} ends its stream without a word`);
  }
  return undefined;
}

async function refusalOf(label: string, answer: HttpAnswer): Promise<IsthmusError | undefined> {
  const { status } = answer;
  if (status === 200 && mediaType(answer.header('content-type')) === 'text/event-stream') return undefined;
  await readSome(answer.body, MAX_BODY_BYTES);
  return statusFailure(label, { status, wwwAuthenticate: answer.header('www-authenticate') });
}

/** What the server asked for, and twice as long each time that it brought nothing. */
function delayOf(retryMs: number, barren: number): number {
  return barren <= 1 ? retryMs : Math.min(Math.max(retryMs, MAX_DELAY_MS), retryMs * 2 ** (barren - 1));
}

const DEFAULT_RETRY_MS = 1000;
const MAX_DELAY_MS = 30_000;
const STEADY_MS = 5000;
const MAX_BODY_BYTES = 16 * 1024;
/** Conflict: the server has not noticed yet that the last stream is gone. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 409, 425, 429, 500, 502, 503, 504]);
