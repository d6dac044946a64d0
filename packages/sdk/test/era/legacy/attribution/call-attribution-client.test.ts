import { describe, expect, it } from 'vitest';
import { IsthmusError } from '../../../../src/errors.js';
import {
  A,
  ask,
  B,
  behalfOf,
  C,
  enter,
  hasAsked,
  LONG,
  openAttribution,
  ownerOf,
  pending,
  unclear,
  wait,
} from '../../../support/call-attribution.js';

/** What needs no time has happened. */
async function settled(): Promise<void> {
  for (let each = 0; each < 10; each += 1) await Promise.resolve();
}

describe('whose question it is', () => {
  it('is nobody’s while nothing is in flight', () => {
    expect(openAttribution().attribution.attribute()).toEqual({ kind: 'none' });
  });

  it('is the owner’s of the only call, and of several calls of one owner', () => {
    const { attribution: it } = openAttribution();
    enter(it, A, 'x');
    expect(ownerOf(it)).toBe(A);
    enter(it, A, 'y');
    expect(ownerOf(it)).toBe(A);
  });

  it('is undecided with calls of two owners, and decided again when one has left', () => {
    const { attribution: it } = openAttribution();
    const mine = enter(it, A, 'x')!;
    enter(it, B, 'y');
    expect(unclear(it).count).toBe(2);
    mine.end();
    mine.end();
    expect(ownerOf(it)).toBe(B);
  });

  it('may still be that of a call that was given up, until its answer or for a minute', () => {
    const { attribution: it, givenUp, clock } = openAttribution('refuse');
    const mine = enter(it, A, 'x')!;
    mine.end();
    mine.giveUp(7);
    expect(ownerOf(it)).toBe(A);
    enter(it, B, 'y');
    expect(unclear(it).count).toBe(2);
    expect(givenUp.all().some(({ caller }) => caller !== B)).toBe(true);
    expect(givenUp.all().some(({ caller }) => caller !== A)).toBe(false);
    givenUp.remove('7')?.answeredLate();
    expect(unclear(it).count).toBe(2);
    givenUp.remove(7)?.answeredLate();
    expect(ownerOf(it)).toBe(B);
    mine.giveUp(8);
    clock.advance(59_999);
    expect(unclear(it).count).toBe(2);
    clock.advance(1);
    expect(ownerOf(it)).toBe(B);
    expect(givenUp.all().some(({ caller }) => caller !== B)).toBe(false);
  });
});

describe('adaptive', () => {
  it('R2: lets everything in; only calls that are known to ask wait for each other', () => {
    const { attribution: it } = openAttribution();
    hasAsked(it, 'ask');
    const first = enter(it, A, 'ask')!;
    expect(first.alone).toBe(true);
    expect(enter(it, B, 'echo')).toBeDefined();
    expect(enter(it, B, 'ask')).toBeUndefined();
    // The owner of the call is not in its own way.
    expect(enter(it, A, 'ask')).toBeDefined();
  });

  it('R2: lets what asks begin beside calls that are not known to ask', () => {
    const { attribution: it } = openAttribution();
    hasAsked(it, 'ask');
    enter(it, B, 'echo');
    expect(enter(it, A, 'ask')?.alone).toBe(true);
    // Whose question it is shows when the other call has ended.
    expect(unclear(it).count).toBe(2);
  });

  it('R2: keeps others that ask waiting for two seconds at most, whether or not it has asked by then', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'ask');
    enter(it, A, 'ask');
    const waiting = wait(it, B, 'ask', LONG);
    clock.advance(1999);
    expect(await pending(waiting)).toBe(true);
    clock.advance(1);
    expect((await waiting).owner).toBe(B);
  });

  it('R2: lets a call that is known to ask wait for 30 seconds at most, behind however many', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'ask');
    enter(it, A, 'ask');
    const ahead = Array.from({ length: 29 }, () => wait(it, {}, 'ask', LONG));
    const last = wait(it, B, 'ask', LONG);
    clock.advance(29_999);
    expect(await pending(last)).toBe(true);
    clock.advance(1);
    expect((await last).alone).toBe(false);
    it.refuse(new IsthmusError('CANCELLED', 'left', { sent: 'no' }));
    await Promise.allSettled(ahead);
  });

  it('R2: lets a call that only may ask wait for one second at most', async () => {
    const { attribution: it, clock } = openAttribution();
    const both = [enter(it, A, 'x')!, enter(it, B, 'y')!];
    unclear(it).suspect();
    for (const call of both) call.end();
    enter(it, A, 'x');
    const waiting = wait(it, B, 'y', LONG);
    clock.advance(999);
    expect(await pending(waiting)).toBe(true);
    clock.advance(1);
    expect((await waiting).alone).toBe(false);
  });

  it('R2: lets clients take turns, however many calls one of them has in the line', async () => {
    const { attribution: it } = openAttribution();
    hasAsked(it, 'ask');
    const of = (client: string) => ({ ...behalfOf({}), client });
    let call = enter(it, A, 'ask', of('greedy'))!;
    const order: string[] = [];
    const all = ['greedy', 'greedy', 'greedy', 'modest', 'other'].map((client) =>
      wait(it, A, 'ask', LONG, of(client)).then((next) => {
        order.push(client);
        call = next;
      }),
    );
    for (const _ of all) {
      call.end();
      await settled();
    }
    await Promise.all(all);
    expect(order).toEqual(['greedy', 'modest', 'greedy', 'other', 'greedy']);
  });

  it('R2: lets what asks begin at once where 1024 wait already, rather than refuse it', async () => {
    const { attribution: it } = openAttribution();
    hasAsked(it, 'ask');
    enter(it, A, 'ask');
    const waiting = Array.from({ length: 1024 }, () => wait(it, B, 'ask', LONG));
    expect((await wait(it, C, 'ask', LONG)).alone).toBe(false);
    it.refuse(new IsthmusError('CANCELLED', 'left', { sent: 'no' }));
    await Promise.allSettled(waiting);
  });

  it('keeps for ever what asked beyond doubt, and what may have only until it ended three times without', () => {
    const { attribution: it } = openAttribution();
    const both = [enter(it, A, 'sure')!, enter(it, B, 'perhaps')!];
    unclear(it).suspect();
    for (const call of both) call.end();
    for (const alone of [true, true, true, false]) {
      const call = enter(it, B, 'perhaps')!;
      expect(call.alone).toBe(alone);
      call.end();
    }
    for (let times = 0; times < 5; times += 1) {
      const call = enter(it, A, 'sure')!;
      expect(call.alone).toBe(true);
      if (times === 0) ask(it);
      call.end();
    }
  });

  it('does not distinguish tools by their arguments, but by their names', () => {
    const { attribution: it } = openAttribution();
    hasAsked(it, 'tools/call ask');
    expect(enter(it, A, 'tools/call echo')?.alone).toBe(false);
  });

  it('blames nobody for the mere thought of a question', () => {
    const { attribution: it } = openAttribution();
    enter(it, A, 'x')!.end();
    const call = enter(it, A, 'y')!;
    it.attribute();
    call.end();
    expect(enter(it, A, 'y')?.alone).toBe(false);
  });
});

describe('those who wait', () => {
  it('go in the order of their arrival, and nobody overtakes them', async () => {
    const { attribution: it } = openAttribution('queue');
    const first = enter(it, A, 'x')!;
    const order: string[] = [];
    const arrive = (owner: object, name: string) =>
      wait(it, owner, name, LONG).then((call) => {
        order.push(name);
        return call;
      });
    const second = arrive(B, 'b');
    const third = arrive(C, 'c');
    expect(enter(it, A, 'late')).toBeUndefined();
    const fourth = arrive(A, 'late');
    first.end();
    (await second).end();
    (await third).end();
    (await fourth).end();
    expect(order).toEqual(['b', 'c', 'late']);
  });

  it('are overtaken by whoever is being asked: it would wait for itself', () => {
    const { attribution: it, asked } = openAttribution('queue');
    enter(it, A, 'ask');
    void wait(it, B, 'ask', LONG);
    expect(enter(it, A, 'nested')).toBeUndefined();
    asked.add(A);
    expect(enter(it, A, 'nested')).toBeDefined();
    asked.remove(A);
    expect(enter(it, A, 'nested')).toBeUndefined();
  });

  it('all go at once where nothing has to run alone any more', async () => {
    const { attribution: it } = openAttribution();
    const both = [enter(it, A, 'x')!, enter(it, B, 'y')!];
    unclear(it).suspect();
    for (const call of both) call.end();
    for (let times = 0; times < 2; times += 1) enter(it, A, 'x')!.end();
    const alone = enter(it, A, 'x')!;
    const waiting = [wait(it, B, 'x', LONG), wait(it, C, 'x', LONG)];
    expect(await pending(waiting[0]!)).toBe(true);
    // It has ended three times without a question.
    alone.end();
    expect((await Promise.all(waiting)).map(({ owner }) => owner)).toEqual([B, C]);
  });

  it('give up at the end of their time, or when they are called off, and let the next one go', async () => {
    const { attribution: it, clock } = openAttribution('queue');
    const first = enter(it, A, 'x')!;
    const over = new AbortController();
    const second = wait(it, B, 'tools/call b', { timeoutMs: 1000 });
    const third = wait(it, C, 'tools/call c', { timeoutMs: 5000, signal: over.signal });
    const fourth = wait(it, B, 'tools/call d', LONG);
    clock.advance(1000);
    await expect(second).rejects.toMatchObject({ code: 'TIMED_OUT', sent: 'no' });
    over.abort('changed my mind');
    await expect(third).rejects.toMatchObject({ code: 'CANCELLED', sent: 'no', cause: 'changed my mind' });
    expect(await pending(fourth)).toBe(true);
    first.end();
    expect((await fourth).owner).toBe(B);
    expect(clock.waiting).toBe(0);
  });

  it('are refused when it was over before it began', async () => {
    const { attribution: it } = openAttribution('queue');
    enter(it, A, 'x');
    await expect(wait(it, B, 'tools/call b', { ...LONG, signal: AbortSignal.abort() })).rejects.toMatchObject(
      {
        code: 'CANCELLED',
        sent: 'no',
      },
    );
  });

  it('are refused together when their owner leaves, and the others are not', async () => {
    const { attribution: it, clock } = openAttribution('queue');
    const first = enter(it, A, 'x')!;
    const gone = [wait(it, B, 'b', LONG), wait(it, B, 'b', LONG)];
    const kept = wait(it, C, 'c', LONG);
    it.refuse(new IsthmusError('CANCELLED', 'left', { sent: 'no' }), B);
    for (const each of gone) await expect(each).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await pending(kept)).toBe(true);
    first.end();
    expect((await kept).owner).toBe(C);
    expect(clock.waiting).toBe(0);
  });

  it('are 1024 at most', async () => {
    const { attribution: it } = openAttribution('queue');
    enter(it, A, 'x');
    const waiting = Array.from({ length: 1024 }, () => wait(it, B, 'b', LONG));
    await expect(wait(it, B, 'b', LONG)).rejects.toMatchObject({ code: 'BUSY', sent: 'no' });
    it.refuse(new IsthmusError('CANCELLED', 'left', { sent: 'no' }));
    expect((await Promise.allSettled(waiting)).every(({ status }) => status === 'rejected')).toBe(true);
  });
});
