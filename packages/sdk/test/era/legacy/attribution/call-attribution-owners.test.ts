import { describe, expect, it } from 'vitest';
import { IsthmusError } from '../../../../src/errors.js';
import {
  A,
  ask,
  B,
  behalfOf,
  C,
  enter,
  goesAway,
  openAttribution,
  ownerOf,
  unclear,
  wait,
} from '../../../support/call-attribution.js';

/** Whose a call is, where an owner has several calls, or a caller makes calls for several owners. */

describe('calls on behalf of others', () => {
  it('are those of whom they are made for, and each of these is one owner', () => {
    const { attribution: it } = openAttribution();
    const [ada, bob] = [behalfOf({ name: 'ada' }), behalfOf({ name: 'bob' })];
    const first = enter(it, A, 'x', ada)!;
    expect(first).toMatchObject({ owner: ada.owner, caller: A, behalf: ada });
    expect(ownerOf(it)).toBe(ada.owner);
    enter(it, A, 'x', bob);
    expect(unclear(it).count).toBe(2);
    first.end();
    expect(ownerOf(it)).toBe(bob.owner);
  });

  it('have one owner when they are made for the same, whoever speaks', () => {
    const { attribution: it } = openAttribution();
    const ada = behalfOf({ name: 'ada' });
    enter(it, A, 'x', ada);
    enter(it, B, 'y', behalfOf(ada.owner));
    expect(ownerOf(it)).toBe(ada.owner);
  });

  it('wait for each other as those of different speakers do', async () => {
    const { attribution: it } = openAttribution('queue');
    const first = enter(it, A, 'x', behalfOf(B))!;
    expect(enter(it, A, 'x', behalfOf(C))).toBeUndefined();
    const waiting = wait(it, A, 'x', { timeoutMs: 1000 }, behalfOf(C));
    first.end();
    expect((await waiting).owner).toBe(C);
  });

  it('are refused together with their caller', async () => {
    const { attribution: it } = openAttribution('queue');
    enter(it, A, 'x', behalfOf(B));
    const waiting = wait(it, A, 'x', { timeoutMs: 1000 }, behalfOf(C));
    it.refuse(new IsthmusError('CANCELLED', 'left', { sent: 'no' }), A);
    await expect(waiting).rejects.toMatchObject({ message: 'left' });
  });
});

describe('of several calls of one owner', () => {
  it('the one is asked about that has asked least, the latest of those', () => {
    const { attribution: it } = openAttribution();
    const [first, second, third] = [enter(it, A, 'x')!, enter(it, A, 'y')!, enter(it, A, 'z')!];
    const asked = [ask(it), ask(it), ask(it)].map(({ call }) => call);
    expect(asked).toEqual([third, second, first]);
  });

  it('one that has no open question is preferred', () => {
    const { attribution: it } = openAttribution();
    const [first, second] = [enter(it, A, 'x')!, enter(it, A, 'y')!];
    ask(it).over();
    const open = ask(it);
    expect(open.call).toBe(first);
    expect(ask(it).call).toBe(second);
  });

  it('no more are taken for waiting than are sure to: the others may ask, and not be taken for somebody else', () => {
    const { attribution: it, clock } = openAttribution();
    enter(it, A, 'x');
    enter(it, A, 'y');
    // Both may be of the same call.
    ask(it);
    ask(it);
    clock.advance(50);
    expect(enter(it, B, 'echo')).toBeDefined();
    expect(unclear(it).calls.map(({ owner }) => owner)).toEqual([A, B]);
  });

  it('one is sure to wait, whichever it is, so that it does not keep others off', () => {
    const { attribution: it, clock } = openAttribution();
    enter(it, A, 'x');
    enter(it, A, 'y');
    ask(it);
    clock.advance(50);
    expect(enter(it, B, 'echo')).toBeDefined();
    // The other one of the two may ask, too.
    expect(unclear(it).count).toBe(2);
  });

  it('all may wait when each was the only one that could have asked', () => {
    const { attribution: it, asked, clock } = openAttribution();
    goesAway(it, clock, A, 'x');
    asked.add(A);
    goesAway(it, clock, A, 'nested');
    enter(it, B, 'echo');
    expect(ownerOf(it)).toBe(B);
  });

  it.each([0, 50])(
    'none is taken for waiting when the one that waits is given up, %i ms after it asked',
    (ms) => {
      const { attribution: it, clock } = openAttribution();
      const caller = {};
      const asks = enter(it, caller, 'x', behalfOf(A))!;
      const other = enter(it, caller, 'y', behalfOf(A))!;
      // Nobody can know that it was the first one.
      expect(ask(it).call).toBe(other);
      clock.advance(ms);
      asks.end();
      asks.giveUp(1);
      clock.advance(50);
      expect(enter(it, caller, 'echo', behalfOf(B))).toBeDefined();
      expect(unclear(it).count).toBe(2);
    },
  );

  it('none is taken for waiting when it may have been one that was given up', () => {
    const { attribution: it, clock } = openAttribution();
    const given = enter(it, A, 'x')!;
    given.end();
    given.giveUp(1);
    goesAway(it, clock, A, 'y');
    expect(enter(it, B, 'echo')).toBeDefined();
    expect(unclear(it).count).toBe(2);
  });

  it('one is, when that has ended before others would have been let in', () => {
    const { attribution: it, givenUp, clock } = openAttribution();
    const given = enter(it, A, 'x')!;
    given.end();
    given.giveUp(1);
    enter(it, A, 'y');
    ask(it);
    givenUp.remove(1)?.answeredLate();
    clock.advance(50);
    expect(enter(it, B, 'echo')).toBeDefined();
  });
});
