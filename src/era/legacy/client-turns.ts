import type { Clock } from '../../async/clock.js';
import type { IsthmusError } from '../../errors.js';
import type { Behalf } from '../../exchange/call.js';
import type { Cancellation } from '../../exchange/lazy-abort.js';
import type { RequestId } from '../../wire/json-rpc.js';
import type { QuestionPolicy } from '../voice.js';
import { AskingHabits } from './asking-habits.js';
import { type Waiting, WaitingLine } from './waiting-line.js';

/** A call that the server may ask back about, while it runs. */
export interface Turn {
  /** Who is asked: whoever speaks, or whom it speaks for. */
  readonly owner: object;
  readonly speaker: object;
  readonly behalf: Behalf | undefined;
  /** What is called: `tools/call book_flight`. */
  readonly key: string;
  /** Nobody else may run beside it. */
  alone: boolean;
  /** How often it has asked, and how many of its questions are open. */
  asked: number;
  open: number;
  /** It waits for an answer and asks nothing meanwhile: others may run. */
  away: boolean;
  /** Calls off the moment in which it counts as away. */
  callOff: (() => void) | undefined;
}

/** Whose question it is, as far as anybody can know. */
export type Attribution =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'one'; readonly turn: Turn }
  | { readonly kind: 'several'; readonly count: number };

/**
 * Decides who is meant when a legacy server asks, which the wire does not say: the only owner that has a call in
 * flight which could have led to the question. Calls that are known to ask run alone until they have asked; while
 * they wait for the answer, which may take a person minutes, others run.
 */
export class Turns {
  readonly #policy: QuestionPolicy;
  readonly #clock: Clock;
  readonly #running = new Set<Turn>();
  /** Calls per owner that may ask now, so that the common case looks at one number. */
  readonly #present = new Map<object, number>();
  readonly #line: WaitingLine;
  /** Given up, but perhaps still running over there: their questions must not reach somebody else. */
  readonly #lingering = new Map<RequestId, { readonly turn: Turn; readonly until: number }>();
  readonly #habits = new AskingHabits();
  /** Owners who are being asked right now: what they call meanwhile must not wait for others. */
  readonly #answering = new Map<object, number>();
  /** Told once, when it may have become clear who is meant. */
  #onChange: (() => void)[] = [];

  constructor(policy: QuestionPolicy, clock: Clock) {
    this.#policy = policy;
    this.#clock = clock;
    this.#line = new WaitingLine(clock, () => this.#admit());
  }

  /** At once, when nobody is in the way. */
  enter(speaker: object, key: string, behalf?: Behalf): Turn | undefined {
    const owner = behalf?.owner ?? speaker;
    const alone = this.#runsAlone(key);
    return this.#hasToWait(owner, alone) ? undefined : this.#begin(speaker, behalf, key, alone);
  }

  /** When it is its turn; the wait counts against the call's own time. */
  wait(
    speaker: object,
    key: string,
    patience: { readonly timeoutMs: number; readonly signal?: Cancellation | undefined },
    behalf?: Behalf,
  ): Promise<Turn> {
    const owner = behalf?.owner ?? speaker;
    const { timeoutMs, signal } = patience;
    return this.#line.join<Turn>({ owner, speaker, what: key, timeoutMs, signal }, (go) => {
      const alone = this.#runsAlone(key);
      if (this.#blocks(owner, alone)) return false;
      go(this.#begin(speaker, behalf, key, alone));
      return true;
    });
  }

  leave(turn: Turn): void {
    if (!this.#running.delete(turn)) return;
    turn.callOff?.();
    if (!turn.away) this.#absent(turn);
    if (turn.alone && turn.asked === 0) this.#habits.exonerate(turn.key);
    this.#changed();
  }

  /** Given up without an answer. */
  linger(id: RequestId, turn: Turn): void {
    const now = this.#clock.now();
    for (const [old, { until }] of this.#lingering) if (until <= now) this.#lingering.delete(old);
    this.#lingering.set(id, { turn, until: now + this.#lingerMs(turn) });
  }

  /** An answer came after all: it asks no more. */
  answered(id: RequestId): void {
    if (this.#lingering.delete(id)) this.#changed();
  }

  /** Who may be meant by a question that comes now. */
  attribute(): Attribution {
    const present = this.#candidates();
    // Those who wait for an answer are meant only when nobody else can be.
    const turns = present.length > 0 ? present : [...this.#running];
    const owners = new Set(turns.map(({ owner }) => owner));
    if (owners.size === 0) return { kind: 'nobody' };
    for (const { key } of turns) this.#habits.hasAsked(key, turns.length === 1);
    if (owners.size > 1) return { kind: 'several', count: owners.size };
    return { kind: 'one', turn: likeliest(turns) };
  }

  /** Settles when somebody who could have been meant no longer can be. */
  change(): Promise<void> {
    const now = this.#clock.now();
    const ends = [...this.#lingering.values()].map(({ until }) => until).filter((until) => until > now);
    return new Promise((resolve) => {
      const callOff =
        ends.length > 0
          ? this.#clock.after(Math.min(...ends) - now, resolve, { background: true })
          : undefined;
      this.#onChange.push(() => {
        callOff?.();
        resolve();
      });
    });
  }

  /** The owner of a call is being asked about it. */
  asking(turn: Turn): void {
    turn.asked += 1;
    turn.open += 1;
    if (turn.open > 1) this.#habits.hasAskedSeveral(turn.key);
    else if (turn.asked > 1) this.#habits.hasAskedAgain(turn.key);
    if (this.#policy === 'adaptive') turn.alone = true;
    // Questions that belong together come together; what comes later is most likely another's.
    if (turn.open === 1) turn.callOff = this.#clock.after(QUIET_MS, () => this.#goAway(turn));
  }

  /** The answer is there. Settles when it can be given to the server: what it asks next has to be clear, too. */
  async comeBack(turn: Turn, patience: { readonly signal: AbortSignal }): Promise<void> {
    turn.open -= 1;
    if (turn.open > 0) return;
    turn.callOff?.();
    const { key, owner, speaker } = turn;
    const alone = this.#policy === 'queue' || this.#habits.asksAgain(key) || this.#habits.asksSeveral(key);
    if (!turn.away) {
      turn.alone = turn.alone && alone;
      return;
    }
    const back = () => {
      if (!this.#running.has(turn)) return true;
      if (this.#blocks(owner, alone)) return false;
      turn.away = false;
      turn.alone = alone;
      this.#present.set(owner, (this.#present.get(owner) ?? 0) + 1);
      return true;
    };
    if (back()) return;
    const { signal } = patience;
    const waiting = { owner, speaker, what: key, timeoutMs: Number.POSITIVE_INFINITY, signal, first: true };
    await this.#line.join<void>(waiting, (go) => {
      const isBack = back();
      if (isBack) go();
      return isBack;
    });
  }

  /** Whether a call was given up that may still be running, of somebody other than `speaker`. */
  lingersOfOthers(speaker: object): boolean {
    const now = this.#clock.now();
    return [...this.#lingering.values()].some(({ turn, until }) => turn.speaker !== speaker && until > now);
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
  refuse(error: IsthmusError, speaker?: object): void {
    this.#line.refuse(error, speaker);
    for (const turn of this.#running) if (speaker === undefined || turn.speaker === speaker) turn.callOff?.();
  }

  /** Where calls are made for others, cancelling is an everyday thing, and one client must not hold up all the others. */
  #lingerMs({ behalf, key }: Turn): number {
    if (!behalf) return LINGER_MS;
    return this.#habits.asks(key) ? ASKER_LINGER_MS : BEHALF_LINGER_MS;
  }

  #goAway(turn: Turn): void {
    if (turn.open === 0 || turn.away || !this.#running.has(turn)) return;
    if (this.#policy !== 'adaptive' || this.#habits.asksSeveral(turn.key)) return;
    turn.away = true;
    this.#absent(turn);
    this.#changed();
  }

  #absent({ owner }: Turn): void {
    const left = this.#present.get(owner)! - 1;
    if (left > 0) this.#present.set(owner, left);
    else this.#present.delete(owner);
  }

  #changed(): void {
    for (const notify of this.#onChange.splice(0)) notify();
    this.#admit();
  }

  #candidates(): Turn[] {
    const now = this.#clock.now();
    const lingering = [...this.#lingering.values()].filter(({ until }) => until > now);
    return [...this.#running].filter(({ away }) => !away).concat(lingering.map(({ turn }) => turn));
  }

  #runsAlone(key: string): boolean {
    if (this.#policy === 'queue') return true;
    return this.#policy === 'adaptive' && !this.#habits.isEmpty && this.#habits.asks(key);
  }

  #hasToWait(owner: object, alone: boolean): boolean {
    if (this.#present.size === 0 && this.#line.isEmpty) return false;
    if (this.#blocks(owner, alone)) return true;
    // In the order of arrival; but whoever is being asked would wait for itself.
    return !this.#line.isEmpty && !this.#answering.has(owner);
  }

  /** Whether a call of this owner would have to share with somebody who must be alone, or must be so itself. */
  #blocks(owner: object, alone: boolean): boolean {
    const others = this.#present.size > (this.#present.has(owner) ? 1 : 0);
    return others && (alone || this.#othersRunAlone(owner));
  }

  #othersRunAlone(owner: object): boolean {
    for (const turn of this.#running) if (turn.alone && !turn.away && turn.owner !== owner) return true;
    return false;
  }

  #begin(speaker: object, behalf: Behalf | undefined, key: string, alone: boolean): Turn {
    const owner = behalf?.owner ?? speaker;
    const turn: Turn = {
      owner,
      speaker,
      behalf,
      key,
      alone,
      asked: 0,
      open: 0,
      away: false,
      callOff: undefined,
    };
    this.#running.add(turn);
    this.#present.set(owner, (this.#present.get(owner) ?? 0) + 1);
    return turn;
  }

  #admit(): void {
    // Whoever is being asked would wait for itself behind the others.
    this.#line.admit((waiting: Waiting) => this.#answering.has(waiting.owner));
  }
}

/** How long a call that was given up may still ask. */
const LINGER_MS = 60_000;
const ASKER_LINGER_MS = 5000;
const BEHALF_LINGER_MS = 1000;
/** How long after a question others have to wait for what else it asks. */
const QUIET_MS = 50;

/** Which of the calls of one owner it belongs to: one that has not asked, the latest of those. */
function likeliest(turns: readonly Turn[]): Turn {
  const fewest = Math.min(...turns.map(({ asked }) => asked));
  return turns.findLast(({ asked, open }) => asked === fewest && open === 0) ?? turns.at(-1)!;
}
