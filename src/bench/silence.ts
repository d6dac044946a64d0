import type { Silence } from './model.js';

/** Notes the longest time in which something was awaited and nothing came. */
export class SilenceWatch {
  #longest: Silence | null = null;
  #since = 0;
  #awaited = 0;

  get longest(): Silence | null {
    return this.#longest;
  }

  /** A request is awaited from that time on. */
  asked(at: number): void {
    if (this.#awaited === 0) this.#since = at;
    this.#awaited += 1;
  }

  /** One less is awaited. Only what came from the server is a sign of life; `more` are due and were not even sent. */
  settled(at: number, isSign: boolean, more: number): void {
    this.#note(at, more);
    if (isSign) this.#since = at;
    this.#awaited -= 1;
  }

  /** Nobody waits any longer, whatever is still missing. */
  over(at: number, more: number): void {
    if (this.#awaited > 0) this.#note(at, more);
    this.#awaited = 0;
  }

  #note(at: number, more: number): void {
    const ms = at - this.#since;
    if (ms <= (this.#longest?.ms ?? 0)) return;
    this.#longest = { ms, atMs: this.#since, waiting: this.#awaited + more };
  }
}
