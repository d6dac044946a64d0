import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../../../test/support/fake-clock.js';
import { type WaitingCall, WaitingLine } from '../../../../src/era/legacy/attribution/waiting-line.js';
import { IsthmusError } from '../../../../src/errors.js';
import { A, B, C } from '../../../support/call-attribution.js';

/** A line in which those may go whose names are in `free`; it notes who went. */
function line() {
  const clock = new FakeClock();
  const free = new Set<string>();
  const went: string[] = [];
  const answering = new Set<object>();
  let left = 0;
  const it = new WaitingLine(clock, () => {
    left += 1;
  });
  const join = (what: string, more: Partial<WaitingCall> = {}) =>
    it.join<string>({ owner: A, caller: A, what, timeoutMs: 1000, ...more }, (go) => {
      if (!free.has(what)) return false;
      went.push(what);
      go(what);
      return true;
    });
  /** Lets these go, if it is their turn. */
  const admit = (...names: string[]) => {
    for (const name of names) free.add(name);
    it.admit(({ owner }) => answering.has(owner));
  };
  return { it, clock, went, answering, join, admit, left: () => left };
}

const ended = () => new IsthmusError('CANCELLED', 'it has ended', { sent: 'no' });

describe('a waiting line', () => {
  it('is empty until somebody waits, and again when everybody has gone', async () => {
    const { it, join, admit } = line();
    expect(it.isEmpty).toBe(true);
    const going = join('a');
    expect(it.isEmpty).toBe(false);
    admit('a');
    expect(await going).toBe('a');
    expect(it.isEmpty).toBe(true);
  });

  it('lets nobody overtake who cannot go yet', () => {
    const { join, admit, went } = line();
    for (const name of ['a', 'b', 'c']) void join(name);
    admit('b', 'c');
    expect(went).toEqual([]);
    admit('a');
    expect(went).toEqual(['a', 'b', 'c']);
  });

  it('has those who come back before those who begin, and among themselves in the order of their arrival', () => {
    const { join, admit, went } = line();
    void join('begins');
    void join('comes back', { first: true });
    void join('begins later');
    void join('comes back later', { first: true });
    admit('comes back', 'comes back later', 'begins', 'begins later');
    expect(went).toEqual(['comes back', 'comes back later', 'begins', 'begins later']);
  });

  it('tries all who may go first, also behind one of them who cannot; the others wait for all of these', () => {
    const { join, admit, went, answering } = line();
    answering.add(B);
    void join('other', { owner: A });
    void join('stuck', { owner: B });
    void join('free', { owner: B });
    admit('free', 'other');
    expect(went).toEqual(['free']);
    admit('stuck');
    expect(went).toEqual(['free', 'stuck', 'other']);
  });

  it('lets everybody go once, also when somebody’s going lets others go', async () => {
    const went: string[] = [];
    const it = new WaitingLine(new FakeClock(), () => {});
    const all = () => true;
    const join = (what: string) =>
      it.join<void>({ owner: A, caller: A, what, timeoutMs: 1000 }, (go) => {
        went.push(what);
        go();
        it.admit(all);
        return true;
      });
    const going = [join('a'), join('b'), join('c')];
    it.admit(all);
    await Promise.all(going);
    expect(went).toEqual(['a', 'b', 'c']);
  });

  it('ends a wait with its time, and tells that somebody has left', async () => {
    const { it, join, clock, left } = line();
    const late = join('tools/call a', { timeoutMs: 1000 });
    const patient = join('tools/call b', { timeoutMs: Number.POSITIVE_INFINITY });
    expect(clock.waiting).toBe(1);
    clock.advance(999);
    expect(left()).toBe(0);
    clock.advance(1);
    expect(left()).toBe(1);
    await expect(late).rejects.toMatchObject({
      code: 'TIMED_OUT',
      sent: 'no',
      message: 'tools/call a waited 1000 ms for calls of other conversations that may ask questions',
    });
    it.refuse(ended(), undefined);
    await expect(patient).rejects.toMatchObject({ message: 'it has ended' });
  });

  it('ends a wait with its signal, and forgets both with whoever goes', async () => {
    const { join, admit, clock, left, went } = line();
    const over = new AbortController();
    const going = join('a', { signal: over.signal });
    const staying = join('b', { signal: over.signal });
    admit('a');
    over.abort('enough');
    expect(await going).toBe('a');
    await expect(staying).rejects.toMatchObject({ code: 'CANCELLED', sent: 'no', cause: 'enough' });
    expect(left()).toBe(1);
    expect(clock.waiting).toBe(0);
    admit('b');
    expect(went).toEqual(['a']);
  });

  it('does not begin what was over before', async () => {
    const { it, join } = line();
    await expect(join('a', { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(it.isEmpty).toBe(true);
  });

  it('refuses all of a caller before anybody else has a turn', async () => {
    const clock = new FakeClock();
    const went: string[] = [];
    const it = new WaitingLine(clock, () => it.admit(() => false));
    const join = (what: string, caller: object, canGo: boolean) =>
      it.join<void>({ owner: caller, caller, what, timeoutMs: 1000 }, (go) => {
        if (canGo) {
          went.push(what);
          go();
        }
        return canGo;
      });
    const gone = [join('b cannot', B, false), join('b could', B, true)];
    const stays = join('c', C, true);
    it.refuse(ended(), B);
    for (const each of gone) await expect(each).rejects.toMatchObject({ message: 'it has ended' });
    await stays;
    expect(went).toEqual(['c']);
    expect(clock.waiting).toBe(0);
  });

  it('takes 1024 who want to begin, and everybody who comes back: their answers must not get lost', async () => {
    const { it, join, admit, went } = line();
    const waiting = Array.from({ length: 1024 }, () => join('begins'));
    await expect(join('one more')).rejects.toMatchObject({ code: 'BUSY', sent: 'no' });
    const back = join('comes back', { first: true });
    admit('comes back');
    await back;
    expect(went).toEqual(['comes back']);
    it.refuse(ended(), undefined);
    expect((await Promise.allSettled(waiting)).every(({ status }) => status === 'rejected')).toBe(true);
  });
});
