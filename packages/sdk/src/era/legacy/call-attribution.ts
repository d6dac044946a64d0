import type { Cancellation } from '../../async/abort.js';
import type { Clock } from '../../async/clock.js';
import { LiveSet } from '../../async/live-set.js';
import type { IsthmusError } from '../../errors.js';
import type { OnBehalfOf } from '../../exchange/call.js';
import type { RequestId } from '../../wire/json-rpc.js';
import type { QuestionPolicy } from '../client-dialect-context.js';
import {
  type AttributableCall,
  type Attributed,
  type Attribution,
  GivenUpCalls,
  likeliest,
  type OpenQuestion,
  type Unclear,
} from './attributable-call.js';
import { QuestionHistory } from './question-history.js';
import { type WaitingCall, WaitingLine } from './waiting-line.js';

export type { AttributableCall } from './attributable-call.js';

/** Who makes a call that may be asked about. */
export interface Entrant {
  readonly speaker: object;
  /** What is called: `tools/call book_flight`. */
  readonly key: string;
  readonly behalf?: OnBehalfOf | undefined;
}

/** Told when a call begins to wait for a person, and when the server goes on with it. */
export interface AttributionWatcher {
  onRest(turn: AttributableCall): void;
  onResume(turn: AttributableCall): void;
}

/**
 * Decides who is meant when a legacy server asks, which the wire does not say: the only owner that has a call in
 * flight which could have led to the question. Calls that are known to ask wait for each other until each has asked.
 * Calls that are not known to ask never wait, and a call that waits for a person keeps nobody waiting.
 */
export class CallAttribution {
  readonly #policy: QuestionPolicy;
  readonly #clock: Clock;
  readonly #watcher: AttributionWatcher | undefined;
  readonly #running = new LiveSet<AttributableCall>();
  /** How many have begun. */
  #begun = 0;
  readonly #line: WaitingLine;
  /** Their questions must not reach somebody else. */
  readonly #givenUp: GivenUpCalls<AttributableCall>;
  #givenUpCount = 0;
  readonly #habits = new QuestionHistory();
  /** Owners who are being asked right now: what they call meanwhile must not wait for others. */
  readonly #answering = new Map<object, number>();
  /** Questions of which it is not clear whose they are; each looks whether it has become so. */
  readonly #unclear = new Set<() => void>();

  constructor(policy: QuestionPolicy, clock: Clock, watcher?: AttributionWatcher) {
    this.#policy = policy;
    this.#clock = clock;
    this.#watcher = watcher;
    this.#line = new WaitingLine(clock, () => this.#admit());
    this.#givenUp = new GivenUpCalls(clock, CLARITY_MS);
  }

  /** At once, when no other call is in the way. */
  enter(speaker: object, key: string, behalf?: OnBehalfOf): AttributableCall | undefined {
    const alone = this.#runsAlone(key);
    if (alone && this.#hasToWait(behalf?.owner ?? speaker)) return undefined;
    return this.#begin({ speaker, key, behalf }, alone);
  }

  /** When it is its turn; the wait counts against the call's own time. */
  wait(
    speaker: object,
    key: string,
    patience: { readonly timeoutMs: number; readonly signal?: Cancellation | undefined },
    behalf?: OnBehalfOf,
  ): Promise<AttributableCall> {
    const owner = behalf?.owner ?? speaker;
    const entrant = { speaker, key, behalf };
    const isStrict = this.#policy === 'queue';
    // Waiting for a clear question is not worth a failed call.
    if (!isStrict && this.#line.isFull) return Promise.resolve(this.#begin(entrant, false));
    const { timeoutMs, signal } = patience;
    const waiting = { owner, speaker, client: behalf?.client ?? speaker, what: key, timeoutMs, signal };
    // It may turn out meanwhile that it surely asks.
    let left = this.#habits.surelyAsks(key) ? 1 : MAX_WAIT_MS / MAX_SUSPECT_WAIT_MS;
    const hasToGo = () => {
      left -= 1;
      return left <= 0 || !this.#habits.surelyAsks(key);
    };
    const tryGo = (go: (turn: AttributableCall) => void, isOverdue: boolean) => {
      const goesAnyway = isOverdue && hasToGo();
      const alone = this.#runsAlone(key);
      if (alone && !goesAnyway && this.#isBlocked(owner)) return false;
      go(this.#begin(entrant, alone && !goesAnyway));
      return true;
    };
    const overdueMs = left === 1 ? MAX_WAIT_MS : MAX_SUSPECT_WAIT_MS;
    return this.#line.join<AttributableCall>(waiting, tryGo, isStrict ? undefined : overdueMs);
  }

  leave(turn: AttributableCall): void {
    if (!this.#running.delete(turn)) return;
    turn.callOff?.();
    if (turn.expected && turn.asked === 0) this.#habits.exonerate(turn.key);
    this.#changed();
  }

  /** Given up without an answer. */
  linger(id: RequestId, turn: AttributableCall): void {
    this.#givenUpCount += 1;
    turn.givenUp = this.#givenUpCount;
    this.#givenUp.add(id, turn, this.#lingerMs(turn));
    // Perhaps it was this one that waited, and not the one that was taken for it.
    for (const other of this.#running.values()) {
      if (other.owner !== turn.owner || other.sure) continue;
      // Its timer goes on, since other calls may wait for it.
      other.away = false;
      other.stays = true;
    }
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
      let heldMs = 0;
      const look = () => {
        if (this.#unclear.has(look) && this.attribute(unclear).kind !== 'several') end();
      };
      const end = () => {
        this.#unclear.delete(look);
        for (const callOff of timers) callOff();
        callOff();
        signal.removeEventListener('abort', end);
        resolve(this.attribute(unclear));
      };
      const isOverdue = () => {
        heldMs += CLARITY_MS;
        if (heldMs >= MAX_CLARITY_MS || !this.#mayBecomeClear(unclear)) end();
        else callOff = this.#clock.after(CLARITY_MS, isOverdue);
      };
      const timers = this.#givenUp.ends().map((ms) => this.#clock.after(ms, look, { background: true }));
      let callOff = this.#clock.after(CLARITY_MS, isOverdue);
      signal.addEventListener('abort', end, { once: true });
      this.#unclear.add(look);
    });
  }

  /**
   * Whether it is worth holding the question for longer. Several that are held may be those of all the calls, of which
   * then none ends. A call that was given up is never known to have ended. And that a call which ends has not asked is
   * less certain after a while, since servers have time limits of their own: so all calls have to be of one client.
   */
  #mayBecomeClear({ turns, givenUp }: Unclear): boolean {
    if (this.#unclear.size > 1) return false;
    const client = turns[0]?.behalf?.client;
    if (client === undefined || turns.some(({ behalf }) => behalf?.client !== client)) return false;
    return turns.every((turn) => !this.#mayHaveAsked(turn, givenUp) || this.#running.has(turn));
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
      if (turn.away) this.#habits.hasAskedLate(turn.key);
      if (this.#policy === 'adaptive') {
        // Questions that belong together come together; what comes later is most likely that of another call.
        turn.away = false;
        this.#runAlone(turn, this.#habits.asksSeveral(turn.key) ? SEVERAL_QUIET_MS : QUIET_MS);
      }
      if (turn.open === 1) this.#watcher?.onRest(turn);
    }
    return { turn, isOver: false };
  }

  /** The answer is there. Settles when it can be given to the server: what it asks next has to be clear, too. */
  async comeBack(question: OpenQuestion, patience: { readonly signal: AbortSignal }): Promise<void> {
    const { turn } = question;
    const { key, owner, speaker } = turn;
    const mustWait = () => !question.isOver && turn.away && this.#running.has(turn) && this.#isBlocked(owner);
    if (mustWait()) {
      const { signal } = patience;
      const timeoutMs = Number.POSITIVE_INFINITY;
      const waiting = { owner, speaker, client: owner, what: key, timeoutMs, signal, first: true };
      const tryGo = (go: () => void, isOverdue: boolean) => {
        if (!isOverdue && mustWait()) return false;
        go();
        this.over(question);
        return true;
      };
      await this.#line.join<void>(waiting, tryGo, ALONE_MS);
    } else this.over(question);
  }

  /** The server goes on with the call: it gets its answer now, or has taken the question back. Twice is harmless. */
  over(question: OpenQuestion): void {
    if (question.isOver) return;
    question.isOver = true;
    const { turn } = question;
    turn.open -= 1;
    const isRunning = this.#running.has(turn);
    turn.partly = turn.open > 0;
    stay(turn);
    if (this.#policy === 'adaptive' && isRunning) {
      const hasRunAlone = turn.alone;
      // Known to ask again: the next question is to be clear, too.
      if (!turn.partly && this.#asksOn(turn)) this.#runAlone(turn, ALONE_MS);
      else turn.alone = false;
      if (hasRunAlone && !turn.alone) this.#admit();
    }
    if (!turn.partly && isRunning) this.#watcher?.onResume(turn);
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
  #lingerMs({ behalf, key, asked }: AttributableCall): number {
    if (!behalf) return LINGER_MS;
    if (!this.#habits.surelyAsks(key)) return 0;
    // One that was given up before it asked may have been about to; a question that crosses that is refused.
    return asked === 0 ? CROSSING_LINGER_MS : BEHALF_LINGER_MS;
  }

  /** Other calls that are known to ask wait for it, but no longer than `ms`. Whatever it does then, they go on. */
  #runAlone(turn: AttributableCall, ms: number): void {
    turn.callOff?.();
    turn.alone = true;
    turn.stays = false;
    turn.callOff = this.#clock.after(ms, () => this.#endAlone(turn), { background: true });
  }

  /** It has not asked in time, or has asked and waits for a person now. */
  #endAlone(turn: AttributableCall): void {
    if (!this.#running.has(turn)) return;
    turn.alone = false;
    turn.away = turn.open > 0 && !turn.partly && !turn.stays && this.#mayGoAway(turn);
    this.#changed();
  }

  /**
   * No more calls of an owner may be away than are sure to wait. Where its calls could have been confused, one of
   * them is sure to; where it was perhaps one that was given up, none.
   */
  #mayGoAway(turn: AttributableCall): boolean {
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

  /**
   * Calls that wait for an answer are meant only when no other call is there, or when they are known to ask on
   * while they wait.
   */
  #suspects(): AttributableCall[] {
    const running = this.#running.values().sort((a, b) => a.at - b.at);
    const present = running.filter(({ away, key }) => !away || this.#habits.asksLate(key));
    return [...(present.length > 0 ? present : running), ...this.#givenUp.all()];
  }

  /** What was given up since may just wait for the answer, and has not ended. */
  #mayHaveAsked(turn: AttributableCall, givenUpBefore: number): boolean {
    if (turn.givenUp !== undefined && turn.givenUp > givenUpBefore) return true;
    return this.#running.has(turn) || this.#givenUp.all().includes(turn);
  }

  #runsAlone(key: string): boolean {
    if (this.#policy === 'queue') return true;
    return this.#policy === 'adaptive' && !this.#habits.isEmpty && this.#habits.asks(key);
  }

  /** Whether it has to be alone for what it asks after an answer. */
  #asksOn({ key }: AttributableCall): boolean {
    return this.#policy === 'queue' || this.#habits.asksAgain(key) || this.#habits.asksSeveral(key);
  }

  #hasToWait(owner: object): boolean {
    if (this.#running.size === 0 && this.#line.isEmpty) return false;
    if (this.#isBlocked(owner)) return true;
    // In the order of arrival; but an owner that is being asked would wait for itself.
    return !this.#line.isEmpty && !this.#answering.has(owner);
  }

  /** Whether a call of another owner may ask just now. */
  #isBlocked(owner: object): boolean {
    return this.#running.some((turn) => turn.alone && turn.owner !== owner);
  }

  #begin({ speaker, key, behalf }: Entrant, alone: boolean): AttributableCall {
    this.#begun += 1;
    const turn: AttributableCall = {
      slot: -1,
      at: this.#begun,
      owner: behalf?.owner ?? speaker,
      speaker,
      behalf,
      key,
      id: undefined,
      call: undefined,
      rests: undefined,
      expected: alone,
      alone,
      asked: 0,
      open: 0,
      sure: false,
      away: false,
      partly: false,
      stays: false,
      givenUp: undefined,
      callOff: undefined,
    };
    this.#running.add(turn);
    if (alone && this.#policy === 'adaptive') this.#runAlone(turn, ALONE_MS);
    return turn;
  }

  #admit(): void {
    // Whoever is being asked would wait for itself behind the others.
    if (!this.#line.isEmpty) this.#line.admit((waiting: WaitingCall) => this.#answering.has(waiting.owner));
  }
}

/** How long a call that was given up may still ask. */
const LINGER_MS = 60_000;
/** Less than a question is held, so that none is refused for its sake. */
const BEHALF_LINGER_MS = 1000;
/** More than that. */
const CROSSING_LINGER_MS = 3000;
/** How long after a question other calls that are known to ask wait for what else it asks. */
const QUIET_MS = 50;
/** The same where it is known to ask several at once. */
const SEVERAL_QUIET_MS = 1000;
/** How long they wait for a call that has yet to ask. */
const ALONE_MS = 2000;
/** How long a call that is known to ask waits for its turn in all, behind however many others. */
const MAX_WAIT_MS = 30_000;
/** The same for a call that may not ask at all. */
const MAX_SUSPECT_WAIT_MS = 1000;
/** How long a question waits for it to become clear who is meant. */
const CLARITY_MS = 2000;
/** The same for the only one that waits so, between calls of one client. Less than calls and questions are given. */
const MAX_CLARITY_MS = 20_000;

/** It is not taken for one that waits, or no longer. */
function stay(turn: AttributableCall): void {
  turn.callOff?.();
  turn.away = false;
}
