import type { IsthmusError } from '../../../errors.js';
import { AttributableCall, keyOf, type NewCall } from './attributable-call.js';
import type { SessionCalls } from './session-calls.js';
import { mayGoAway } from './suspects.js';
import { WaitingLine } from './waiting-line.js';

/**
 * Who may begin or go on now. Calls that are known to ask wait for each other until each has asked. Other calls never wait,
 * and no call waits for one that waits for a user.
 */
export class CallTurns {
  readonly #calls: SessionCalls;
  readonly #line: WaitingLine;

  constructor(calls: SessionCalls) {
    this.#calls = calls;
    this.#line = new WaitingLine(calls.clock, () => this.admit());
  }

  /** Whether calls like this one run alone: others that run alone wait for them. */
  runsAlone(call: NewCall): boolean {
    const { policy, history } = this.#calls;
    if (policy === 'queue') return true;
    return policy === 'adaptive' && !history.isEmpty && history.asks(keyOf(call));
  }

  /** Begins a call that runs alone: at once, or when it is its turn. The wait counts against the call's own timeout. */
  enter(caller: object, call: NewCall): AttributableCall | Promise<AttributableCall> {
    const owner = call.behalf?.owner ?? caller;
    return this.#hasToWait(owner) ? this.#wait(caller, owner, call) : this.#begin(caller, call, true);
  }

  /** Whether a call of another owner may ask now. */
  isBlocked(owner: object): boolean {
    return this.#calls.running.some((call) => call.alone && call.owner !== owner);
  }

  /**
   * Settles when the server may go on with a call that was asked about: before all calls that have not begun, and after
   * `ALONE_MS` at the latest. `goOn` is called before that.
   */
  async comeBack(
    { owner, caller, key }: AttributableCall,
    signal: AbortSignal,
    mustWait: () => boolean,
    goOn: () => void,
  ): Promise<void> {
    if (!mustWait()) return goOn();
    const timeoutMs = Number.POSITIVE_INFINITY;
    const waiting = { owner, caller, client: owner, what: key, timeoutMs, signal, first: true };
    const tryGo = (go: () => void, isOverdue: boolean) => {
      if (!isOverdue && mustWait()) return false;
      go();
      goOn();
      return true;
    };
    await this.#line.join<void>(waiting, tryGo, ALONE_MS);
  }

  /** Makes other calls that are known to ask wait for this one, for at most `ms`. */
  holdOthers(call: AttributableCall, ms: number): void {
    call.callOff?.();
    call.alone = true;
    call.stays = false;
    call.callOff = this.#calls.clock.after(ms, () => this.#endAlone(call), { background: true });
  }

  /** Lets the calls begin that no longer have to wait. */
  admit(): void {
    // A call of an owner that is being asked would wait for itself behind the others.
    if (!this.#line.isEmpty) this.#line.admit(({ owner }) => this.#calls.asked.has(owner));
  }

  /** Rejects the waiting calls, of one caller or of all. */
  refuse(error: IsthmusError, caller: object | undefined): void {
    this.#line.refuse(error, caller);
  }

  #wait(caller: object, owner: object, call: NewCall): Promise<AttributableCall> {
    const { policy, history } = this.#calls;
    const { behalf, timeoutMs, signal } = call;
    const key = keyOf(call);
    const isStrict = policy === 'queue';
    // A question that may be unclear is better than a failed call.
    if (!isStrict && this.#line.isFull) return Promise.resolve(this.#begin(caller, call, false));
    const waiting = { owner, caller, client: behalf?.client ?? caller, what: key, timeoutMs, signal };
    // While it waits, this key may become known to ask for certain.
    let left = history.surelyAsks(key) ? 1 : MAX_WAIT_MS / MAX_SUSPECT_WAIT_MS;
    const hasToGo = () => {
      left -= 1;
      return left <= 0 || !history.surelyAsks(key);
    };
    const tryGo = (go: (begun: AttributableCall) => void, isOverdue: boolean) => {
      const goesAnyway = isOverdue && hasToGo();
      const alone = this.runsAlone(call);
      if (alone && !goesAnyway && this.isBlocked(owner)) return false;
      go(this.#begin(caller, call, alone && !goesAnyway));
      return true;
    };
    const overdueMs = left === 1 ? MAX_WAIT_MS : MAX_SUSPECT_WAIT_MS;
    return this.#line.join<AttributableCall>(waiting, tryGo, isStrict ? undefined : overdueMs);
  }

  #begin(caller: object, call: NewCall, alone: boolean): AttributableCall {
    const begun = new AttributableCall(this.#calls, caller, call, alone);
    if (alone && this.#calls.policy === 'adaptive') this.holdOthers(begun, ALONE_MS);
    return begun;
  }

  #hasToWait(owner: object): boolean {
    const { running, asked } = this.#calls;
    if (running.size === 0 && this.#line.isEmpty) return false;
    if (this.isBlocked(owner)) return true;
    // Calls begin in the order of arrival. But a call of an owner that is being asked would wait for itself.
    return !this.#line.isEmpty && !asked.has(owner);
  }

  /** The time is over: the call has not asked, or it has asked and waits for a user now. */
  #endAlone(call: AttributableCall): void {
    if (!this.#calls.running.has(call)) return;
    call.alone = false;
    call.away = mayGoAway(call, this.#calls);
    this.#calls.changed();
  }
}

/** How long calls that are known to ask wait for a call that has not asked yet. */
export const ALONE_MS = 2000;
/** How long a call that is known to ask waits for its turn in total. */
const MAX_WAIT_MS = 30_000;
/** The same for a call that is only suspected to ask. */
const MAX_SUSPECT_WAIT_MS = 1000;
