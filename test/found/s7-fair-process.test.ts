import { CallSemaphore } from '@isthmus/sdk/internal/host/process/call-semaphore.js';
import { describe, expect, it } from 'vitest';

const of = (who: string, part?: object) => ({ who, part });

describe('S7: the calls in flight of one process', () => {
  it('S7: one client leaves places for another, and waits in the queue for the rest', async () => {
    const budget = new CallSemaphore('far', 256, 1024);
    const sessions = Array.from({ length: 256 }, () => ({}));
    const taken = sessions.filter((session) => budget.tryTake(of('mallory', session)));
    expect(taken).toHaveLength(192);
    for (const session of sessions) budget.take(undefined, of('mallory', session)).catch(() => {});
    expect(budget.queued).toBe(256);
    expect(budget.tryTake(of('bob'))).toBe(true);
  });

  it('S7: one session leaves places for another session of the same client', () => {
    const budget = new CallSemaphore('far', 256, 1024);
    const session = {};
    let held = 0;
    while (budget.tryTake(of('a', session))) held += 1;
    expect(held).toBe(144);
    expect(budget.tryTake(of('a', {}))).toBe(true);
  });

  it('S7: the client that has least is next', async () => {
    const budget = new CallSemaphore('far', 2, 10);
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
    const budget = new CallSemaphore('far', 1, 3);
    budget.tryTake(of('mallory'));
    const mallory = [1, 2, 3].map(() => budget.take(undefined, of('mallory')));
    const bob = budget.take(undefined, of('bob'));
    await expect(mallory[2]).rejects.toThrow(
      'far is busy: all 1 slots are taken and 2 wait; try again later',
    );
    budget.release(of('mallory'));
    await mallory[0];
    // The clients take turns.
    budget.release(of('mallory'));
    await bob;
    expect(budget.queued).toBe(1);
  });

  it('S7: a call without a client does not wait behind a client that has used up its share', async () => {
    const budget = new CallSemaphore('far', 8, 10);
    while (budget.tryTake(of('mallory')));
    expect(budget.taken).toBe(5);
    void budget.take(undefined, of('mallory'));
    expect([budget.queued, budget.hasRoom]).toEqual([1, true]);
    for (let at = 0; at < 3; at += 1) expect(budget.tryTake()).toBe(true);
    expect([budget.taken, budget.queued]).toEqual([8, 1]);
    expect(budget.tryTake()).toBe(false);
  });

  it('S7: a place that becomes free passes over the clients whose share is used up', async () => {
    const budget = new CallSemaphore('far', 8, 10);
    // Four calls without a client, four of mallory: all places are taken, and mallory has least of those that wait.
    for (let at = 0; at < 4; at += 1) budget.tryTake();
    for (let at = 0; at < 4; at += 1) budget.takeAnyway(of('mallory'));
    const order: string[] = [];
    const mallory = budget.take(undefined, of('mallory')).then(() => order.push('mallory'));
    const nobody = [1, 2].map((each) => budget.take().then(() => order.push(`without a client ${each}`)));
    budget.release();
    await nobody[0];
    // Three of eight places are mallory's while one is free: no more for it. The next goes to the other again.
    budget.release(of('mallory'));
    await nobody[1];
    expect(order).toEqual(['without a client 1', 'without a client 2']);
    for (let at = 0; at < 3; at += 1) budget.release();
    await mallory;
    expect(order).toEqual(['without a client 1', 'without a client 2', 'mallory']);
  });

  it('S7: a client whose only session has used up its share holds up no new session of another client', async () => {
    const budget = new CallSemaphore('far', 16, 10);
    const session = {};
    for (let at = 0; at < 4; at += 1) budget.takeAnyway(of('a', session));
    const sessions = Array.from({ length: 9 }, () => ({}));
    for (const each of sessions) budget.takeAnyway(of('b', each));
    budget.takeAnyway(of('c'));
    void budget.take(undefined, of('a', session));
    const other = budget.take(undefined, of('b', {}));
    expect([budget.taken, budget.queued]).toEqual([14, 2]);
    budget.release(of('b', sessions[0]));
    expect([budget.taken, budget.queued]).toEqual([14, 1]);
    await other;
  });
});
