import { describe, expect, it } from 'vitest';
import { Budget } from '../../src/host/budget.js';

const of = (who: string, part?: object) => ({ who, part });

describe('S7: the calls in flight of one process', () => {
  it('S7: one client leaves places for another, and waits in the queue for the rest', async () => {
    const budget = new Budget('far', 256, 1024);
    const sessions = Array.from({ length: 256 }, () => ({}));
    const taken = sessions.filter((session) => budget.tryTake(of('mallory', session)));
    expect(taken).toHaveLength(192);
    for (const session of sessions) budget.take(undefined, of('mallory', session)).catch(() => {});
    expect(budget.queued).toBe(256);
    expect(budget.tryTake(of('bob'))).toBe(true);
  });

  it('S7: one session leaves places for another session of the same client', () => {
    const budget = new Budget('far', 256, 1024);
    const session = {};
    let held = 0;
    while (budget.tryTake(of('a', session))) held += 1;
    expect(held).toBe(144);
    expect(budget.tryTake(of('a', {}))).toBe(true);
  });

  it('S7: the client that has least is next', async () => {
    const budget = new Budget('far', 2, 10);
    const order: string[] = [];
    for (let at = 0; at < 2; at += 1) budget.tryTake(of('mallory'));
    const wait = (name: string, who: string) => budget.take(undefined, of(who)).then(() => order.push(name));
    const waiting = [wait('m1', 'mallory'), wait('m2', 'mallory'), wait('b1', 'bob'), wait('b2', 'bob')];
    for (let at = 0; at < 2; at += 1) budget.release(of('mallory'));
    await Promise.all([waiting[0], waiting[2]]);
    expect(order).toEqual(['b1', 'm1']);
    budget.release(of('bob'));
    await waiting[3];
    expect(order).toEqual(['b1', 'm1', 'b2']);
  });

  it('S7: in a full queue the client that has most gives way', async () => {
    const budget = new Budget('far', 1, 3);
    budget.tryTake(of('mallory'));
    const mallory = [1, 2, 3].map(() => budget.take(undefined, of('mallory')));
    const bob = budget.take(undefined, of('bob'));
    await expect(mallory[2]).rejects.toThrow(
      'far is busy: all 1 places are taken and 2 wait; try again later',
    );
    budget.release(of('mallory'));
    await mallory[0];
    // The clients take turns.
    budget.release(of('mallory'));
    await bob;
    expect(budget.queued).toBe(1);
  });
});
