import type { ErrorCount, Silence, TurnReport } from './model.js';
import type { BenchFailure } from './request.js';
import { TimeRecord, threeFigures } from './times.js';

/** When a request was due, when it was sent, and when it ended. */
interface Course {
  readonly due: number;
  readonly sent: number;
  readonly over: number;
}

/**
 * The measurements of one target over all its turns. The times include successful requests, and requests that timed out,
 * since otherwise a server would look better by not answering. Refused requests are left out, since a refusal is quick and
 * would make the server look quick.
 */
export class Tally {
  answered = 0;
  failed = 0;
  unsent = 0;
  abandoned = 0;
  elapsedMs = 0;
  readonly latency = new TimeRecord();
  readonly late = new TimeRecord();
  readonly turns: TurnReport[] = [];
  readonly #silence = new SilenceWatch();
  /** Times since requests were sent; absent while that is the time at which they were due. */
  #service: TimeRecord | undefined;
  readonly #errors = new Map<string, { count: number; readonly example: string }>();
  #turnBegan = 0;
  #answeredBefore = 0;

  /** The same record as `latency` if every request was sent when it was due. */
  get service(): TimeRecord {
    return this.#service ?? this.latency;
  }

  get longestSilence() {
    const { longest } = this.#silence;
    return longest && { ...longest, ms: threeFigures(longest.ms), atMs: Math.round(longest.atMs) };
  }

  /** The most frequent first. */
  get errors(): readonly ErrorCount[] {
    return [...this.#errors]
      .map(([kind, { count, example }]) => ({ kind, count, example }))
      .sort((a, b) => b.count - a.count);
  }

  beginTurn(at: number): void {
    this.#turnBegan = at;
    this.#answeredBefore = this.answered;
  }

  /** `lateMs` is for requests that are due at fixed times. */
  asked(due: number, lateMs: number | undefined): void {
    this.#silence.asked(this.#measured(due));
    if (lateMs !== undefined) this.late.add(lateMs);
  }

  settled({ due, sent, over }: Course, failure: BenchFailure | undefined, backlog: number): void {
    const isAnswered = failure === undefined || failure.answered;
    this.#silence.settled(this.#measured(over), isAnswered, backlog);
    if (failure === undefined) this.answered += 1;
    else this.#count(failure);
    if (failure !== undefined && failure.kind !== 'TIMED_OUT') return;
    if (sent !== due) this.#part();
    this.latency.add(over - due);
    this.#service?.add(over - sent);
  }

  /** Due, but not sent until the end. It would have taken at least this long. */
  neverSent(due: number, at: number): void {
    this.unsent += 1;
    this.#part();
    this.latency.add(at - due);
  }

  /** From now on `latency` and `service` differ. */
  #part(): void {
    if (this.#service) return;
    this.#service = new TimeRecord();
    this.#service.addAll(this.latency);
  }

  endTurn(at: number, inFlight: number, backlog: number): void {
    this.abandoned += inFlight;
    this.#silence.over(this.#measured(at), backlog);
    const elapsedMs = at - this.#turnBegan;
    this.elapsedMs += elapsedMs;
    const answered = this.answered - this.#answeredBefore;
    this.turns.push({
      answered,
      elapsedMs: Math.round(elapsedMs),
      perSecond: perSecond(answered, elapsedMs),
    });
  }

  /** The time in the measured time of this target, without the turns of others. */
  #measured(at: number): number {
    return this.elapsedMs + at - this.#turnBegan;
  }

  #count({ kind, example }: BenchFailure): void {
    this.failed += 1;
    const known = this.#errors.get(kind);
    if (known) known.count += 1;
    else this.#errors.set(kind, { count: 1, example });
  }
}

export function perSecond(count: number, ms: number): number {
  return ms > 0 ? Number(((count * 1000) / ms).toPrecision(4)) : 0;
}

/** Records the longest time without an answer while requests were in flight. */
export class SilenceWatch {
  #longest: Silence | null = null;
  #since = 0;
  #awaited = 0;

  get longest(): Silence | null {
    return this.#longest;
  }

  /** A request is in flight from that time on. */
  asked(at: number): void {
    if (this.#awaited === 0) this.#since = at;
    this.#awaited += 1;
  }

  /** A request has settled. Only an answer of the server ends the silence. `more` requests are due but not sent. */
  settled(at: number, isAnswered: boolean, more: number): void {
    this.#note(at, more);
    if (isAnswered) this.#since = at;
    this.#awaited -= 1;
  }

  /** The measurement is over. Missing answers are no longer awaited. */
  over(at: number, more: number): void {
    if (this.#awaited > 0) this.#note(at, more);
    this.#awaited = 0;
  }

  #note(at: number, more: number): void {
    const ms = at - this.#since;
    if (ms <= (this.#longest?.ms ?? 0)) return;
    this.#longest = { ms, atMs: this.#since, waiting: this.#awaited + more };
  }
}
