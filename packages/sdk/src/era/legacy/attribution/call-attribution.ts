import type { Clock } from '../../../async/clock.js';
import type { IsthmusError } from '../../../errors.js';
import type { QuestionPolicy } from '../../client-dialect-context.js';
import { AttributableCall, type NewCall } from './attributable-call.js';
import { type Attribution, attributeNow } from './attribution.js';
import type { CallTurns } from './call-turns.js';
import type { GivenUpCalls } from './given-up-calls.js';
import { type AskedOwners, SessionCalls } from './session-calls.js';

/**
 * Finds the call that a question of a legacy server belongs to, which the protocol does not say: a question goes to the
 * only owner that has a call in flight which could have led to it.
 *
 * What the verbs return goes on from there:
 *
 * - A call that has begun is ended with `end`, and with `giveUp` if the server may still work on it.
 * - A question that is attributed is put to the owner of the call with `ask`. The answer waits for `comeBack`, and `over` ends
 *   the question. A question that is unclear is held with `clarify`.
 */
export class CallAttribution {
  readonly #calls: SessionCalls;
  readonly #turns: CallTurns;

  /** Both registers are shared: late answers and logs read `givenUp`, and questions write `asked`. */
  constructor(
    policy: QuestionPolicy,
    clock: Clock,
    givenUp: GivenUpCalls<AttributableCall>,
    asked: AskedOwners,
  ) {
    this.#calls = new SessionCalls(policy, clock, givenUp, asked);
    this.#turns = this.#calls.turns;
  }

  /** Begins a call: at once, or, if it is known to ask, when it is its turn. */
  begin(caller: object, call: NewCall): AttributableCall | Promise<AttributableCall> {
    if (this.#turns.runsAlone(call)) return this.#turns.enter(caller, call);
    return new AttributableCall(this.#calls, caller, call, false);
  }

  /** Finds the call of a question that the server asks now. */
  attribute(): Attribution {
    return attributeNow(this.#calls);
  }

  /** Rejects the calls that wait for their turn, of one caller or of all, and ends the timers of its running calls. */
  refuse(error: IsthmusError, caller?: object): void {
    this.#turns.refuse(error, caller);
    for (const call of this.#calls.running.values())
      if (caller === undefined || call.caller === caller) call.callOff?.();
  }
}
