import type { Clock } from '@isthmus/sdk/internal/async/clock.js';

/** Time that stands still until a test moves it. */
export class FakeClock implements Clock {
  #now = 1_000_000;
  #timers: { at: number; order: number; action: () => void }[] = [];
  #order = 0;

  /** Timers that have not run and were not called off. */
  get waiting(): number {
    return this.#timers.length;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, action: () => void): () => void {
    this.#order += 1;
    const timer = { at: this.#now + ms, order: this.#order, action };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  /** Lets `ms` pass and runs what falls due, in order, also what that starts in turn. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [next] = this.#timers
        .filter((timer) => timer.at <= until)
        .sort((a, b) => a.at - b.at || a.order - b.order);
      if (!next) break;
      this.#timers = this.#timers.filter((each) => each !== next);
      this.#now = Math.max(this.#now, next.at);
      next.action();
    }
    this.#now = until;
  }
}
