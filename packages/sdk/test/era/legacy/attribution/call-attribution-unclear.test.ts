import { describe, expect, it } from 'vitest';
import type { Attribution } from '../../../../src/era/legacy/attribution/attributable-call.js';
import type { RunningCalls } from '../../../../src/era/legacy/attribution/running-calls.js';
import {
  A,
  ask,
  B,
  behalfOf,
  C,
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
function giveUp(it: RunningCalls, id: number, from: object, key: string, caller?: object): void {
  const call = caller ? it.enter(caller, key, behalfOf(from))! : it.enter(from, key)!;
  it.leave(call);
  it.linger(id, call);
}

describe('a question that may be several owners’', () => {
  it('is that of the one who is left when the others have ended: whoever asked waits for the answer', async () => {
    const { attribution: it, clock } = openAttribution();
    const [, second, third] = [it.enter(A, 'x')!, it.enter(B, 'y')!, it.enter(C, 'z')!];
    const found = it.clarify(unclear(it), never);
    it.leave(second);
    expect(await pending(found)).toBe(true);
    it.leave(third);
    expect(await owner(found)).toBe(A);
    expect(clock.waiting).toBe(0);
  });

  it('is not that of calls which begin meanwhile', async () => {
    const { attribution: it } = openAttribution();
    it.enter(A, 'x');
    const second = it.enter(B, 'y')!;
    const found = it.clarify(unclear(it), never);
    it.enter(C, 'z');
    it.leave(second);
    expect(await owner(found)).toBe(A);
  });

  it('is nobody’s when all have ended before it was looked at again', () => {
    const { attribution: it } = openAttribution();
    const both = [it.enter(A, 'x')!, it.enter(B, 'y')!];
    const asked = unclear(it);
    for (const call of both) it.leave(call);
    it.enter(C, 'z');
    expect(it.attribute(asked)).toEqual({ kind: 'none' });
  });

  it('stays unclear after two seconds, and not earlier', async () => {
    const { attribution: it, clock } = openAttribution();
    it.enter(A, 'x');
    it.enter(B, 'y');
    const found = it.clarify(unclear(it), never);
    clock.advance(1999);
    expect(await pending(found)).toBe(true);
    clock.advance(1);
    expect(await found).toMatchObject({ kind: 'several', count: 2 });
    expect(clock.waiting).toBe(0);
  });

  it('is held no longer when nobody wants the answer', async () => {
    const { attribution: it, clock } = openAttribution();
    it.enter(A, 'x');
    it.enter(B, 'y');
    const over = new AbortController();
    const found = it.clarify(unclear(it), over.signal);
    over.abort();
    expect(await found).toMatchObject({ kind: 'several' });
    expect(clock.waiting).toBe(0);
  });

  it('may be that of a call which is given up meanwhile, however little that is feared: it may wait for the answer', async () => {
    const { attribution: it, clock } = openAttribution();
    const given = it.enter(C, 'x', behalfOf(A))!;
    it.enter(C, 'y', behalfOf(B));
    const found = it.clarify(unclear(it), never);
    it.leave(given);
    it.linger(1, given);
    clock.advance(1999);
    expect(await pending(found)).toBe(true);
    clock.advance(1);
    expect(await found).toMatchObject({ kind: 'several' });
    // What comes now is not feared to be its.
    expect(ownerOf(it)).toBe(B);
  });

  it('is not that of a call which is given up meanwhile and has its answer then', async () => {
    const { attribution: it } = openAttribution();
    const given = it.enter(C, 'x', behalfOf(A))!;
    it.enter(C, 'y', behalfOf(B));
    const found = it.clarify(unclear(it), never);
    it.leave(given);
    it.linger(1, given);
    it.answered(1);
    expect(await owner(found)).toBe(B);
  });

  it('stays unclear when one of them is taken for waiting: it came before that', async () => {
    const { attribution: it, clock } = openAttribution();
    const [given] = goesAway(it, clock, C, 'x');
    it.enter(A, 'form');
    ask(it);
    it.leave(given);
    it.linger(1, given);
    // It may be the second of two that A asks at once, or of the call that C gave up.
    const found = it.clarify(unclear(it), never);
    clock.advance(50);
    expect(await pending(found)).toBe(true);
    it.answered(1);
    expect(await owner(found)).toBe(A);
  });
});

describe('the blame for a question that stayed unclear', () => {
  it('is on all whose it may have been, and not on those who ended before', async () => {
    const { attribution: it, clock } = openAttribution();
    const [first, second, third] = [it.enter(A, 'x')!, it.enter(B, 'y')!, it.enter(C, 'z')!];
    const found = it.clarify(unclear(it), never);
    it.leave(third);
    clock.advance(2000);
    const attribution = await found;
    if (attribution.kind !== 'several') throw new Error('it was clear');
    it.suspect(attribution);
    it.leave(first);
    it.leave(second);
    expect(['x', 'y', 'z'].map((key) => alone(it, key))).toEqual([true, true, false]);
  });

  it('is on nobody when it has become clear, but on whoever asked', async () => {
    const { attribution: it } = openAttribution();
    const [first, second] = [it.enter(A, 'x')!, it.enter(B, 'y')!];
    const found = it.clarify(unclear(it), never);
    it.leave(second);
    const attribution = await found;
    if (attribution.kind !== 'one') throw new Error('it stayed unclear');
    it.over(it.asking(attribution));
    it.leave(first);
    expect(['x', 'y'].map((key) => alone(it, key))).toEqual([true, false]);
  });

  it('is not on calls that were given up, nor on one that only these could be confused with', () => {
    const { attribution: it } = openAttribution();
    giveUp(it, 1, A, 'given up');
    const call = it.enter(B, 'x')!;
    it.suspect(unclear(it));
    it.leave(call);
    it.answered(1);
    expect(['given up', 'x'].map((key) => alone(it, key))).toEqual([false, false]);
  });

  it('is not on a call that was given up, even when nobody else can have asked', () => {
    const { attribution: it } = openAttribution();
    giveUp(it, 1, A, 'given up');
    it.over(ask(it));
    it.answered(1);
    expect(alone(it, 'given up')).toBe(false);
  });
});

describe('a call that was given up', () => {
  it('of a conversation is feared for a minute', async () => {
    const { attribution: it, clock } = openAttribution();
    giveUp(it, 1, A, 'x');
    it.enter(B, 'y');
    clock.advance(59_000);
    const found = it.clarify(unclear(it), never);
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
    const call = it.enter(C, 'ask', behalfOf(A))!;
    ask(it);
    it.leave(call);
    it.linger(1, call);
    it.enter(B, 'y');
    const found = it.clarify(unclear(it), never);
    clock.advance(999);
    expect(await pending(found)).toBe(true);
    clock.advance(1);
    expect(await owner(found)).toBe(B);
  });

  it('on behalf of somebody, which is known to ask and has not yet, is feared for longer than a question is held', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'ask');
    giveUp(it, 1, A, 'ask', C);
    it.enter(B, 'y');
    const crossing = it.clarify(unclear(it), never);
    clock.advance(1001);
    const later = it.clarify(unclear(it), never);
    clock.advance(999);
    expect(await crossing).toMatchObject({ kind: 'several' });
    clock.advance(999);
    expect(await pending(later)).toBe(true);
    clock.advance(1);
    expect(await owner(later)).toBe(B);
  });

  it('on behalf of somebody is not feared for a mere suspicion', () => {
    const { attribution: it } = openAttribution();
    const both = [it.enter(A, 'x')!, it.enter(B, 'y')!];
    it.suspect(unclear(it));
    for (const call of both) it.leave(call);
    giveUp(it, 1, A, 'x', C);
    expect(it.attribute()).toEqual({ kind: 'none' });
  });

  it('is not asked about while another of its owner runs, and confuses nobody', () => {
    const { attribution: it } = openAttribution();
    giveUp(it, 1, A, 'x');
    const running = it.enter(A, 'y')!;
    expect(it.attribute()).toEqual({ kind: 'one', call: running, calls: [running] });
  });

  it('is feared while all others of its owner wait for answers', () => {
    const { attribution: it, clock } = openAttribution();
    goesAway(it, clock, A, 'ask');
    const second = it.enter(A, 'slow')!;
    it.leave(second);
    it.linger(1, second);
    it.enter(B, 'y');
    expect(unclear(it).calls.map(({ owner: of }) => of)).toEqual([B, A]);
  });

  it('is feared beside those who wait for answers, when nobody else is there', () => {
    const { attribution: it, clock } = openAttribution();
    const second = it.enter(B, 'slow')!;
    it.leave(second);
    goesAway(it, clock, A, 'ask');
    it.linger(1, second);
    expect(unclear(it).count).toBe(2);
    it.answered(1);
    expect(ownerOf(it)).toBe(A);
  });
});

/** Whether it runs alone from now on. */
function alone(it: RunningCalls, key: string): boolean {
  const call = it.enter({}, key)!;
  const { alone: isAlone } = call;
  it.leave(call);
  return isAlone;
}
