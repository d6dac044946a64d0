import { describe, expect, it } from 'vitest';
import { IsthmusError } from '../../../../src/errors.js';
import {
  A,
  ask,
  B,
  behalfOf,
  C,
  hasAsked,
  LONG,
  openAttribution,
  ownerOf,
  pending,
  unclear,
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
    it.enter(A, 'x');
    expect(ownerOf(it)).toBe(A);
    it.enter(A, 'y');
    expect(ownerOf(it)).toBe(A);
  });

  it('is undecided with calls of two owners, and decided again when one has left', () => {
    const { attribution: it } = openAttribution();
    const mine = it.enter(A, 'x')!;
    it.enter(B, 'y');
    expect(unclear(it).count).toBe(2);
    it.leave(mine);
    it.leave(mine);
    expect(ownerOf(it)).toBe(B);
  });

  it('may still be that of a call that was given up, until its answer or for a minute', () => {
    const { attribution: it, clock } = openAttribution('refuse');
    const mine = it.enter(A, 'x')!;
    it.leave(mine);
    it.linger(7, mine);
    expect(ownerOf(it)).toBe(A);
    it.enter(B, 'y');
    expect(unclear(it).count).toBe(2);
    expect(it.lingersOfOthers(B)).toBe(true);
    expect(it.lingersOfOthers(A)).toBe(false);
    it.answered('7');
    expect(unclear(it).count).toBe(2);
    it.answered(7);
    expect(ownerOf(it)).toBe(B);
    it.linger(8, mine);
    clock.advance(59_999);
    expect(unclear(it).count).toBe(2);
    clock.advance(1);
    expect(ownerOf(it)).toBe(B);
    expect(it.lingersOfOthers(B)).toBe(false);
  });
});

describe('adaptive', () => {
  it('R2: lets everything in; only calls that are known to ask wait for each other', () => {
    const { attribution: it } = openAttribution();
    hasAsked(it, 'ask');
    const first = it.enter(A, 'ask')!;
    expect(first.alone).toBe(true);
    expect(it.enter(B, 'echo')).toBeDefined();
    expect(it.enter(B, 'ask')).toBeUndefined();
    // The owner of the call is not in its own way.
    expect(it.enter(A, 'ask')).toBeDefined();
  });

  it('R2: lets what asks begin beside calls that are not known to ask', () => {
    const { attribution: it } = openAttribution();
    hasAsked(it, 'ask');
    it.enter(B, 'echo');
    expect(it.enter(A, 'ask')?.alone).toBe(true);
    // Whose question it is shows when the other call has ended.
    expect(unclear(it).count).toBe(2);
  });

  it('R2: keeps others that ask waiting for two seconds at most, whether or not it has asked by then', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'ask');
    it.enter(A, 'ask');
    const waiting = it.wait(B, 'ask', LONG);
    clock.advance(1999);
    expect(await pending(waiting)).toBe(true);
    clock.advance(1);
    expect((await waiting).owner).toBe(B);
  });

  it('R2: lets a call that is known to ask wait for 30 seconds at most, behind however many', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'ask');
    it.enter(A, 'ask');
    const ahead = Array.from({ length: 29 }, () => it.wait({}, 'ask', LONG));
    const last = it.wait(B, 'ask', LONG);
    clock.advance(29_999);
    expect(await pending(last)).toBe(true);
    clock.advance(1);
    expect((await last).alone).toBe(false);
    it.refuse(new IsthmusError('CANCELLED', 'left', { sent: 'no' }));
    await Promise.allSettled(ahead);
  });

  it('R2: lets a call that only may ask wait for one second at most', async () => {
    const { attribution: it, clock } = openAttribution();
    const both = [it.enter(A, 'x')!, it.enter(B, 'y')!];
    it.suspect(unclear(it));
    for (const call of both) it.leave(call);
    it.enter(A, 'x');
    const waiting = it.wait(B, 'y', LONG);
    clock.advance(999);
    expect(await pending(waiting)).toBe(true);
    clock.advance(1);
    expect((await waiting).alone).toBe(false);
  });

  it('R2: lets clients take turns, however many calls one of them has in the line', async () => {
    const { attribution: it } = openAttribution();
    hasAsked(it, 'ask');
    const of = (client: string) => ({ ...behalfOf({}), client });
    let call = it.enter(A, 'ask', of('greedy'))!;
    const order: string[] = [];
    const all = ['greedy', 'greedy', 'greedy', 'modest', 'other'].map((client) =>
      it.wait(A, 'ask', LONG, of(client)).then((next) => {
        order.push(client);
        call = next;
      }),
    );
    for (const _ of all) {
      it.leave(call);
      await settled();
    }
    await Promise.all(all);
    expect(order).toEqual(['greedy', 'modest', 'greedy', 'other', 'greedy']);
  });

  it('R2: lets what asks begin at once where 1024 wait already, rather than refuse it', async () => {
    const { attribution: it } = openAttribution();
    hasAsked(it, 'ask');
    it.enter(A, 'ask');
    const waiting = Array.from({ length: 1024 }, () => it.wait(B, 'ask', LONG));
    expect((await it.wait(C, 'ask', LONG)).alone).toBe(false);
    it.refuse(new IsthmusError('CANCELLED', 'left', { sent: 'no' }));
    await Promise.allSettled(waiting);
  });

  it('keeps for ever what asked beyond doubt, and what may have only until it ended three times without', () => {
    const { attribution: it } = openAttribution();
    const both = [it.enter(A, 'sure')!, it.enter(B, 'perhaps')!];
    it.suspect(unclear(it));
    for (const call of both) it.leave(call);
    for (const alone of [true, true, true, false]) {
      const call = it.enter(B, 'perhaps')!;
      expect(call.alone).toBe(alone);
      it.leave(call);
    }
    for (let times = 0; times < 5; times += 1) {
      const call = it.enter(A, 'sure')!;
      expect(call.alone).toBe(true);
      if (times === 0) ask(it);
      it.leave(call);
    }
  });

  it('does not distinguish tools by their arguments, but by their names', () => {
    const { attribution: it } = openAttribution();
    hasAsked(it, 'tools/call ask');
    expect(it.enter(A, 'tools/call echo')?.alone).toBe(false);
  });

  it('blames nobody for the mere thought of a question', () => {
    const { attribution: it } = openAttribution();
    it.leave(it.enter(A, 'x')!);
    const call = it.enter(A, 'y')!;
    it.attribute();
    it.leave(call);
    expect(it.enter(A, 'y')?.alone).toBe(false);
  });
});

describe('those who wait', () => {
  it('go in the order of their arrival, and nobody overtakes them', async () => {
    const { attribution: it } = openAttribution('queue');
    const first = it.enter(A, 'x')!;
    const order: string[] = [];
    const wait = (owner: object, name: string) =>
      it.wait(owner, name, LONG).then((call) => {
        order.push(name);
        return call;
      });
    const second = wait(B, 'b');
    const third = wait(C, 'c');
    expect(it.enter(A, 'late')).toBeUndefined();
    const fourth = wait(A, 'late');
    it.leave(first);
    it.leave(await second);
    it.leave(await third);
    it.leave(await fourth);
    expect(order).toEqual(['b', 'c', 'late']);
  });

  it('are overtaken by whoever is being asked: it would wait for itself', () => {
    const { attribution: it } = openAttribution('queue');
    it.enter(A, 'ask');
    void it.wait(B, 'ask', LONG);
    expect(it.enter(A, 'nested')).toBeUndefined();
    it.answering(A, 1);
    expect(it.enter(A, 'nested')).toBeDefined();
    it.answering(A, -1);
    expect(it.enter(A, 'nested')).toBeUndefined();
  });

  it('all go at once where nothing has to run alone any more', async () => {
    const { attribution: it } = openAttribution();
    hasAsked(it, 'ask');
    const alone = it.enter(A, 'ask')!;
    const waiting = [it.wait(B, 'echo', LONG), it.wait(C, 'echo', LONG)];
    it.leave(alone);
    expect((await Promise.all(waiting)).map(({ owner }) => owner)).toEqual([B, C]);
  });

  it('give up at the end of their time, or when they are called off, and let the next one go', async () => {
    const { attribution: it, clock } = openAttribution('queue');
    const first = it.enter(A, 'x')!;
    const over = new AbortController();
    const second = it.wait(B, 'tools/call b', { timeoutMs: 1000 });
    const third = it.wait(C, 'tools/call c', { timeoutMs: 5000, signal: over.signal });
    const fourth = it.wait(B, 'tools/call d', LONG);
    clock.advance(1000);
    await expect(second).rejects.toMatchObject({ code: 'TIMED_OUT', sent: 'no' });
    over.abort('changed my mind');
    await expect(third).rejects.toMatchObject({ code: 'CANCELLED', sent: 'no', cause: 'changed my mind' });
    expect(await pending(fourth)).toBe(true);
    it.leave(first);
    expect((await fourth).owner).toBe(B);
    expect(clock.waiting).toBe(0);
  });

  it('are refused when it was over before it began', async () => {
    const { attribution: it } = openAttribution('queue');
    it.enter(A, 'x');
    await expect(it.wait(B, 'tools/call b', { ...LONG, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'CANCELLED',
      sent: 'no',
    });
  });

  it('are refused together when their owner leaves, and the others are not', async () => {
    const { attribution: it, clock } = openAttribution('queue');
    const first = it.enter(A, 'x')!;
    const gone = [it.wait(B, 'b', LONG), it.wait(B, 'b', LONG)];
    const kept = it.wait(C, 'c', LONG);
    it.refuse(new IsthmusError('CANCELLED', 'left', { sent: 'no' }), B);
    for (const each of gone) await expect(each).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await pending(kept)).toBe(true);
    it.leave(first);
    expect((await kept).owner).toBe(C);
    expect(clock.waiting).toBe(0);
  });

  it('are 1024 at most', async () => {
    const { attribution: it } = openAttribution('queue');
    it.enter(A, 'x');
    const waiting = Array.from({ length: 1024 }, () => it.wait(B, 'b', LONG));
    await expect(it.wait(B, 'b', LONG)).rejects.toMatchObject({ code: 'BUSY', sent: 'no' });
    it.refuse(new IsthmusError('CANCELLED', 'left', { sent: 'no' }));
    expect((await Promise.allSettled(waiting)).every(({ status }) => status === 'rejected')).toBe(true);
  });
});
