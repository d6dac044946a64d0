import type { Clock } from '../../async/clock.js';
import { LiveSet } from '../../async/live-set.js';
import type { IsthmusError } from '../../errors.js';
import type { Behalf } from '../../exchange/call.js';
import type { Cancellation } from '../../exchange/lazy-abort.js';
import type { RequestId } from '../../wire/json-rpc.js';
import type { QuestionPolicy } from '../voice.js';
import { AskingHabits } from './asking-habits.js';
import { GivenUpCalls } from './given-up-calls.js';
import {
  type Attributed,
  type Attribution,
  likeliest,
  type OpenQuestion,
  type Turn,
  type Unclear,
} from './turn.js';
import { type Waiting, WaitingLine } from './waiting-line.js';

export type { Turn } from './turn.js';

/**
 * Decides who is meant when a legacy server asks, which the wire does not say: the only owner that has a call in
 * flight which could have led to the question. Calls that are known to ask run alone until they have asked; while
 * they wait for the answer, which may take a person minutes, others run.
 */
export class Turns {
  readonly #policy: QuestionPolicy;
  readonly #clock: Clock;
  readonly #running = new LiveSet<Turn>();
  /** How many have begun. */
  #begun = 0;
  readonly #line: WaitingLine;
  /** Their questions must not reach somebody else. */
  readonly #givenUp: GivenUpCalls<Turn>;
  #givenUpCount = 0;
  readonly #habits = new AskingHabits();
  /** Owners who are being asked right now: what they call meanwhile must not wait for others. */
  readonly #answering = new Map<object, number>();
  /** Questions of which it is not clear whose they are; each looks whether it has become so. */
  readonly #unclear = new Set<() => void>();

  constructor(policy: QuestionPolicy, clock: Clock) {
    this.#policy = policy;
    this.#clock = clock;
    this.#line = new WaitingLine(clock, () => this.#admit());
    this.#givenUp = new GivenUpCalls(clock, CLARITY_MS);
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
    if (turn.alone && turn.asked === 0) this.#habits.exonerate(turn.key);
    this.#changed();
  }

  /** Given up without an answer. */
  linger(id: RequestId, turn: Turn): void {
    this.#givenUpCount += 1;
    turn.givenUp = this.#givenUpCount;
    this.#givenUp.add(id, turn, this.#lingerMs(turn));
    // Perhaps it was this one that waited, and not the one that was taken for it.
    for (const other of this.#running.values()) if (other.owner === turn.owner && !other.sure) stay(other);
  }

  /** An answer came after all: it asks no more. */
  answered(id: RequestId): void {
    const turn = this.#givenUp.remove(id);
    if (!turn) return;
    turn.givenUp = undefined;
    this.#changed();
  }

  /** Who may be meant by a question that comes now, or still by an earlier one. */
  attribute(earlier?: Unclear): Attribution {
    const turns = earlier
      ? earlier.turns.filter((turn) => this.#mayHaveAsked(turn, earlier.givenUp))
      : this.#suspects();
    const givenUp = earlier?.givenUp ?? this.#givenUpCount;
    const owners = new Set(turns.map(({ owner }) => owner));
    if (owners.size === 0) return { kind: 'nobody' };
    if (owners.size > 1) return { kind: 'several', givenUp, count: owners.size, turns };
    // Whoever is asked is the same, but can be only through a call that runs.
    const running = turns.filter((turn) => this.#running.has(turn));
    const likely = running.length > 0 ? running : turns;
    return { kind: 'one', turn: likeliest(likely), turns: likely };
  }

  /**
   * Settles when it is clear which of them has asked, or when that has taken too long. Whatever ends meanwhile was
   * not it, since that waits for the answer; nor was what begins meanwhile.
   */
  clarify(unclear: Unclear, signal: AbortSignal): Promise<Attribution> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.#unclear.has(look) && this.attribute(unclear).kind !== 'several') end();
      };
      const end = () => {
        this.#unclear.delete(look);
        for (const callOff of timers) callOff();
        signal.removeEventListener('abort', end);
        resolve(this.attribute(unclear));
      };
      const timers = this.#givenUp.ends().map((ms) => this.#clock.after(ms, look, { background: true }));
      timers.push(this.#clock.after(CLARITY_MS, end));
      signal.addEventListener('abort', end, { once: true });
      this.#unclear.add(look);
    });
  }

  /** It could not be found out which of these has asked. Those that were given up are to blame for nothing. */
  suspect({ turns }: Unclear): void {
    const running = turns.filter((turn) => this.#running.has(turn));
    if (new Set(running.map(({ owner }) => owner)).size < 2) return;
    for (const { key } of running) this.#habits.hasAsked(key, false);
  }

  /** The owner of a call is being asked about it. */
  asking({ turn, turns }: Attributed): OpenQuestion {
    turn.asked += 1;
    turn.open += 1;
    turn.sure = turns.length === 1 && !this.#hasGivenUp(turn.owner);
    if (this.#running.has(turn)) {
      for (const { key } of turns) this.#habits.hasAsked(key, turn.sure);
      if (turn.open > 1) this.#habits.hasAskedSeveral(turn.key);
      else if (turn.asked > 1) this.#habits.hasAskedAgain(turn.key);
      if (this.#policy === 'adaptive') this.#keepOthersOff(turn);
    }
    return { turn, isOver: false };
  }

  /** The answer is there. Settles when it can be given to the server: what it asks next has to be clear, too. */
  async comeBack(question: OpenQuestion, patience: { readonly signal: AbortSignal }): Promise<void> {
    const { turn } = question;
    const { key, owner, speaker } = turn;
    const mustWait = () =>
      !question.isOver && turn.away && this.#running.has(turn) && this.#blocks(owner, this.#asksOn(turn));
    if (mustWait()) {
      const { signal } = patience;
      const waiting = { owner, speaker, what: key, timeoutMs: Number.POSITIVE_INFINITY, signal, first: true };
      await this.#line.join<void>(waiting, (go) => {
        if (mustWait()) return false;
        go();
        this.over(question);
        return true;
      });
    } else this.over(question);
  }

  /** The server goes on with the call: it gets its answer now, or has taken the question back. Twice is harmless. */
  over(question: OpenQuestion): void {
    if (question.isOver) return;
    question.isOver = true;
    const { turn } = question;
    turn.open -= 1;
    if (turn.open > 0) return;
    const hasRunAlone = turn.alone && !turn.away;
    turn.alone = turn.alone && this.#asksOn(turn);
    stay(turn);
    if (hasRunAlone && !turn.alone) this.#admit();
  }

  /** Whether a call was given up that may still be running, of somebody other than `speaker`. */
  lingersOfOthers(speaker: object): boolean {
    return this.#givenUp.all().some((turn) => turn.speaker !== speaker);
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
    for (const turn of this.#running.values())
      if (speaker === undefined || turn.speaker === speaker) turn.callOff?.();
  }

  /** Where calls are made for others, cancelling is an everyday thing, and one client must not hold up all the others. */
  #lingerMs({ behalf, key, asked }: Turn): number {
    if (!behalf) return LINGER_MS;
    if (!this.#habits.surelyAsks(key)) return 0;
    // One that was given up before it asked may have been about to; a question that crosses that is refused.
    return asked === 0 ? CROSSING_LINGER_MS : BEHALF_LINGER_MS;
  }

  #keepOthersOff(turn: Turn): void {
    turn.alone = true;
    // Questions that belong together come together; what comes later is most likely another's.
    if (turn.open === 1) turn.callOff = this.#clock.after(QUIET_MS, () => this.#goAway(turn));
    else turn.away = false;
  }

  #goAway(turn: Turn): void {
    if (turn.open === 0 || turn.away || !this.#running.has(turn)) return;
    if (this.#habits.asksSeveral(turn.key) || !this.#mayGoAway(turn)) return;
    turn.away = true;
    this.#changed();
  }

  /**
   * No more calls of an owner may be away than are sure to wait. Where its calls could have been confused, one of
   * them is sure to; where it was perhaps one that was given up, none.
   */
  #mayGoAway(turn: Turn): boolean {
    for (const { owner, away, sure } of this.#running.values())
      if (owner === turn.owner && away && !sure) return false;
    return turn.sure || !this.#hasGivenUp(turn.owner);
  }

  #hasGivenUp(owner: object): boolean {
    return this.#givenUp.all().some((turn) => turn.owner === owner);
  }

  #changed(): void {
    // A call that is given up leaves first, and lingers then: that has to be known.
    for (const look of this.#unclear) queueMicrotask(look);
    this.#admit();
  }

  /** Those who wait for an answer are meant only when nobody else is there. */
  #suspects(): Turn[] {
    const running = this.#running.values().sort((a, b) => a.at - b.at);
    const present = running.filter(({ away }) => !away);
    return [...(present.length > 0 ? present : running), ...this.#givenUp.all()];
  }

  /** What was given up since may just wait for the answer, and has not ended. */
  #mayHaveAsked(turn: Turn, givenUpBefore: number): boolean {
    if (turn.givenUp !== undefined && turn.givenUp > givenUpBefore) return true;
    return this.#running.has(turn) || this.#givenUp.all().includes(turn);
  }

  #runsAlone(key: string): boolean {
    if (this.#policy === 'queue') return true;
    return this.#policy === 'adaptive' && !this.#habits.isEmpty && this.#habits.asks(key);
  }

  /** Whether it has to be alone for what it asks after an answer. */
  #asksOn({ key }: Turn): boolean {
    return this.#policy === 'queue' || this.#habits.asksAgain(key) || this.#habits.asksSeveral(key);
  }

  #hasToWait(owner: object, alone: boolean): boolean {
    if (this.#running.size === 0 && this.#line.isEmpty) return false;
    if (this.#blocks(owner, alone)) return true;
    // In the order of arrival; but whoever is being asked would wait for itself.
    return !this.#line.isEmpty && !this.#answering.has(owner);
  }

  /** Whether a call of this owner would have to share with somebody who must be alone, or must be so itself. */
  #blocks(owner: object, alone: boolean): boolean {
    // Nobody runs alone where nobody has ever asked.
    if (!alone && this.#habits.isEmpty) return false;
    return this.#running.some((turn) => !turn.away && turn.owner !== owner && (alone || turn.alone));
  }

  #begin(speaker: object, behalf: Behalf | undefined, key: string, alone: boolean): Turn {
    this.#begun += 1;
    const turn: Turn = {
      slot: -1,
      at: this.#begun,
      owner: behalf?.owner ?? speaker,
      speaker,
      behalf,
      key,
      alone,
      asked: 0,
      open: 0,
      sure: false,
      away: false,
      givenUp: undefined,
      callOff: undefined,
    };
    this.#running.add(turn);
    return turn;
  }

  #admit(): void {
    // Whoever is being asked would wait for itself behind the others.
    if (!this.#line.isEmpty) this.#line.admit((waiting: Waiting) => this.#answering.has(waiting.owner));
  }
}

/** How long a call that was given up may still ask. */
const LINGER_MS = 60_000;
/** Less than a question is held, so that none is refused for its sake. */
const BEHALF_LINGER_MS = 1000;
/** More than that. */
const CROSSING_LINGER_MS = 3000;
/** How long after a question others have to wait for what else it asks. */
const QUIET_MS = 50;
/** How long a question waits for it to become clear who is meant. */
const CLARITY_MS = 2000;

/** It is not taken for one that waits, or no longer. */
function stay(turn: Turn): void {
  turn.callOff?.();
  turn.away = false;
}
