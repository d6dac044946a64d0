import type { AttributableCall } from './attributable-call.js';
import { OpenQuestion } from './open-question.js';
import type { SessionCalls } from './session-calls.js';
import { SeveralOwners } from './several-owners.js';
import { areOfOneClient, CLARITY_MS, likeliest, mayHaveAsked, suspects } from './suspects.js';

/** The call that a question belongs to, as far as it can be known, and all calls that could have led to it. */
export type Attribution = Attributed | Unclear | { readonly kind: 'none' };

/** Finds the call that a question belongs to which comes now. */
export function attributeNow(calls: SessionCalls): Attribution {
  return attributeTo(suspects(calls), calls, calls.givenUp.count);
}

function attributeTo(
  suspected: readonly AttributableCall[],
  calls: SessionCalls,
  givenUp: number,
): Attribution {
  const owners = new Set(suspected.map(({ owner }) => owner));
  if (owners.size === 0) return { kind: 'none' };
  if (owners.size > 1) return new Unclear(suspected, owners.size, calls, givenUp);
  // The owner is the same for all of them, but can be asked only through a running call.
  const running = suspected.filter((call) => calls.running.has(call));
  return new Attributed(running.length > 0 ? running : suspected, calls);
}

/** A question of one owner. */
export class Attributed {
  readonly kind = 'one';
  readonly call: AttributableCall;
  readonly calls: readonly AttributableCall[];
  readonly #all: SessionCalls;

  constructor(calls: readonly AttributableCall[], all: SessionCalls) {
    this.call = likeliest(calls);
    this.calls = calls;
    this.#all = all;
  }

  /** The owner of the call is asked now. */
  ask(): OpenQuestion {
    return new OpenQuestion(this, this.#all);
  }
}

/** A question that may belong to several owners. */
export class Unclear {
  readonly kind = 'several';
  readonly calls: readonly AttributableCall[];
  /** The number of owners. */
  readonly count: number;
  readonly #all: SessionCalls;
  /** The number of calls that had been given up when the question came. */
  readonly #givenUp: number;

  constructor(calls: readonly AttributableCall[], count: number, all: SessionCalls, givenUp: number) {
    this.calls = calls;
    this.count = count;
    this.#all = all;
    this.#givenUp = givenUp;
  }

  /** The same question with what is known now. */
  again(): Attribution {
    const left = this.calls.filter((call) => mayHaveAsked(call, this.#all, this.#givenUp));
    return attributeTo(left, this.#all, this.#givenUp);
  }

  /**
   * Settles when only one owner is left, or after a time limit. A call that ends meanwhile did not ask, since it would
   * wait for the answer. Nor did a call that begins meanwhile.
   */
  clarify(signal: AbortSignal): Promise<Attribution> {
    const { clock, givenUp, unclear } = this.#all;
    const mayHave = (call: AttributableCall) => mayHaveAsked(call, this.#all, this.#givenUp);
    const owners = new SeveralOwners(this.calls, mayHave);
    return new Promise((resolve) => {
      let heldMs = 0;
      let callOffLook = () => {};
      let witnesses: readonly AttributableCall[] = [];
      const look = () => {
        if (!unclear.has(look)) return;
        if (!owners.areLeft()) return end();
        const [first, second] = owners.witnesses;
        if (first === witnesses[0] && second === witnesses[1]) return;
        witnesses = [first, second];
        callOffLook();
        callOffLook = lookLater(givenUp.msLeft(first), givenUp.msLeft(second));
      };
      // That a call which was given up asks no more is not a change: it is looked at when its time is over.
      const lookLater = (...left: number[]) => {
        const ms = Math.min(...left.filter((each) => each > 0));
        const lookAgain = () => {
          witnesses = [];
          look();
        };
        return Number.isFinite(ms) ? clock.after(ms, lookAgain, { background: true }) : () => {};
      };
      const end = () => {
        unclear.delete(look);
        callOffLook();
        callOff();
        signal.removeEventListener('abort', end);
        resolve(this.again());
      };
      const isOverdue = () => {
        heldMs += CLARITY_MS;
        if (heldMs >= MAX_CLARITY_MS || !this.#mayBecomeClear()) end();
        else callOff = clock.after(CLARITY_MS, isOverdue);
      };
      let callOff = clock.after(CLARITY_MS, isOverdue);
      signal.addEventListener('abort', end, { once: true });
      unclear.add(look);
      look();
    });
  }

  /** Marks the running calls as suspects: the question could not be attributed. Given-up calls are not marked. */
  suspect(): void {
    const { running, history } = this.#all;
    const left = this.calls.filter((call) => running.has(call));
    if (new Set(left.map(({ owner }) => owner)).size < 2) return;
    for (const { key } of left) history.hasAsked(key, false);
  }

  /**
   * Whether to hold the question for longer. If several questions are held, they may be those of all the calls, and then
   * none of these ends. The end of a call that was given up is never seen. And after a while it is less certain that a
   * call which ends has not asked, since servers have time limits of their own: so all calls must be of one client.
   */
  #mayBecomeClear(): boolean {
    const { running, unclear } = this.#all;
    if (unclear.size > 1 || !areOfOneClient(this.calls)) return false;
    return this.calls.every((call) => !mayHaveAsked(call, this.#all, this.#givenUp) || running.has(call));
  }
}

/** How long a question is held if it is the only one, between calls of one client. Shorter than the timeouts of calls and questions. */
const MAX_CLARITY_MS = 20_000;
