import { describe, expect, it } from 'vitest';
import { IsthmusError } from '../../../src/errors.js';
import { A, ask, B, C, hasAsked, LONG, ownerOf, pending, turns, unclear } from './support.js';

describe('whose question it is', () => {
  it('is nobody’s while nothing is in flight', () => {
    expect(turns().turns.attribute()).toEqual({ kind: 'nobody' });
  });

  it('is the owner’s of the only call, and of several calls of one owner', () => {
    const { turns: it } = turns();
    it.enter(A, 'x');
    expect(ownerOf(it)).toBe(A);
    it.enter(A, 'y');
    expect(ownerOf(it)).toBe(A);
  });

  it('is undecided with calls of two owners, and decided again when one has left', () => {
    const { turns: it } = turns();
    const mine = it.enter(A, 'x')!;
    it.enter(B, 'y');
    expect(unclear(it).count).toBe(2);
    it.leave(mine);
    it.leave(mine);
    expect(ownerOf(it)).toBe(B);
  });

  it('may still be that of a call that was given up, until its answer or for a minute', () => {
    const { turns: it, clock } = turns('refuse');
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
  it('lets everything in until something has asked, and then that alone', () => {
    const { turns: it } = turns();
    hasAsked(it, 'ask');
    expect(it.enter(A, 'ask')?.alone).toBe(true);
    expect(it.enter(B, 'echo')).toBeUndefined();
    // The owner of the lone call is not in its own way.
    expect(it.enter(A, 'echo')).toBeDefined();
  });

  it('lets what asks begin only when nobody else is there', () => {
    const { turns: it } = turns();
    hasAsked(it, 'ask');
    const other = it.enter(B, 'echo')!;
    expect(it.enter(A, 'ask')).toBeUndefined();
    it.leave(other);
    expect(it.enter(A, 'ask')).toBeDefined();
  });

  it('keeps for ever what asked beyond doubt, and what may have only until it ran alone three times', () => {
    const { turns: it } = turns();
    const both = [it.enter(A, 'sure')!, it.enter(B, 'perhaps')!];
    it.suspect(unclear(it));
    for (const turn of both) it.leave(turn);
    for (const alone of [true, true, true, false]) {
      const turn = it.enter(B, 'perhaps')!;
      expect(turn.alone).toBe(alone);
      it.leave(turn);
    }
    for (let times = 0; times < 5; times += 1) {
      const turn = it.enter(A, 'sure')!;
      expect(turn.alone).toBe(true);
      if (times === 0) ask(it);
      it.leave(turn);
    }
  });

  it('does not distinguish tools by their arguments, but by their names', () => {
    const { turns: it } = turns();
    hasAsked(it, 'tools/call ask');
    expect(it.enter(A, 'tools/call echo')?.alone).toBe(false);
  });

  it('blames nobody for the mere thought of a question', () => {
    const { turns: it } = turns();
    it.leave(it.enter(A, 'x')!);
    const turn = it.enter(A, 'y')!;
    it.attribute();
    it.leave(turn);
    expect(it.enter(A, 'y')?.alone).toBe(false);
  });
});

describe('those who wait', () => {
  it('go in the order of their arrival, and nobody overtakes them', async () => {
    const { turns: it } = turns('queue');
    const first = it.enter(A, 'x')!;
    const order: string[] = [];
    const wait = (owner: object, name: string) =>
      it.wait(owner, name, LONG).then((turn) => {
        order.push(name);
        return turn;
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
    const { turns: it } = turns('queue');
    it.enter(A, 'ask');
    void it.wait(B, 'ask', LONG);
    expect(it.enter(A, 'nested')).toBeUndefined();
    it.answering(A, 1);
    expect(it.enter(A, 'nested')).toBeDefined();
    it.answering(A, -1);
    expect(it.enter(A, 'nested')).toBeUndefined();
  });

  it('all go at once where nothing has to run alone any more', async () => {
    const { turns: it } = turns();
    hasAsked(it, 'ask');
    const alone = it.enter(A, 'ask')!;
    const waiting = [it.wait(B, 'echo', LONG), it.wait(C, 'echo', LONG)];
    it.leave(alone);
    expect((await Promise.all(waiting)).map(({ owner }) => owner)).toEqual([B, C]);
  });

  it('give up at the end of their time, or when they are called off, and let the next one go', async () => {
    const { turns: it, clock } = turns('queue');
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
    const { turns: it } = turns('queue');
    it.enter(A, 'x');
    await expect(it.wait(B, 'tools/call b', { ...LONG, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'CANCELLED',
      sent: 'no',
    });
  });

  it('are refused together when their owner leaves, and the others are not', async () => {
    const { turns: it, clock } = turns('queue');
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
    const { turns: it } = turns('queue');
    it.enter(A, 'x');
    const waiting = Array.from({ length: 1024 }, () => it.wait(B, 'b', LONG));
    await expect(it.wait(B, 'b', LONG)).rejects.toMatchObject({ code: 'BUSY', sent: 'no' });
    it.refuse(new IsthmusError('CANCELLED', 'left', { sent: 'no' }));
    expect((await Promise.allSettled(waiting)).every(({ status }) => status === 'rejected')).toBe(true);
  });
});
