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

export interface LegacyStreamsOptions {
  readonly http: RetryingHttp;
  readonly url: URL;
  readonly clock: Clock;
  readonly session: LegacyClientSession;
  readonly delivery: Delivery;
}

export interface StandingStream {
  readonly signal: AbortSignal;
  /** Called when the server has answered the first attempt, or the attempt failed. */
  onTried(): void;
  /** Called when the server no longer knows the session. */
  onLost(): void;
  warn(warning: string): void;
}

/** The GET streams of a legacy session. */
export class LegacyStreams {
  readonly #options: LegacyStreamsOptions;

  constructor(options: LegacyStreamsOptions) {
    this.#options = options;
  }

  /** Reads the rest of an answer with a GET that names the last event (LHTTP-022). */
  async resumeAnswer(request: InFlightRequest, cursor: StreamCursor): Promise<void> {
    const { http, clock, delivery } = this.#options;
    const { signal } = request;
    const failure = await followStream({
      label: http.label,
      clock,
      cursor,
      signal,
      maxFruitless: MAX_FRUITLESS,
      isResumed: true,
      get: (lastEventId) => this.#get(lastEventId, signal),
      read: async (answer) => void (await readAnswer(answer, delivery.reading(request, cursor))),
      isOver: () => !request.isPending,
    });
    if (failure) throw lost(`The answer to ${request.method} was interrupted: ${failure.message}`, failure);
  }

  /** Keeps the standing stream open, for messages that belong to no request. A server need not have one (LHTTP-016). */
  async keepStanding(standing: StandingStream): Promise<void> {
    const { http, clock, session, delivery } = this.#options;
    const { signal, onTried } = standing;
    const cursor = new StreamCursor();
    let wasOpen = false;
    const failure = await followStream({
      label: http.label,
      clock,
      cursor,
      signal,
      maxFruitless: Number.POSITIVE_INFINITY,
      isResumed: false,
      get: (lastEventId) => this.#get(lastEventId, signal),
      read: async (answer) => {
        wasOpen = true;
        await readAnswer(answer, delivery.reading(undefined, cursor));
      },
      onTried,
      isOver: () => false,
    });
    if (failure?.status === 404) {
      // From a server that never had a standing stream, 404 means the same as 405.
      if (wasOpen && session.hasId) standing.onLost();
    } else if (failure && failure.status !== 405) {
      standing.warn(`the stream for messages of the server could not be opened: ${failure.message}`);
    }
  }

  #get(lastEventId: string | undefined, signal: AbortSignal): Promise<HttpAnswer> {
    const { http, url, session } = this.#options;
    const headers = {
      accept: 'text/event-stream',
      ...session.headers,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    };
    return http.send({ method: 'GET', url, headers, signal });
  }
}

/** The position in a stream of a legacy session, from which it can be resumed. */
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

interface FollowedStream {
  readonly label: string;
  readonly clock: Clock;
  readonly cursor: StreamCursor;
  readonly signal: AbortSignal;
  /** How many attempts in a row may bring no event. */
  readonly maxFruitless: number;
  /** The stream was open before, so the first attempt waits as well. */
  readonly isResumed: boolean;
  get(lastEventId: string | undefined): Promise<HttpAnswer>;
  read(answer: HttpAnswer): Promise<void>;
  onTried?(): void;
  /** Nothing more is expected of the stream. */
  isOver(): boolean;
}

/** Reopens a stream of events until it is over. Settles with the failure, if that is why it is over. */
async function followStream(stream: FollowedStream): Promise<IsthmusError | undefined> {
  const { clock, cursor, signal, label } = stream;
  let fruitless = 0;
  let wait = stream.isResumed;
  while (!stream.isOver() && !signal.aborted) {
    const eventsBefore = cursor.events;
    let failure: IsthmusError | undefined;
    try {
      if (wait) await pause(clock, delayOf(cursor.retryMs, fruitless), signal);
      wait = true;
      const answer = await stream.get(cursor.lastEventId);
      const opened = clock.now();
      const refusal = await refusalOf(label, answer);
      stream.onTried?.();
      if (refusal && !TEMPORARY.has(refusal.status!)) return refusal;
      failure = refusal;
      if (!refusal) await stream.read(answer);
      // A stream that stayed open for a while was opened successfully, with or without events.
      if (!refusal && clock.now() - opened >= STEADY_MS) fruitless = 0;
    } catch (error) {
      stream.onTried?.();
      if (signal.aborted) return undefined;
      failure = networkFailure(error, label);
      if (failure.code === 'RESULT_TOO_LARGE' || failure.code === 'UNAUTHORIZED') return failure;
    }
    fruitless = cursor.events > eventsBefore ? 0 : fruitless + 1;
    if (fruitless > stream.maxFruitless)
      return failure ?? lost(`${label} ends its stream without sending an event`);
  }
  return undefined;
}

async function refusalOf(label: string, answer: HttpAnswer): Promise<IsthmusError | undefined> {
  const { status } = answer;
  if (status === 200 && mediaType(answer.header('content-type')) === 'text/event-stream') return undefined;
  await readSome(answer.body, MAX_BODY_BYTES);
  return statusFailure(label, { status, wwwAuthenticate: answer.header('www-authenticate') });
}

/** The delay that the server asked for, doubled with each fruitless attempt after the first. */
function delayOf(retryMs: number, fruitless: number): number {
  return fruitless <= 1 ? retryMs : Math.min(Math.max(retryMs, MAX_DELAY_MS), retryMs * 2 ** (fruitless - 1));
}

const MAX_FRUITLESS = 5;
const DEFAULT_RETRY_MS = 1000;
const MAX_DELAY_MS = 30_000;
const STEADY_MS = 5000;
const MAX_BODY_BYTES = 16 * 1024;
/** 409: the server has not noticed yet that the previous stream is gone. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 409, 425, 429, 500, 502, 503, 504]);
