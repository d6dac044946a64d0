import type { QueuingCaller } from './queue.js';

export interface LimitedCaller extends QueuingCaller {
  /** Its calls under way. */
  running: number;
  /** It may be several clients: what one of them leaves unanswered must not count against the others. */
  readonly isAnonymous: boolean;
}

/** Whoever counts the places. */
export interface Keeper {
  left(caller: LimitedCaller, isOver: boolean): void;
  back(caller: LimitedCaller): void;
}

/** A place among the running calls, until it is left for good. */
export class LimiterSlot {
  readonly #gate: Keeper;
  readonly #caller: LimitedCaller;
  #questions = 0;
  #isLeft = false;

  constructor(gate: Keeper, caller: LimitedCaller) {
    this.#gate = gate;
    this.#caller = caller;
  }

  /** While its client is being asked something, the place is others'. */
  stepOut(): void {
    this.#questions += 1;
    if (this.#questions === 1 && !this.#isLeft) this.#gate.left(this.#caller, false);
  }

  comeBack(): void {
    this.#questions -= 1;
    if (this.#questions === 0 && !this.#isLeft) this.#gate.back(this.#caller);
  }

  leave(): void {
    if (this.#isLeft) return;
    // It may end with questions that nobody answered.
    if (this.#questions > 0) this.#gate.back(this.#caller);
    this.#isLeft = true;
    this.#gate.left(this.#caller, true);
  }
}
