import type { Clock } from '../../async/clock.js';
import type { IsthmusError } from '../../errors.js';
import { mediaType, readSome } from './bodies.js';
import type { HttpAnswer } from './dispatch.js';
import { lost, networkFailure, statusFailure } from './failures.js';
import { pause } from './pause.js';

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
