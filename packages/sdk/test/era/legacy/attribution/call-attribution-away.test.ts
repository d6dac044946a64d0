import { describe, expect, it } from 'vitest';
import { IsthmusError } from '../../../../src/errors.js';
import {
  A,
  answer,
  ask,
  B,
  C,
  enter,
  goesAway,
  hasAsked,
  hasAskedSeveral,
  LONG,
  openAttribution,
  ownerOf,
  pending,
  unclear,
  wait,
} from '../../../support/call-attribution.js';

/** A person may think for minutes about a question. Others do not have to wait for that. */

const gone = () => new IsthmusError('CANCELLED', 'it has left', { sent: 'no' });

describe('while the owner of a call thinks about a question', () => {
  it('R2: others run at once', () => {
    const { attribution: it } = openAttribution();
    enter(it, A, 'ask');
    ask(it);
    expect(enter(it, B, 'echo')).toBeDefined();
  });

  it('others that are known to ask wait for 50 ms, and then they run and are asked themselves', async () => {
    const { attribution: it, clock } = openAttribution();
    enter(it, A, 'ask');
    ask(it);
    expect(enter(it, B, 'ask')).toBeUndefined();
    const waiting = wait(it, B, 'ask', LONG);
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
    expect(enter(it, B, 'ask')?.alone).toBe(true);
    expect(enter(it, C, 'ask')).toBeUndefined();
    expect(ask(it).call.owner).toBe(B);
    clock.advance(50);
    expect(enter(it, C, 'ask')?.alone).toBe(true);
    expect(ask(it).call.owner).toBe(C);
  });

  it('its own calls run at once', () => {
    const { attribution: it } = openAttribution();
    enter(it, A, 'ask');
    ask(it);
    expect(enter(it, A, 'nested')).toBeDefined();
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
    call.end();
    call.end();
    expect(it.attribute()).toEqual({ kind: 'none' });
    const mine = enter(it, A, 'ask')!;
    expect(enter(it, B, 'ask')).toBeUndefined();
    mine.end();
    expect(enter(it, B, 'ask')).toBeDefined();
  });

  it('others still wait for what else its owner runs that may ask, when it ends', () => {
    const { attribution: it, clock } = openAttribution();
    const [call] = goesAway(it, clock, A, 'ask');
    const other = enter(it, A, 'ask')!;
    call.end();
    expect(enter(it, B, 'ask')).toBeUndefined();
    other.end();
    expect(enter(it, B, 'ask')).toBeDefined();
  });

  it('others go on waiting where every call runs alone, and nobody does where none may', () => {
    const queue = openAttribution('queue');
    enter(queue.attribution, A, 'ask');
    ask(queue.attribution);
    queue.clock.advance(1000);
    expect(enter(queue.attribution, B, 'echo')).toBeUndefined();
    expect(queue.clock.waiting).toBe(0);
    const refuse = openAttribution('refuse');
    enter(refuse.attribution, A, 'ask');
    ask(refuse.attribution);
    expect(enter(refuse.attribution, B, 'ask')).toBeDefined();
    refuse.clock.advance(1000);
    expect(unclear(refuse.attribution).count).toBe(2);
  });
});

describe('R2: a call that asks several questions at once', () => {
  it('keeps nobody waiting while a person thinks, the first time and every other time', () => {
    const { attribution: it, clock } = openAttribution();
    for (let times = 0; times < 3; times += 1) {
      const form = enter(it, A, 'form')!;
      const questions = [ask(it), ask(it)];
      const echo = enter(it, B, 'echo')!;
      clock.advance(1000);
      const other = enter(it, C, 'form')!;
      for (const question of questions) question.over();
      for (const call of [form, echo, other]) call.end();
    }
  });

  it('waits like any other when its questions have come, and others are asked', () => {
    const { attribution: it, clock } = openAttribution();
    enter(it, A, 'form');
    ask(it);
    clock.advance(49);
    ask(it);
    clock.advance(999);
    // Once it is known to ask several, the next one may be a second away. Only calls that ask wait for that.
    expect(enter(it, B, 'form')).toBeUndefined();
    clock.advance(1);
    expect(enter(it, B, 'form')).toBeDefined();
    expect(ask(it).call.owner).toBe(B);
  });

  it('is there for a second after each question, so that a late one is not taken for that of another call', () => {
    const { attribution: it, clock } = openAttribution();
    hasAskedSeveral(it, 'form');
    enter(it, A, 'form');
    ask(it);
    const echo = enter(it, B, 'echo')!;
    clock.advance(999);
    expect(unclear(it).count).toBe(2);
    echo.end();
    expect(ask(it).call.owner).toBe(A);
  });

  it('may ask on as soon as the server has one of the answers, so that others are not asked its questions', async () => {
    const { attribution: it, clock } = openAttribution();
    enter(it, A, 'form');
    const [name, age] = [ask(it), ask(it)];
    clock.advance(1000);
    enter(it, B, 'echo');
    expect(ownerOf(it)).toBe(B);
    expect((await answer(age)).isGiven).toBe(true);
    expect(unclear(it).count).toBe(2);
    clock.advance(1000);
    expect(unclear(it).count).toBe(2);
    // It keeps nobody waiting all the same.
    expect(enter(it, C, 'form')).toBeDefined();
    expect((await answer(name)).isGiven).toBe(true);
  });

  it('is feared to ask on, from then on, when it asked after it was taken for waiting', () => {
    const { attribution: it, clock } = openAttribution();
    const [call] = goesAway(it, clock, A, 'form');
    expect(ask(it).call).toBe(call);
    clock.advance(1000);
    expect(call.away).toBe(true);
    enter(it, B, 'echo');
    expect(unclear(it).count).toBe(2);
  });
});

describe('the answer', () => {
  it('is given at once when it comes before others were let in, and these need not wait for the end', async () => {
    const { attribution: it, clock } = openAttribution();
    enter(it, A, 'ask');
    const question = ask(it);
    const waiting = wait(it, B, 'ask', LONG);
    expect((await answer(question)).isGiven).toBe(true);
    const other = await waiting;
    expect(other.owner).toBe(B);
    other.end();
    expect(clock.waiting).toBe(0);
  });

  it('is given at once when nobody is there, or nobody who is known to ask', async () => {
    const { attribution: it, clock } = openAttribution();
    const [first, ofA] = goesAway(it, clock, A, 'ask');
    goesAway(it, clock, B, 'ask');
    expect((await answer(ofA)).isGiven).toBe(true);
    first.end();
    const [, ofC] = goesAway(it, clock, C, 'ask');
    expect(enter(it, B, 'echo')).toBeDefined();
    expect((await answer(ofC)).isGiven).toBe(true);
    expect(unclear(it).calls.map(({ owner }) => owner)).toEqual([C, B]);
  });

  it('waits while another call runs alone: what came then could be a question of either', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'ask');
    const [, question] = goesAway(it, clock, A, 'ask');
    const other = enter(it, B, 'ask')!;
    const { isGiven, given } = await answer(question);
    expect(isGiven).toBe(false);
    expect(ownerOf(it)).toBe(B);
    other.end();
    await given;
    expect(ownerOf(it)).toBe(A);
  });

  it('waits no longer than until the other one thinks, too', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'ask');
    const [, question] = goesAway(it, clock, A, 'ask');
    enter(it, B, 'ask');
    const { given } = await answer(question);
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
    const others = [enter(it, B, 'echo')!, enter(it, C, 'echo')!];
    expect((await answer(question)).isGiven).toBe(true);
    // Others that ask wait for its next question, and other calls do not.
    expect(enter(it, B, 'wizard')).toBeUndefined();
    expect(enter(it, B, 'echo')).toBeDefined();
    for (const other of others) other.end();
  });

  it('R2: waits for two seconds at most: a call that does not ask keeps no answer back for longer', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [, question] = goesAway(it, clock, A, 'wizard');
    enter(it, B, 'wizard');
    clock.advance(1500);
    const { isGiven, given } = await answer(question);
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
    expect((await answer(question)).isGiven).toBe(true);
    expect(enter(it, B, 'form')).toBeUndefined();
  });

  it('waits for nobody of the same owner', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [, question] = goesAway(it, clock, A, 'wizard');
    enter(it, A, 'echo');
    expect((await answer(question)).isGiven).toBe(true);
  });

  it('goes before all who only want to begin', async () => {
    const { attribution: it, asked, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [call, question] = goesAway(it, clock, A, 'wizard');
    asked.add(A);
    const long = enter(it, B, 'wizard')!;
    const begins = wait(it, C, 'wizard', LONG);
    const { given } = await answer(question);
    expect(enter(it, C, 'wizard')).toBeUndefined();
    long.end();
    await given;
    expect(await pending(begins)).toBe(true);
    call.end();
    expect((await begins).owner).toBe(C);
  });

  it('gets a place in the line, however many want to begin', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [, question] = goesAway(it, clock, A, 'wizard');
    const long = enter(it, B, 'wizard')!;
    const begin = Array.from({ length: 1024 }, () => wait(it, C, 'wizard', LONG));
    const { isGiven, given } = await answer(question);
    expect(isGiven).toBe(false);
    long.end();
    await given;
    it.refuse(gone());
    expect((await Promise.allSettled(begin)).every(({ status }) => status === 'rejected')).toBe(true);
  });

  it('is given when the call has ended meanwhile, also behind one that has to wait', async () => {
    const { attribution: it, asked, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [, first] = goesAway(it, clock, A, 'wizard');
    const [call, second] = goesAway(it, clock, B, 'wizard');
    for (const owner of [A, B]) asked.add(owner);
    enter(it, C, 'wizard');
    const ahead = await answer(first);
    const behind = await answer(second);
    expect([ahead.isGiven, behind.isGiven]).toEqual([false, false]);
    call.end();
    await behind.given;
    expect(await pending(ahead.given)).toBe(true);
  });

  it('is not given when its owner leaves meanwhile, and nobody waits for that one', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [call, question] = goesAway(it, clock, A, 'wizard');
    const other = enter(it, B, 'wizard')!;
    const { given } = await answer(question);
    it.refuse(gone(), A);
    await expect(given).rejects.toMatchObject({ message: 'it has left' });
    call.end();
    other.end();
    const next = enter(it, C, 'wizard')!;
    expect(next).toBeDefined();
    next.end();
    expect(clock.waiting).toBe(0);
  });

  it('of two that are known to ask again gets to each in turn, as often as they ask', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [first, ofA] = goesAway(it, clock, A, 'wizard');
    const [second, ofB] = goesAway(it, clock, B, 'wizard');
    let [a, b] = [ofA, ofB];
    for (let round = 0; round < 3; round += 1) {
      expect((await answer(a)).isGiven).toBe(true);
      const waiting = await answer(b);
      expect(waiting.isGiven).toBe(false);
      a = ask(it);
      expect(a.call).toBe(first);
      clock.advance(50);
      await waiting.given;
      b = ask(it);
      expect(b.call).toBe(second);
      clock.advance(50);
    }
    first.end();
    second.end();
    expect(it.attribute()).toEqual({ kind: 'none' });
    expect(clock.waiting).toBe(0);
  });
});

describe('a question that is taken back', () => {
  it('leaves a call that goes on at once: what it asks next is not another’s', () => {
    const { attribution: it, clock } = openAttribution();
    const [, question] = goesAway(it, clock, A, 'ask');
    enter(it, B, 'echo');
    expect(ownerOf(it)).toBe(B);
    question.over();
    expect(unclear(it).count).toBe(2);
    question.over();
    expect(unclear(it).calls.map(({ owner }) => owner)).toEqual([A, B]);
  });

  it('does so while its answer waits, which then is not given', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [call, question] = goesAway(it, clock, A, 'wizard');
    const other = enter(it, B, 'wizard')!;
    const over = new AbortController();
    const { given } = await answer(question, over.signal);
    question.over();
    over.abort();
    await expect(given).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(unclear(it).count).toBe(2);
    call.end();
    expect(ownerOf(it)).toBe(B);
    other.end();
    expect(it.attribute()).toEqual({ kind: 'none' });
    expect(enter(it, C, 'wizard')).toBeDefined();
  });

  it('has an answer that waits for nobody, and that is not the answer to what was asked since', async () => {
    const { attribution: it, clock } = openAttribution();
    hasAsked(it, 'wizard', 2);
    const [, first] = goesAway(it, clock, A, 'wizard');
    first.over();
    ask(it);
    clock.advance(50);
    enter(it, B, 'echo');
    expect((await answer(first)).isGiven).toBe(true);
    expect(ownerOf(it)).toBe(B);
  });

  it('of two leaves the other open', () => {
    const { attribution: it, clock } = openAttribution();
    enter(it, A, 'form');
    const [first, second] = [ask(it), ask(it)];
    first.over();
    clock.advance(1000);
    expect(it.attribute()).toMatchObject({ kind: 'one', call: { open: 1, away: false } });
    second.over();
    expect(it.attribute()).toMatchObject({ kind: 'one', call: { open: 0 } });
  });
});
