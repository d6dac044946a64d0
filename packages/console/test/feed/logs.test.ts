import { describe, expect, it } from 'vitest';
import { LogBudget } from '../../src/feed/log-budget.js';
import { eventOf, type FeedEvent } from '../../src/feed/topic.js';
import { LogStore } from '../../src/stores/log-store.js';

const line = (number: number, text = 'x') =>
  eventOf('log', { number, at: 0, source: 'stderr', text }) as FeedEvent<'log'>;
const numbers = (lines: readonly FeedEvent<'log'>[]) => lines.map(({ data }) => data.number);

describe('a flood of log lines', () => {
  it('reaches a page as its newest lines, 1,000 a second, with how many are missing', () => {
    const budget = new LogBudget(0);
    for (let number = 1; number <= 10_000; number += 1) budget.add(line(number));
    const first = budget.take(0);
    expect([first.length, first[0]?.data.number, first[0]?.data.missed]).toEqual([2000, 8001, 8000]);
    for (let number = 10_001; number <= 10_500; number += 1) budget.add(line(number));
    expect(budget.take(0)).toEqual([]);
    const next = budget.take(50);
    expect(next.length).toBe(0);
    for (let number = 10_501; number <= 11_000; number += 1) budget.add(line(number));
    const later = budget.take(150);
    expect([later.length, later[0]?.data.number, later[0]?.data.missed]).toEqual([150, 10_851, 850]);
  });

  it('is whole where it is none, and has at most 512 KiB at once', () => {
    const budget = new LogBudget(0);
    for (let number = 1; number <= 3; number += 1) budget.add(line(number));
    expect([numbers(budget.take(0)), budget.take(1000)]).toEqual([[1, 2, 3], []]);
    for (let number = 4; number <= 103; number += 1) budget.add(line(number, 'x'.repeat(10_000)));
    expect(budget.take(2000).length).toBe(52);
  });

  it('is kept in at most 16 MiB', () => {
    const store = new LogStore();
    for (let at = 0; at < 5000; at += 1) store.add({ source: 'stderr', text: 'x'.repeat(10_000) });
    const kept = store.after(0);
    expect(kept.length).toBeLessThan(1680);
    expect(kept.at(-1)?.number).toBe(5000);
  });
});
