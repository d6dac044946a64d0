import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { FairSlots, type TakenSlot } from '@isthmus/sdk/internal/exchange/fair-slots.js';

/**
 * How often the authorization server is asked about tokens: so many at once, shared between addresses, and so many new ones
 * of an address in a second. Anyone can send random tokens, and must not flood the authorization server with them.
 */
export class AskLimits {
  readonly #clock: Clock;
  readonly #slots = new FairSlots(MAX_ASKING);
  /** The questions of the current second, by address. */
  readonly #asked = new Map<string, number>();
  #second = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined: not now. `isKnown`: the token was good before, so a stranger has not made it up. */
  enter(who: string, isKnown: boolean): TakenSlot | undefined {
    const origin = { who, part: undefined };
    if (isKnown) return this.#slots.takeAnyway(origin);
    const now = this.#clock.now();
    if (now - this.#second >= 1000) {
      this.#second = now;
      this.#asked.clear();
    }
    const asked = this.#asked.get(who) ?? 0;
    if (asked >= MAX_A_SECOND) return undefined;
    const slot = this.#slots.take(origin);
    if (typeof slot !== 'object') return undefined;
    this.#asked.set(who, asked + 1);
    return slot;
  }

  leave(slot: TakenSlot): void {
    this.#slots.release(slot);
  }
}

const MAX_ASKING = 256;
/** New tokens of one address. All clients behind a proxy have one address. */
const MAX_A_SECOND = 100;
