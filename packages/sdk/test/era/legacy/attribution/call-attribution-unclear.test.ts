import { describe, expect, it } from 'vitest';
import type { Attribution } from '../../../../src/era/legacy/attribution/attribution.js';
import type { CallAttribution } from '../../../../src/era/legacy/attribution/call-attribution.js';
import {
  A,
  ask,
  B,
  behalfOf,
  C,
  enter,
  goesAway,
  hasAsked,
  openAttribution,
  ownerOf,
  pending,
  unclear,
} from '../../../support/call-attribution.js';

/** A question that may be several owners' is held until it is clear whose it is, or two seconds have passed. */

const never = new AbortController().signal;

async function owner(found: Promise<Attribution>): Promise<object | undefined> {
  const attribution = await found;
  return attribution.kind === 'one' ? attribution.call.owner : undefined;
}

/** A call is given up. */
function giveUp(it: CallAttribution, id: number, from: object, key: string, caller?: object): void {
  const call = caller ? enter(it, caller, key, behalfOf(from))! : enter(it, from, key)!;
  call.end();
  call.giveUp(id);
}

describe('a question that may be several owners’', () => {
  it('is that of the one who is left when the others have ended: whoever asked waits for the answer', async () => {
    const { attribution: it, clock } = openAttribution();
    const [, second, third] = [enter(it, A, 'x')!, enter(it, B, 'y')!, enter(it, C, 'z')!];
    const found = unclear(it).clarify(never);
    second.end();
    expect(await pending(found)).toBe(true);
    third.end();
    expect(await owner(found)).toBe(A);
    expect(clock.waiting).toBe(0);
  });

  it('is not that of calls which begin meanwhile', async () => {
    const { attribution: it } = openAttribution();
    enter(it, A, 'x');
    const second = enter(it, B, 'y')!;
    const found = unclear(it).clarify(never);
    enter(it, C, 'z');
    second.end();
    expect(await owner(found)).toBe(A);
  });

  it('is nobody’s when all have ended before it was looked at again', () => {
    const { attribution: it } = openAttribution();
    const both = [enter(it, A, 'x')!, enter(it, B, 'y')!];
    const asked = unclear(it);
    for (const call of both) call.end();
    enter(it, C, 'z');
    expect(asked.again()).toEqual({ kind: 'none' });
  });

  it('stays unclear after two seconds, and not earlier', async () => {
    const { attribution: it, clock } = openAttribution();
    enter(it, A, 'x');
    enter(it, B, 'y');
    const found = unclear(it).clarify(never);
    clock.advance(1999);
    expect(await pending(found)).toBe(true);
    clock.advance(1);
    expect(await found).toMatchObject({ kind: 'several', count: 2 });
    expect(clock.waiting).toBe(0);
  });

  it('is held no longer when nobody wants the answer', async () => {
    const { attribution: it, clock } = openAttribution();
    enter(it, A, 'x');
    enter(it, B, 'y');
    const over = new AbortController();
    const found = unclear(it).clarify(over.signal);
    over.abort();
    expect(await found).toMatchObject({ kind: 'several' });
    expect(clock.waiting).toBe(0);
  });

  it('may be that of a call which is given up meanwhile, however little that is feared: it may wait for the answer', async () => {
    const { attribution: it, clock } = openAttribution();
    const given = enter(it, C, 'x', behalfOf(A))!;
    enter(it, C, 'y', behalfOf(B));
    const found = unclear(it).clarify(never);
    given.end();
    given.giveUp(1);
    clock.advance(1999);
    expect(await pending(found)).toBe(true);
    clock.advance(1);
    expect(await found).toMatchObject({ kind: 'several' });
    // What comes now is not feared to be its.
    expect(ownerOf(it)).toBe(B);
  });

  it('is not that of a call which is given up meanwhile and has its answer then', async () => {
    const { attribution: it, givenUp } = openAttribution();
    const given = enter(it, C, 'x', behalfOf(A))!;
    enter(it, C, 'y', behalfOf(B));
    const found = unclear(it).clarify(never);
    given.end();
    given.giveUp(1);
    givenUp.remove(1)?.answeredLate();
    expect(await owner(found)).toBe(B);
  });

  it('stays unclear when one of them is taken for waiting: it came before that', async () => {
    const { attribution: it, givenUp, clock } = openAttribution();
    const [given] = goesAway(it, clock, C, 'x');
    enter(it, A, 'form');
    ask(it);
    given.end();
    given.giveUp(1);
    // It may be the second of two that A asks at once, or of the call that C gave up.
    const found = unclear(it).clarify(never);
    clock.advance(50);
    expect(await pending(found)).toBe(true);
    givenUp.remove(1)?.answeredLate();
    expect(await owner(found)).toBe(A);
  });
});

describe('the blame for a question that stayed unclear', () => {
  it('is on all whose it may have been, and not on those who ended before', async () => {
    const { attribution: it, clock } = openAttribution();
    const [first, second, third] = [enter(it, A, 'x')!, enter(it, B, 'y')!, enter(it, C, 'z')!];
    const found = unclear(it).clarify(never);
    third.end();
    clock.advance(2000);
    const attribution = await found;
    if (attribution.kind !== 'several') throw new Error('it was clear');
    attribution.suspect();
    first.end();
    second.end();
    expect(['x', 'y', 'z'].map((key) => alone(it, key))).toEqual([true, true, false]);
  });

  it('is on nobody when it has become clear, but on whoever asked', async () => {
    const { attribution: it } = openAttribution();
    const [first, second] = [enter(it, A, 'x')!, enter(it, B, 'y')!];
    const found = unclear(it).clarify(never);
    second.end();
    const attribution = await found;
    if (attribution.kind !== 'one') throw new Error('it stayed unclear');
    attribution.ask().over();
    first.end();
    expect(['x', 'y'].map((key) => alone(it, key))).toEqual([true, false]);
  });

  it('is not on calls that were given up, nor on one that only these could be confused with', () => {
    const { attribution: it, givenUp } = openAttribution();
    giveUp(it, 1, A, 'given up');
    const call = enter(it, B, 'x')!;
    unclear(it).suspect();
    call.end();
    givenUp.remove(1)?.answeredLate();
    expect(['given up', 'x'].map((key) => alone(it, key))).toEqual([false, false]);
  });

  it('is not on a call that was given up, even when nobody else can have asked', () => {
    const { attribution: it, givenUp } = openAttribution();
    giveUp(it, 1, A, 'given up');
    ask(it).over();
    givenUp.remove(1)?.answeredLate();
    expect(alone(it, 'given up')).toBe(false);
  });
});

describe('a call that was given up', () => {
  it('of a conversation is feared for a minute', async () => {
    const { attribution: it, clock } = openAttribution();
    giveUp(it, 1, A, 'x');
    enter(it, B, 'y');
    clock.advance(59_000);
    const found = unclear(it).clarify(never);
    clock.advance(999);
    expect(await pending(found)).toBe(true);
    clock.advance(1);
    expect(await owner(found)).toBe(B);
    expect(clock.waiting).toBe(0);
  });

  it('on behalf of somebody is not feared when it is not known to ask', () => {
    const { attribution: it } = openAttribution();
    giveUp(it, 1, A, 'x', C);
    expect(it.attribute()).toEqual({ kind: 'none' });
  });

  it('on behalf of somebody, which has asked, is feared for a second: less than a question is held', async () => {
    const { attribution: it, clock } = openAttribution();
    const call = enter(it, C, 'ask', behalfOf(A))!;
    ask(it);
    call.end();
    call.giveUp(1);
    enter(it, B, 'y');
    const found = unclear(it).clarify(never);
    clock.advance(999);
    expect(await pending(found)).toBe(true);
    clock.advance(1);
    expect(await owner(found)).toBe(B);
  });

  it('on behalf of somebody, which is known to ask and has not yet, is feared for longer than a question is held', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'ask');
    giveUp(it, 1, A, 'ask', C);
    enter(it, B, 'y');
    const crossing = unclear(it).clarify(never);
    clock.advance(1001);
    const later = unclear(it).clarify(never);
    clock.advance(999);
    expect(await crossing).toMatchObject({ kind: 'several' });
    clock.advance(999);
    expect(await pending(later)).toBe(true);
    clock.advance(1);
    expect(await owner(later)).toBe(B);
  });

  it('on behalf of somebody is not feared for a mere suspicion', () => {
    const { attribution: it } = openAttribution();
    const both = [enter(it, A, 'x')!, enter(it, B, 'y')!];
    unclear(it).suspect();
    for (const call of both) call.end();
    giveUp(it, 1, A, 'x', C);
    expect(it.attribute()).toEqual({ kind: 'none' });
  });

  it('is not asked about while another of its owner runs, and confuses nobody', () => {
    const { attribution: it } = openAttribution();
    giveUp(it, 1, A, 'x');
    const running = enter(it, A, 'y')!;
    expect(it.attribute()).toEqual({ kind: 'one', call: running, calls: [running] });
  });

  it('is feared while all others of its owner wait for answers', () => {
    const { attribution: it, clock } = openAttribution();
    goesAway(it, clock, A, 'ask');
    const second = enter(it, A, 'slow')!;
    second.end();
    second.giveUp(1);
    enter(it, B, 'y');
    expect(unclear(it).calls.map(({ owner: of }) => of)).toEqual([B, A]);
  });

  it('is feared beside those who wait for answers, when nobody else is there', () => {
    const { attribution: it, givenUp, clock } = openAttribution();
    const second = enter(it, B, 'slow')!;
    second.end();
    goesAway(it, clock, A, 'ask');
    second.giveUp(1);
    expect(unclear(it).count).toBe(2);
    givenUp.remove(1)?.answeredLate();
    expect(ownerOf(it)).toBe(A);
  });
});

/** Whether it runs alone from now on. */
function alone(it: CallAttribution, key: string): boolean {
  const call = enter(it, {}, key)!;
  const { alone: isAlone } = call;
  call.end();
  return isAlone;
}

describe('many calls that were given up and many questions that may be theirs', () => {
  it('wait with two timers for each question, not with one more for each call', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'x');
    for (let id = 0; id < 100; id += 1) giveUp(it, id, A, 'x');
    enter(it, B, 'y');
    const before = clock.waiting;
    const found = Array.from({ length: 100 }, () => unclear(it).clarify(new AbortController().signal));
    expect(clock.waiting - before).toBe(200);
    clock.advance(2000);
    expect((await Promise.all(found)).map(({ kind }) => kind)).toEqual(Array(100).fill('several'));
  });
});
