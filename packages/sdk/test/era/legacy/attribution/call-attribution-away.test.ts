import { describe, expect, it } from 'vitest';
import { IsthmusError } from '../../../../src/errors.js';
import {
  A,
  answer,
  ask,
  B,
  C,
  goesAway,
  hasAsked,
  hasAskedSeveral,
  LONG,
  openAttribution,
  ownerOf,
  pending,
  unclear,
} from '../../../support/call-attribution.js';

/** A person may think for minutes about a question. Others do not have to wait for that. */

const gone = () => new IsthmusError('CANCELLED', 'it has left', { sent: 'no' });

describe('while the owner of a call thinks about a question', () => {
  it('R2: others run at once', () => {
    const { attribution: it } = openAttribution();
    it.enter(A, 'ask');
    ask(it);
    expect(it.enter(B, 'echo')).toBeDefined();
  });

  it('others that are known to ask wait for 50 ms, and then they run and are asked themselves', async () => {
    const { attribution: it, clock } = openAttribution();
    it.enter(A, 'ask');
    ask(it);
    expect(it.enter(B, 'ask')).toBeUndefined();
    const waiting = it.wait(B, 'ask', LONG);
    clock.advance(49);
    expect(await pending(waiting)).toBe(true);
    clock.advance(1);
    expect((await waiting).owner).toBe(B);
    expect(ownerOf(it)).toBe(B);
    expect(ask(it).call.owner).toBe(B);
  });

  it('others that are known to ask run, too, and one after the other', () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'ask');
    goesAway(it, clock, A, 'ask');
    expect(it.enter(B, 'ask')?.alone).toBe(true);
    expect(it.enter(C, 'ask')).toBeUndefined();
    expect(ask(it).call.owner).toBe(B);
    clock.advance(50);
    expect(it.enter(C, 'ask')?.alone).toBe(true);
    expect(ask(it).call.owner).toBe(C);
  });

  it('its own calls run at once', () => {
    const { attribution: it } = openAttribution();
    it.enter(A, 'ask');
    ask(it);
    expect(it.enter(A, 'nested')).toBeDefined();
  });

  it('a question is its own when nobody else is there', () => {
    const { attribution: it, clock } = openAttribution();
    goesAway(it, clock, A, 'ask');
    expect(ownerOf(it)).toBe(A);
  });

  it('a question is nobody’s in particular when all who are there think', () => {
    const { attribution: it, clock } = openAttribution();
    goesAway(it, clock, A, 'ask');
    goesAway(it, clock, B, 'ask');
    expect(unclear(it).count).toBe(2);
  });

  it('nobody has to wait for it when it ends, nor is anybody let in twice for it', () => {
    const { attribution: it, clock } = openAttribution();
    const [call] = goesAway(it, clock, A, 'ask');
    it.leave(call);
    it.leave(call);
    expect(it.attribute()).toEqual({ kind: 'none' });
    const mine = it.enter(A, 'ask')!;
    expect(it.enter(B, 'ask')).toBeUndefined();
    it.leave(mine);
    expect(it.enter(B, 'ask')).toBeDefined();
  });

  it('others still wait for what else its owner runs that may ask, when it ends', () => {
    const { attribution: it, clock } = openAttribution();
    const [call] = goesAway(it, clock, A, 'ask');
    const other = it.enter(A, 'ask')!;
    it.leave(call);
    expect(it.enter(B, 'ask')).toBeUndefined();
    it.leave(other);
    expect(it.enter(B, 'ask')).toBeDefined();
  });

  it('others go on waiting where every call runs alone, and nobody does where none may', () => {
    const queue = openAttribution('queue');
    queue.attribution.enter(A, 'ask');
    ask(queue.attribution);
    queue.clock.advance(1000);
    expect(queue.attribution.enter(B, 'echo')).toBeUndefined();
    expect(queue.clock.waiting).toBe(0);
    const refuse = openAttribution('refuse');
    refuse.attribution.enter(A, 'ask');
    ask(refuse.attribution);
    expect(refuse.attribution.enter(B, 'ask')).toBeDefined();
    refuse.clock.advance(1000);
    expect(unclear(refuse.attribution).count).toBe(2);
  });
});

describe('R2: a call that asks several questions at once', () => {
  it('keeps nobody waiting while a person thinks, the first time and every other time', () => {
    const { attribution: it, clock } = openAttribution();
    for (let times = 0; times < 3; times += 1) {
      const form = it.enter(A, 'form')!;
      const questions = [ask(it), ask(it)];
      const echo = it.enter(B, 'echo')!;
      clock.advance(1000);
      const other = it.enter(C, 'form')!;
      for (const question of questions) it.over(question);
      for (const call of [form, echo, other]) it.leave(call);
    }
  });

  it('waits like any other when its questions have come, and others are asked', () => {
    const { attribution: it, clock } = openAttribution();
    it.enter(A, 'form');
    ask(it);
    clock.advance(49);
    ask(it);
    clock.advance(999);
    // Once it is known to ask several, the next one may be a second away. Only calls that ask wait for that.
    expect(it.enter(B, 'form')).toBeUndefined();
    clock.advance(1);
    expect(it.enter(B, 'form')).toBeDefined();
    expect(ask(it).call.owner).toBe(B);
  });

  it('is there for a second after each question, so that a late one is not taken for that of another call', () => {
    const { attribution: it, clock } = openAttribution();
    hasAskedSeveral(it, 'form');
    it.enter(A, 'form');
    ask(it);
    const echo = it.enter(B, 'echo')!;
    clock.advance(999);
    expect(unclear(it).count).toBe(2);
    it.leave(echo);
    expect(ask(it).call.owner).toBe(A);
  });

  it('may ask on as soon as the server has one of the answers, so that others are not asked its questions', async () => {
    const { attribution: it, clock } = openAttribution();
    it.enter(A, 'form');
    const [name, age] = [ask(it), ask(it)];
    clock.advance(1000);
    it.enter(B, 'echo');
    expect(ownerOf(it)).toBe(B);
    expect((await answer(it, age)).isGiven).toBe(true);
    expect(unclear(it).count).toBe(2);
    clock.advance(1000);
    expect(unclear(it).count).toBe(2);
    // It keeps nobody waiting all the same.
    expect(it.enter(C, 'form')).toBeDefined();
    expect((await answer(it, name)).isGiven).toBe(true);
  });

  it('is feared to ask on, from then on, when it asked after it was taken for waiting', () => {
    const { attribution: it, clock } = openAttribution();
    const [call] = goesAway(it, clock, A, 'form');
    expect(ask(it).call).toBe(call);
    clock.advance(1000);
    expect(call.away).toBe(true);
    it.enter(B, 'echo');
    expect(unclear(it).count).toBe(2);
  });
});

describe('the answer', () => {
  it('is given at once when it comes before others were let in, and these need not wait for the end', async () => {
    const { attribution: it, clock } = openAttribution();
    it.enter(A, 'ask');
    const question = ask(it);
    const waiting = it.wait(B, 'echo', LONG);
    expect((await answer(it, question)).isGiven).toBe(true);
    expect((await waiting).owner).toBe(B);
    expect(clock.waiting).toBe(0);
  });

  it('is given at once when nobody is there, or nobody who is known to ask', async () => {
    const { attribution: it, clock } = openAttribution();
    const [first, ofA] = goesAway(it, clock, A, 'ask');
    goesAway(it, clock, B, 'ask');
    expect((await answer(it, ofA)).isGiven).toBe(true);
    it.leave(first);
    const [, ofC] = goesAway(it, clock, C, 'ask');
    expect(it.enter(B, 'echo')).toBeDefined();
    expect((await answer(it, ofC)).isGiven).toBe(true);
    expect(unclear(it).calls.map(({ owner }) => owner)).toEqual([C, B]);
  });

  it('waits while another call runs alone: what came then could be a question of either', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'ask');
    const [, question] = goesAway(it, clock, A, 'ask');
    const other = it.enter(B, 'ask')!;
    const { isGiven, given } = await answer(it, question);
    expect(isGiven).toBe(false);
    expect(ownerOf(it)).toBe(B);
    it.leave(other);
    await given;
    expect(ownerOf(it)).toBe(A);
  });

  it('waits no longer than until the other one thinks, too', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'ask');
    const [, question] = goesAway(it, clock, A, 'ask');
    it.enter(B, 'ask');
    const { given } = await answer(it, question);
    ask(it);
    clock.advance(49);
    expect(await pending(given)).toBe(true);
    clock.advance(1);
    await given;
    expect(ownerOf(it)).toBe(A);
  });

  it('R2: waits for no call that is not known to ask, however long that takes', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [, question] = goesAway(it, clock, A, 'wizard');
    const others = [it.enter(B, 'echo')!, it.enter(C, 'echo')!];
    expect((await answer(it, question)).isGiven).toBe(true);
    // Others that ask wait for its next question, and other calls do not.
    expect(it.enter(B, 'wizard')).toBeUndefined();
    expect(it.enter(B, 'echo')).toBeDefined();
    for (const other of others) it.leave(other);
  });

  it('R2: waits for two seconds at most: a call that does not ask keeps no answer back for longer', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [, question] = goesAway(it, clock, A, 'wizard');
    it.enter(B, 'wizard');
    clock.advance(1500);
    const { isGiven, given } = await answer(it, question);
    expect(isGiven).toBe(false);
    // The other call has kept everybody waiting for long enough.
    clock.advance(500);
    await given;
    expect(unclear(it).count).toBe(2);
  });

  it('lets a call that is known to ask several at once run alone again', async () => {
    const { attribution: it, clock } = openAttribution();
    const [, question] = goesAway(it, clock, A, 'form');
    hasAskedSeveral(it, 'form');
    expect((await answer(it, question)).isGiven).toBe(true);
    expect(it.enter(B, 'form')).toBeUndefined();
  });

  it('waits for nobody of the same owner', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [, question] = goesAway(it, clock, A, 'wizard');
    it.enter(A, 'echo');
    expect((await answer(it, question)).isGiven).toBe(true);
  });

  it('goes before all who only want to begin', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [call, question] = goesAway(it, clock, A, 'wizard');
    it.answering(A, 1);
    const long = it.enter(B, 'wizard')!;
    const begins = it.wait(C, 'wizard', LONG);
    const { given } = await answer(it, question);
    expect(it.enter(C, 'wizard')).toBeUndefined();
    it.leave(long);
    await given;
    expect(await pending(begins)).toBe(true);
    it.leave(call);
    expect((await begins).owner).toBe(C);
  });

  it('gets a place in the line, however many want to begin', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [, question] = goesAway(it, clock, A, 'wizard');
    const long = it.enter(B, 'wizard')!;
    const begin = Array.from({ length: 1024 }, () => it.wait(C, 'wizard', LONG));
    const { isGiven, given } = await answer(it, question);
    expect(isGiven).toBe(false);
    it.leave(long);
    await given;
    it.refuse(gone());
    expect((await Promise.allSettled(begin)).every(({ status }) => status === 'rejected')).toBe(true);
  });

  it('is given when the call has ended meanwhile, also behind one that has to wait', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [, first] = goesAway(it, clock, A, 'wizard');
    const [call, second] = goesAway(it, clock, B, 'wizard');
    for (const owner of [A, B]) it.answering(owner, 1);
    it.enter(C, 'wizard');
    const ahead = await answer(it, first);
    const behind = await answer(it, second);
    expect([ahead.isGiven, behind.isGiven]).toEqual([false, false]);
    it.leave(call);
    await behind.given;
    expect(await pending(ahead.given)).toBe(true);
  });

  it('is not given when its owner leaves meanwhile, and nobody waits for that one', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [call, question] = goesAway(it, clock, A, 'wizard');
    const other = it.enter(B, 'wizard')!;
    const { given } = await answer(it, question);
    it.refuse(gone(), A);
    await expect(given).rejects.toMatchObject({ message: 'it has left' });
    it.leave(call);
    it.leave(other);
    const next = it.enter(C, 'wizard')!;
    expect(next).toBeDefined();
    it.leave(next);
    expect(clock.waiting).toBe(0);
  });

  it('of two that are known to ask again gets to each in turn, as often as they ask', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [first, ofA] = goesAway(it, clock, A, 'wizard');
    const [second, ofB] = goesAway(it, clock, B, 'wizard');
    let [a, b] = [ofA, ofB];
    for (let round = 0; round < 3; round += 1) {
      expect((await answer(it, a)).isGiven).toBe(true);
      const waiting = await answer(it, b);
      expect(waiting.isGiven).toBe(false);
      a = ask(it);
      expect(a.call).toBe(first);
      clock.advance(50);
      await waiting.given;
      b = ask(it);
      expect(b.call).toBe(second);
      clock.advance(50);
    }
    it.leave(first);
    it.leave(second);
    expect(it.attribute()).toEqual({ kind: 'none' });
    expect(clock.waiting).toBe(0);
  });
});

describe('a question that is taken back', () => {
  it('leaves a call that goes on at once: what it asks next is not another’s', () => {
    const { attribution: it, clock } = openAttribution();
    const [, question] = goesAway(it, clock, A, 'ask');
    it.enter(B, 'echo');
    expect(ownerOf(it)).toBe(B);
    it.over(question);
    expect(unclear(it).count).toBe(2);
    it.over(question);
    expect(unclear(it).calls.map(({ owner }) => owner)).toEqual([A, B]);
  });

  it('does so while its answer waits, which then is not given', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [call, question] = goesAway(it, clock, A, 'wizard');
    const other = it.enter(B, 'wizard')!;
    const over = new AbortController();
    const { given } = await answer(it, question, over.signal);
    it.over(question);
    over.abort();
    await expect(given).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(unclear(it).count).toBe(2);
    it.leave(call);
    expect(ownerOf(it)).toBe(B);
    it.leave(other);
    expect(it.attribute()).toEqual({ kind: 'none' });
    expect(it.enter(C, 'wizard')).toBeDefined();
  });

  it('has an answer that waits for nobody, and that is not the answer to what was asked since', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [, first] = goesAway(it, clock, A, 'wizard');
    it.over(first);
    ask(it);
    clock.advance(50);
    it.enter(B, 'echo');
    expect((await answer(it, first)).isGiven).toBe(true);
    expect(ownerOf(it)).toBe(B);
  });

  it('of two leaves the other open', () => {
    const { attribution: it, clock } = openAttribution();
    it.enter(A, 'form');
    const [first, second] = [ask(it), ask(it)];
    it.over(first);
    clock.advance(1000);
    expect(it.attribute()).toMatchObject({ kind: 'one', call: { open: 1, away: false } });
    it.over(second);
    expect(it.attribute()).toMatchObject({ kind: 'one', call: { open: 0 } });
  });
});
