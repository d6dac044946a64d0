import type { AttributableCall } from './attributable-call.js';
import { ALONE_MS } from './call-turns.js';
import type { SessionCalls } from './session-calls.js';
import { hasGivenUp } from './suspects.js';

/** A question that the owner of a call is being asked. */
export class OpenQuestion {
  readonly call: AttributableCall;
  readonly #calls: SessionCalls;
  /** The server has the answer, or has cancelled the question. */
  #isOver = false;

  /** The owner of `call` is asked now; `calls` are all that could have led to the question. */
  constructor(
    { call, calls }: { readonly call: AttributableCall; readonly calls: readonly AttributableCall[] },
    all: SessionCalls,
  ) {
    const { policy, running, history, turns } = all;
    this.call = call;
    this.#calls = all;
    call.asked += 1;
    call.open += 1;
    call.sure = calls.length === 1 && !hasGivenUp(call.owner, all);
    if (!running.has(call)) return;
    for (const { key } of calls) history.hasAsked(key, call.sure);
    if (call.open > 1) history.hasAskedSeveral(call.key);
    else if (call.asked > 1) history.hasAskedAgain(call.key);
    if (call.away) history.hasAskedLate(call.key);
    if (policy === 'adaptive') {
      // The questions of one call come together; a later one most likely belongs to another call.
      call.away = false;
      turns.holdOthers(call, history.asksSeveral(call.key) ? SEVERAL_QUIET_MS : QUIET_MS);
    }
    if (call.open === 1) call.request?.rest();
  }

  /** The owner has answered. Settles when the answer may be sent, so that the next question can be attributed, too. */
  comeBack(signal: AbortSignal): Promise<void> {
    const { running, turns } = this.#calls;
    const { call } = this;
    const mustWait = () => !this.#isOver && call.away && running.has(call) && turns.isBlocked(call.owner);
    return turns.comeBack(call, signal, mustWait, () => this.over());
  }

  /** The server goes on with the call: it gets the answer, or has cancelled the question. A second call is harmless. */
  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { call } = this;
    const { policy, running, turns } = this.#calls;
    const isRunning = running.has(call);
    call.open -= 1;
    call.partly = call.open > 0;
    // It is not assumed to be waiting any more.
    call.callOff?.();
    call.away = false;
    if (policy === 'adaptive' && isRunning) {
      const heldOthers = call.alone;
      // If it is known to ask again, others wait so that its next question can be attributed.
      if (!call.partly && this.#asksOn()) turns.holdOthers(call, ALONE_MS);
      else call.alone = false;
      if (heldOthers && !call.alone) turns.admit();
    }
    if (!call.partly && isRunning) call.request?.resume();
  }

  /** Whether the call is known to ask again after an answer. */
  #asksOn(): boolean {
    const { history } = this.#calls;
    return history.asksAgain(this.call.key) || history.asksSeveral(this.call.key);
  }
}

/** How long after a question other calls that are known to ask wait for further questions of the same call. */
const QUIET_MS = 50;
/** The same if it is known to ask several questions at once. */
const SEVERAL_QUIET_MS = 1000;
