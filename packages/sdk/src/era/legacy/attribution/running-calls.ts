import type { Cancellation } from '../../../async/abort.js';
import type { Clock } from '../../../async/clock.js';
import { LiveSet } from '../../../async/live-set.js';
import type { IsthmusError } from '../../../errors.js';
import type { OnBehalfOf } from '../../../exchange/call.js';
import type { RequestId } from '../../../wire/json-rpc.js';
import type { QuestionPolicy } from '../../client-dialect-context.js';
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

/** What is known of a call before it begins. */
interface Entrant {
  readonly caller: object;
  /** What is called: `tools/call book_flight`. */
  readonly key: string;
  readonly behalf?: OnBehalfOf | undefined;
}

/**
 * The calls that run on a session, and which of them a question belongs to. The protocol does not say it: a question goes to the
 * only owner that has a call in flight which could have led to it. Calls that are known to ask wait for each other until
 * each has asked. Other calls never wait, and no call waits for one that waits for a user.
 */
export class RunningCalls {
  readonly #policy: QuestionPolicy;
  readonly #clock: Clock;
  readonly #running = new LiveSet<AttributableCall>();
  /** The number of calls that have begun. */
  #begun = 0;
  readonly #line: WaitingLine;
  /** Their questions must not reach another owner. */
  readonly #givenUp: GivenUpCalls<AttributableCall>;
  #givenUpCount = 0;
  readonly #history = new QuestionHistory();
  /** Owners that are being asked right now, with a count: calls that they make meanwhile must not wait for others. */
  readonly #answering = new Map<object, number>();
  /** One function for each question that is not attributed yet; it checks whether that has become possible. */
  readonly #unclear = new Set<() => void>();

  constructor(policy: QuestionPolicy, clock: Clock) {
    this.#policy = policy;
    this.#clock = clock;
    this.#line = new WaitingLine(clock, () => this.#admit());
    this.#givenUp = new GivenUpCalls(clock, CLARITY_MS);
  }

  /** Begins a call at once; undefined if it has to wait for another. */
  enter(caller: object, key: string, behalf?: OnBehalfOf): AttributableCall | undefined {
    const alone = this.#runsAlone(key);
    if (alone && this.#hasToWait(behalf?.owner ?? caller)) return undefined;
    return this.#begin({ caller, key, behalf }, alone);
  }

  /** Begins a call when it is its turn. The wait counts against the call's own timeout. */
  wait(
    caller: object,
    key: string,
    patience: { readonly timeoutMs: number; readonly signal?: Cancellation | undefined },
    behalf?: OnBehalfOf,
  ): Promise<AttributableCall> {
    const owner = behalf?.owner ?? caller;
    const entrant = { caller, key, behalf };
    const isStrict = this.#policy === 'queue';
    // A question that may be unclear is better than a failed call.
    if (!isStrict && this.#line.isFull) return Promise.resolve(this.#begin(entrant, false));
    const { timeoutMs, signal } = patience;
    const waiting = { owner, caller, client: behalf?.client ?? caller, what: key, timeoutMs, signal };
    // While it waits, this key may become known to ask for certain.
    let left = this.#history.surelyAsks(key) ? 1 : MAX_WAIT_MS / MAX_SUSPECT_WAIT_MS;
    const hasToGo = () => {
      left -= 1;
      return left <= 0 || !this.#history.surelyAsks(key);
    };
    const tryGo = (go: (call: AttributableCall) => void, isOverdue: boolean) => {
      const goesAnyway = isOverdue && hasToGo();
      const alone = this.#runsAlone(key);
      if (alone && !goesAnyway && this.#isBlocked(owner)) return false;
      go(this.#begin(entrant, alone && !goesAnyway));
      return true;
    };
    const overdueMs = left === 1 ? MAX_WAIT_MS : MAX_SUSPECT_WAIT_MS;
    return this.#line.join<AttributableCall>(waiting, tryGo, isStrict ? undefined : overdueMs);
  }

  leave(call: AttributableCall): void {
    if (!this.#running.delete(call)) return;
    call.callOff?.();
    if (call.expected && call.asked === 0) this.#history.exonerate(call.key);
    this.#changed();
  }

  /** The call was given up without an answer; the server may still ask about it. */
  linger(id: RequestId, call: AttributableCall): void {
    this.#givenUpCount += 1;
    call.givenUp = this.#givenUpCount;
    this.#givenUp.add(id, call, this.#lingerMs(call));
    // Perhaps this call was the one that waited, and not the one that was assumed to.
    for (const other of this.#running.values()) {
      if (other.owner !== call.owner || other.sure) continue;
      // Its timer keeps running, since other calls may wait for it.
      other.away = false;
      other.stays = true;
    }
  }

  /** A late answer arrived: the call asks no more. */
  answered(id: RequestId): void {
    const call = this.#givenUp.remove(id);
    if (!call) return;
    call.givenUp = undefined;
    this.#changed();
  }

  /** The call that a new question belongs to, or, with `earlier`, one that was unclear before. */
  attribute(earlier?: Unclear): Attribution {
    const calls = earlier
      ? earlier.calls.filter((call) => this.#mayHaveAsked(call, earlier.givenUp))
      : this.#suspects();
    const givenUp = earlier?.givenUp ?? this.#givenUpCount;
    const owners = new Set(calls.map(({ owner }) => owner));
    if (owners.size === 0) return { kind: 'none' };
    if (owners.size > 1) return { kind: 'several', givenUp, count: owners.size, calls };
    // The owner is the same for all of them, but can be asked only through a running call.
    const running = calls.filter((call) => this.#running.has(call));
    const likely = running.length > 0 ? running : calls;
    return { kind: 'one', call: likeliest(likely), calls: likely };
  }

  /**
   * Settles when only one owner is left, or after a time limit. A call that ends meanwhile did not ask, since it would
   * wait for the answer. Nor did a call that begins meanwhile.
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
   * Whether to hold the question for longer. If several questions are held, they may be those of all the calls, and then
   * none of these ends. The end of a call that was given up is never seen. And after a while it is less certain that a
   * call which ends has not asked, since servers have time limits of their own: so all calls must be of one client.
   */
  #mayBecomeClear({ calls, givenUp }: Unclear): boolean {
    if (this.#unclear.size > 1) return false;
    const client = calls[0]?.behalf?.client;
    if (client === undefined || calls.some(({ behalf }) => behalf?.client !== client)) return false;
    return calls.every((call) => !this.#mayHaveAsked(call, givenUp) || this.#running.has(call));
  }

  /** Marks the running calls as suspects: the question could not be attributed. Given-up calls are not marked. */
  suspect({ calls }: Unclear): void {
    const running = calls.filter((call) => this.#running.has(call));
    if (new Set(running.map(({ owner }) => owner)).size < 2) return;
    for (const { key } of running) this.#history.hasAsked(key, false);
  }

  /** Records that the owner of a call is being asked. */
  asking({ call, calls }: Attributed): OpenQuestion {
    call.asked += 1;
    call.open += 1;
    call.sure = calls.length === 1 && !this.#hasGivenUp(call.owner);
    if (this.#running.has(call)) {
      for (const { key } of calls) this.#history.hasAsked(key, call.sure);
      if (call.open > 1) this.#history.hasAskedSeveral(call.key);
      else if (call.asked > 1) this.#history.hasAskedAgain(call.key);
      if (call.away) this.#history.hasAskedLate(call.key);
      if (this.#policy === 'adaptive') {
        // The questions of one call come together; a later one most likely belongs to another call.
        call.away = false;
        this.#runAlone(call, this.#history.asksSeveral(call.key) ? SEVERAL_QUIET_MS : QUIET_MS);
      }
      if (call.open === 1) call.request?.rest();
    }
    return { call, isOver: false };
  }

  /** The owner has answered. Settles when the answer may be sent, so that the next question can be attributed, too. */
  async comeBack(question: OpenQuestion, patience: { readonly signal: AbortSignal }): Promise<void> {
    const { call } = question;
    const { key, owner, caller } = call;
    const mustWait = () => !question.isOver && call.away && this.#running.has(call) && this.#isBlocked(owner);
    if (mustWait()) {
      const { signal } = patience;
      const timeoutMs = Number.POSITIVE_INFINITY;
      const waiting = { owner, caller, client: owner, what: key, timeoutMs, signal, first: true };
      const tryGo = (go: () => void, isOverdue: boolean) => {
        if (!isOverdue && mustWait()) return false;
        go();
        this.over(question);
        return true;
      };
      await this.#line.join<void>(waiting, tryGo, ALONE_MS);
    } else this.over(question);
  }

  /** The server goes on with the call: it gets the answer, or has cancelled the question. A second call is harmless. */
  over(question: OpenQuestion): void {
    if (question.isOver) return;
    question.isOver = true;
    const { call } = question;
    call.open -= 1;
    const isRunning = this.#running.has(call);
    call.partly = call.open > 0;
    stay(call);
    if (this.#policy === 'adaptive' && isRunning) {
      const hasRunAlone = call.alone;
      // If it is known to ask again, it runs alone so that its next question can be attributed.
      if (!call.partly && this.#asksOn(call)) this.#runAlone(call, ALONE_MS);
      else call.alone = false;
      if (hasRunAlone && !call.alone) this.#admit();
    }
    if (!call.partly && isRunning) call.request?.resume();
  }

  /** Whether a given-up call of another caller may still be running. */
  lingersOfOthers(caller: object): boolean {
    return this.#givenUp.all().some((call) => call.caller !== caller);
  }

  isAnswering(owner: object): boolean {
    return this.#answering.has(owner);
  }

  answering(owner: object, change: 1 | -1): void {
    const count = (this.#answering.get(owner) ?? 0) + change;
    if (count > 0) this.#answering.set(owner, count);
    else this.#answering.delete(owner);
  }

  /** Rejects the waiting calls, of one caller or of all. */
  refuse(error: IsthmusError, caller?: object): void {
    this.#line.refuse(error, caller);
    for (const call of this.#running.values())
      if (caller === undefined || call.caller === caller) call.callOff?.();
  }

  /** For calls on behalf of clients the time is short: cancelling is common, and one client must not hold up the others. */
  #lingerMs({ behalf, key, asked }: AttributableCall): number {
    if (!behalf) return LINGER_MS;
    if (!this.#history.surelyAsks(key)) return 0;
    // A call that was given up before it asked may have been about to; a question that crosses the cancellation is refused.
    return asked === 0 ? CROSSING_LINGER_MS : BEHALF_LINGER_MS;
  }

  /** Makes other calls that are known to ask wait for this one, for at most `ms`. */
  #runAlone(call: AttributableCall, ms: number): void {
    call.callOff?.();
    call.alone = true;
    call.stays = false;
    call.callOff = this.#clock.after(ms, () => this.#endAlone(call), { background: true });
  }

  /** The time is over: the call has not asked, or it has asked and waits for a user now. */
  #endAlone(call: AttributableCall): void {
    if (!this.#running.has(call)) return;
    call.alone = false;
    call.away = call.open > 0 && !call.partly && !call.stays && this.#mayGoAway(call);
    this.#changed();
  }

  /**
   * No more calls of an owner may be away than certainly wait for an answer. If its calls could have been confused, only
   * one of them certainly waits; if the question may belong to a given-up call, none does.
   */
  #mayGoAway(call: AttributableCall): boolean {
    for (const { owner, away, sure } of this.#running.values())
      if (owner === call.owner && away && !sure) return false;
    return call.sure || !this.#hasGivenUp(call.owner);
  }

  #hasGivenUp(owner: object): boolean {
    return this.#givenUp.all().some((call) => call.owner === owner);
  }

  #changed(): void {
    // A given-up call leaves first and is recorded as given up after that: the check must see both.
    for (const look of this.#unclear) queueMicrotask(look);
    this.#admit();
  }

  /**
   * The calls that a new question may belong to. Calls that wait for an answer count only if there is no other call, or
   * if they are known to ask again while they wait.
   */
  #suspects(): AttributableCall[] {
    const running = this.#running.values().sort((a, b) => a.at - b.at);
    const present = running.filter(({ away, key }) => !away || this.#history.asksLate(key));
    return [...(present.length > 0 ? present : running), ...this.#givenUp.all()];
  }

  /** A call that was given up after the question came may be the one that waits for the answer. */
  #mayHaveAsked(call: AttributableCall, givenUpBefore: number): boolean {
    if (call.givenUp !== undefined && call.givenUp > givenUpBefore) return true;
    return this.#running.has(call) || this.#givenUp.all().includes(call);
  }

  #runsAlone(key: string): boolean {
    if (this.#policy === 'queue') return true;
    return this.#policy === 'adaptive' && !this.#history.isEmpty && this.#history.asks(key);
  }

  /** Whether the call is known to ask again after an answer. */
  #asksOn({ key }: AttributableCall): boolean {
    return this.#policy === 'queue' || this.#history.asksAgain(key) || this.#history.asksSeveral(key);
  }

  #hasToWait(owner: object): boolean {
    if (this.#running.size === 0 && this.#line.isEmpty) return false;
    if (this.#isBlocked(owner)) return true;
    // Calls begin in the order of arrival. But a call of an owner that is being asked would wait for itself.
    return !this.#line.isEmpty && !this.#answering.has(owner);
  }

  /** Whether a call of another owner may ask now. */
  #isBlocked(owner: object): boolean {
    return this.#running.some((call) => call.alone && call.owner !== owner);
  }

  #begin({ caller, key, behalf }: Entrant, alone: boolean): AttributableCall {
    this.#begun += 1;
    const call: AttributableCall = {
      slot: -1,
      at: this.#begun,
      owner: behalf?.owner ?? caller,
      caller,
      behalf,
      key,
      request: undefined,
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
    this.#running.add(call);
    if (alone && this.#policy === 'adaptive') this.#runAlone(call, ALONE_MS);
    return call;
  }

  #admit(): void {
    // A call of an owner that is being asked would wait for itself behind the others.
    if (!this.#line.isEmpty) this.#line.admit((waiting: WaitingCall) => this.#answering.has(waiting.owner));
  }
}

/** How long a given-up call may still ask. */
const LINGER_MS = 60_000;
/** The same for calls on behalf of a client. Shorter than `CLARITY_MS`, so that no question is refused because of it. */
const BEHALF_LINGER_MS = 1000;
/** The same if it had not asked yet. Longer than `CLARITY_MS`. */
const CROSSING_LINGER_MS = 3000;
/** How long after a question other calls that are known to ask wait for further questions of the same call. */
const QUIET_MS = 50;
/** The same if it is known to ask several questions at once. */
const SEVERAL_QUIET_MS = 1000;
/** How long they wait for a call that has not asked yet. */
const ALONE_MS = 2000;
/** How long a call that is known to ask waits for its turn in total. */
const MAX_WAIT_MS = 30_000;
/** The same for a call that is only suspected to ask. */
const MAX_SUSPECT_WAIT_MS = 1000;
/** How long a question is held until it can be attributed. */
const CLARITY_MS = 2000;
/** The same if it is the only one, between calls of one client. Shorter than the timeouts of calls and questions. */
const MAX_CLARITY_MS = 20_000;

/** The call is not assumed to be waiting any more. */
function stay(call: AttributableCall): void {
  call.callOff?.();
  call.away = false;
}
