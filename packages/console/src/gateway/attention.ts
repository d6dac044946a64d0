import type { Clock } from '@isthmus/sdk/internal/async/clock.js';

/**
 * Whether somebody looks: a page is open, a recording runs, or a page has asked for something in the last five minutes (a
 * page that is hidden lets go of its stream). While no page looks, there is no timer.
 */
export class Attention {
  readonly #clock: Clock;
  readonly #isHeld: () => boolean;
  #isGiven = false;
  #drawnAt = 0;
  #callOff: () => void = () => {};

  constructor(clock: Clock, isHeld: () => boolean) {
    this.#clock = clock;
    this.#isHeld = isHeld;
  }

  get isGiven(): boolean {
    return this.#isGiven;
  }

  drawn(): void {
    this.#drawnAt = this.#clock.now();
    if (this.#isGiven) return;
    this.#isGiven = true;
    this.#wait();
  }

  close(): void {
    this.#callOff();
    this.#isGiven = false;
  }

  #wait(): void {
    this.#callOff = this.#clock.after(
      LASTS_MS,
      () => {
        this.#isGiven = this.#isHeld() || this.#clock.now() - this.#drawnAt < LASTS_MS;
        if (this.#isGiven) this.#wait();
      },
      { background: true },
    );
  }
}

const LASTS_MS = 5 * 60_000;
