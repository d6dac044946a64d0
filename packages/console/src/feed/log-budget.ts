import { eventOf, type FeedEvent } from './topic.js';

/**
 * How many log lines a page gets: 1,000 a second, and 2,000 or 512 KiB at once. Of more it gets the newest, and the first
 * of them says how many lines before it were left out.
 */
export class LogBudget {
  #lines: FeedEvent<'log'>[] = [];
  #missed = 0;
  #left = MAX_AT_ONCE;
  #filledAt: number;

  constructor(now: number) {
    this.#filledAt = now;
  }

  add(line: FeedEvent<'log'>): void {
    this.#lines.push(line);
    // In bulk: to remove each one would cost more.
    if (this.#lines.length >= 2 * MAX_AT_ONCE) this.#keepNewest(MAX_AT_ONCE);
  }

  /** The lines that may leave now. */
  take(now: number): readonly FeedEvent<'log'>[] {
    this.#left = Math.min(MAX_AT_ONCE, this.#left + ((now - this.#filledAt) * MAX_A_SECOND) / 1000);
    this.#filledAt = now;
    this.#keepNewest(Math.floor(this.#left));
    const [first, ...others] = this.#lines;
    if (!first) return [];
    this.#lines = [];
    this.#left -= others.length + 1;
    const missed = this.#missed + (first.data.missed ?? 0);
    this.#missed = 0;
    return [
      missed === 0 ? first : eventOf('log', { ...first.data, missed }),
      ...others,
    ] as FeedEvent<'log'>[];
  }

  #keepNewest(count: number): void {
    let dropped = this.#lines.length;
    let chars = 0;
    while (dropped > 0 && this.#lines.length - dropped < count) {
      chars += this.#lines[dropped - 1]!.data.text.length;
      if (chars > MAX_CHARS) break;
      dropped -= 1;
    }
    if (dropped === 0) return;
    for (const { data } of this.#lines.slice(0, dropped)) this.#missed += 1 + (data.missed ?? 0);
    this.#lines = this.#lines.slice(dropped);
  }
}

const MAX_AT_ONCE = 2000;
const MAX_A_SECOND = 1000;
const MAX_CHARS = 512 * 1024;
