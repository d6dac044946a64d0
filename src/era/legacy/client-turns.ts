import type { Clock } from '../../async/clock.js';
import { IsthmusError } from '../../errors.js';
import type { RequestId } from '../../wire/json-rpc.js';
import type { QuestionPolicy } from '../voice.js';

/** A call that the server may ask back about, while it runs. */
export interface Turn {
  readonly owner: object;
  /** What is called: `tools/call book_flight`. */
  readonly key: string;
  /** Nobody else may run beside it. From the beginning, or since it has asked. */
  alone: boolean;
  asked: boolean;
}

/** Whose question it is, as far as anybody can know. */
export type Attribution =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'one'; readonly owner: object }
  | { readonly kind: 'several'; readonly count: number };

/**
 * Decides who is meant when a legacy server asks, which the wire does not say: the only voice that has a call in
 * flight which could have led to the question. Calls that are known to ask run alone, so that there is only one.
 */
export class Turns {
  readonly #policy: QuestionPolicy;
  readonly #clock: Clock;
  readonly #running = new Set<Turn>();
  /** Calls in flight per owner, so that the common case looks at one number. */
  readonly #owners = new Map<object, number>();
  readonly #waiting: Waiting[] = [];
  /** Given up, but perhaps still running over there: their questions must not reach somebody else. */
  readonly #lingering = new Map<RequestId, { readonly turn: Turn; readonly until: number }>();
  /** What has asked (for ever), or may have (until it has run alone a few times without asking). */
  readonly #suspects = new Map<string, number>();
  /** Owners who are being asked right now: what they call meanwhile must not wait for others. */
  readonly #answering = new Map<object, number>();

  constructor(policy: QuestionPolicy, clock: Clock) {
    this.#policy = policy;
    this.#clock = clock;
  }

  /** At once, when nobody is in the way. */
  enter(owner: object, key: string): Turn | undefined {
    const alone = this.#runsAlone(key);
    return this.#hasToWait(owner, alone) ? undefined : this.#begin(owner, key, alone);
  }

  /** When it is its turn; the wait counts against the call's own time. */
  wait(
    owner: object,
    key: string,
    { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<Turn> {
    if (this.#waiting.length >= MAX_WAITING) {
      const message = `${this.#waiting.length} calls wait already for their turn to be asked; try again later`;
      return Promise.reject(new IsthmusError('BUSY', message, { sent: 'no' }));
    }
    return new Promise((resolve, reject) => {
      const callOff = this.#clock.after(timeoutMs, () => {
        const message = `${key} waited ${timeoutMs} ms for calls that may ask questions, of other conversations`;
        waiting.end(new IsthmusError('TIMED_OUT', message, { sent: 'no' }));
      });
      const onAbort = () =>
        waiting.end(
          new IsthmusError('CANCELLED', `${key} was called off`, { cause: signal?.reason, sent: 'no' }),
        );
      const settle = () => {
        callOff();
        signal?.removeEventListener('abort', onAbort);
        const at = this.#waiting.indexOf(waiting);
        if (at >= 0) this.#waiting.splice(at, 1);
      };
      const waiting: Waiting = {
        owner,
        key,
        go: (turn) => {
          settle();
          resolve(turn);
        },
        end: (error) => {
          settle();
          reject(error);
          this.#admit();
        },
      };
      this.#waiting.push(waiting);
      if (signal?.aborted) onAbort();
      else signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  leave(turn: Turn): void {
    if (!this.#running.delete(turn)) return;
    const left = this.#owners.get(turn.owner)! - 1;
    if (left > 0) this.#owners.set(turn.owner, left);
    else this.#owners.delete(turn.owner);
    if (turn.alone && !turn.asked) this.#exonerate(turn.key);
    this.#admit();
  }

  /** Given up without an answer. */
  linger(id: RequestId, turn: Turn): void {
    const now = this.#clock.now();
    for (const [old, { until }] of this.#lingering) if (until <= now) this.#lingering.delete(old);
    this.#lingering.set(id, { turn, until: now + LINGER_MS });
  }

  /** An answer came after all: it asks no more. */
  answered(id: RequestId): void {
    this.#lingering.delete(id);
  }

  /** Who may be meant by a question, or by a log line, that comes now. */
  attribute(): Attribution {
    const turns = this.#candidates();
    const owners = new Set(turns.map(({ owner }) => owner));
    if (owners.size === 0) return { kind: 'nobody' };
    const certain = turns.length === 1;
    for (const turn of turns) {
      turn.asked = true;
      // It may ask again, and then, too, it has to be clear who is meant.
      if (owners.size === 1 && this.#policy === 'adaptive') turn.alone = true;
      this.#suspects.set(turn.key, certain ? Number.POSITIVE_INFINITY : this.#suspicion(turn.key));
    }
    const [owner] = owners;
    return owners.size === 1 ? { kind: 'one', owner: owner! } : { kind: 'several', count: owners.size };
  }

  /** Whether a call was given up that may still be running, of somebody other than `owner`. */
  lingersOfOthers(owner: object): boolean {
    const now = this.#clock.now();
    return [...this.#lingering.values()].some(({ turn, until }) => turn.owner !== owner && until > now);
  }

  isAnswering(owner: object): boolean {
    return this.#answering.has(owner);
  }

  answering(owner: object, change: 1 | -1): void {
    const count = (this.#answering.get(owner) ?? 0) + change;
    if (count > 0) this.#answering.set(owner, count);
    else this.#answering.delete(owner);
  }

  /** Those who wait are not going to have their turn. */
  refuse(error: IsthmusError, owner?: object): void {
    for (const waiting of [...this.#waiting]) {
      if (owner === undefined || waiting.owner === owner) waiting.end(error);
    }
  }

  #candidates(): Turn[] {
    const now = this.#clock.now();
    const lingering = [...this.#lingering.values()].filter(({ until }) => until > now);
    return [...this.#running, ...lingering.map(({ turn }) => turn)];
  }

  #runsAlone(key: string): boolean {
    if (this.#policy === 'queue') return true;
    // Looked at last: to find the name in a map costs more than all the rest, and most servers never ask.
    return this.#policy === 'adaptive' && this.#suspects.size > 0 && this.#suspects.has(key);
  }

  #hasToWait(owner: object, alone: boolean): boolean {
    if (this.#owners.size === 0 && this.#waiting.length === 0) return false;
    const others = this.#owners.size > (this.#owners.has(owner) ? 1 : 0);
    if (others && (alone || this.#othersRunAlone(owner))) return true;
    // In the order of arrival; but whoever is being asked would wait for itself.
    return this.#waiting.length > 0 && !this.#answering.has(owner);
  }

  #othersRunAlone(owner: object): boolean {
    for (const turn of this.#running) if (turn.alone && turn.owner !== owner) return true;
    return false;
  }

  #begin(owner: object, key: string, alone: boolean): Turn {
    const turn: Turn = { owner, key, alone, asked: false };
    this.#running.add(turn);
    this.#owners.set(owner, (this.#owners.get(owner) ?? 0) + 1);
    return turn;
  }

  #admit(): void {
    for (;;) {
      // Whoever is being asked would wait for itself behind the others.
      const next = this.#waiting.find(({ owner }) => this.#answering.has(owner)) ?? this.#waiting[0];
      if (!next) return;
      const alone = this.#runsAlone(next.key);
      const others = this.#owners.size > (this.#owners.has(next.owner) ? 1 : 0);
      if (others && (alone || this.#othersRunAlone(next.owner))) return;
      next.go(this.#begin(next.owner, next.key, alone));
    }
  }

  #suspicion(key: string): number {
    return Math.max(this.#suspects.get(key) ?? 0, TRIALS);
  }

  #exonerate(key: string): void {
    const left = (this.#suspects.get(key) ?? 0) - 1;
    if (left > 0) this.#suspects.set(key, left);
    else this.#suspects.delete(key);
  }
}

interface Waiting {
  readonly owner: object;
  readonly key: string;
  go(turn: Turn): void;
  end(error: IsthmusError): void;
}

const MAX_WAITING = 1024;
/** How long a call that was given up may still ask. */
const LINGER_MS = 60_000;
/** How often a suspect has to run alone without asking until it is trusted again. */
const TRIALS = 3;
