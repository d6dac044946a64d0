import { describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import type { ClusterStore } from '../../src/cluster/store.js';

/** A store as several members see it, and time that passes for it. */
export interface StoreUnderTest {
  /** Another view of the same store, as a second process has it. */
  open(): Promise<ClusterStore>;
  pass(ms: number): Promise<void>;
}

const bytes = (text: string) => Buffer.from(text);
const text = (value: Uint8Array | undefined) => value && Buffer.from(value).toString();

/** What every store does, whatever it is made of. Times are short, since Redis has a real clock. */
export function describeStore(name: string, start: () => Promise<StoreUnderTest>): void {
  describe(`the store ${name}`, () => {
    it('lists the members that have beaten, with what they say of themselves', async () => {
      const { open } = await start();
      const [a, b] = [await open(), await open()];
      expect(await a.beat({ member: 'a', facts: bytes('A'), ttlMs: 5000 })).toMatchObject({
        wasKnown: false,
        isFenced: false,
        members: [{ member: 'a' }],
      });
      const { members } = await b.beat({ member: 'b', facts: bytes('B'), ttlMs: 5000 });
      expect(members.map(({ member, facts }) => [member, text(facts)]).sort()).toEqual([
        ['a', 'A'],
        ['b', 'B'],
      ]);
      const again = await a.beat({ member: 'a', facts: bytes('A2'), ttlMs: 5000 });
      expect(again.wasKnown).toBe(true);
      const seen = await b.beat({ member: 'b', facts: undefined, ttlMs: 5000 });
      expect(seen.members.map(({ facts }) => text(facts)).sort()).toEqual(['A2', 'B']);
    });

    it('forgets a member that is silent, and tells it when it comes back', async () => {
      const { open, pass } = await start();
      const store = await open();
      await store.beat({ member: 'a', facts: bytes('A'), ttlMs: 100 });
      await pass(150);
      expect((await store.beat({ member: 'b', facts: bytes('B'), ttlMs: 5000 })).members).toHaveLength(1);
      expect(await store.beat({ member: 'a', facts: undefined, ttlMs: 5000 })).toMatchObject({
        wasKnown: false,
        members: [{ member: 'b' }],
      });
      const back = await store.beat({ member: 'a', facts: bytes('A'), ttlMs: 5000 });
      expect(back.members).toHaveLength(2);
    });

    it('removes a member that leaves', async () => {
      const store = await (await start()).open();
      await store.beat({ member: 'a', facts: bytes('A'), ttlMs: 5000 });
      await store.leave('a');
      const { members } = await store.beat({ member: 'b', facts: bytes('B'), ttlMs: 5000 });
      expect(members.map(({ member }) => member)).toEqual(['b']);
    });

    it('removes a member that was fenced, and keeps it out', async () => {
      const store = await (await start()).open();
      await store.beat({ member: 'a', facts: bytes('A'), ttlMs: 5000 });
      await store.fence('a');
      expect(await store.beat({ member: 'a', facts: bytes('A'), ttlMs: 5000 })).toMatchObject({
        isFenced: true,
        members: [],
      });
    });

    it('gives a record to one claimer only', async () => {
      const { open } = await start();
      const [a, b] = [await open(), await open()];
      expect(await b.claim('s', { by: 'b', ttlMs: 5000 })).toEqual({ kind: 'unknown' });
      expect(await a.put('s', { by: 'a', epoch: 1, value: bytes('one'), ttlMs: 5000 })).toBe(true);
      expect(await b.claim('s', { by: 'b', ttlMs: 5000 })).toEqual({ kind: 'held', by: 'a', epoch: 1 });
      expect(await b.claim('s', { by: 'b', from: 'x', ttlMs: 5000 })).toMatchObject({
        kind: 'held',
        by: 'a',
      });
      const taken = await Promise.all([
        b.claim('s', { by: 'b', from: 'a', ttlMs: 5000 }),
        a.claim('s', { by: 'c', from: 'a', ttlMs: 5000 }),
      ]);
      expect(taken.map(({ kind }) => kind).sort()).toEqual(['held', 'mine']);
      const mine = taken.find(({ kind }) => kind === 'mine');
      expect(mine).toMatchObject({ epoch: 2 });
      expect(text(mine && 'value' in mine ? mine.value : undefined)).toBe('one');
    });

    it('refuses to write a record of an earlier epoch, and repeats a claim', async () => {
      const store = await (await start()).open();
      await store.put('s', { by: 'a', epoch: 1, value: bytes('one'), ttlMs: 5000 });
      expect(await store.claim('s', { by: 'b', from: 'a', ttlMs: 5000 })).toMatchObject({ epoch: 2 });
      expect(await store.claim('s', { by: 'b', from: 'a', ttlMs: 5000 })).toMatchObject({ epoch: 3 });
      expect(await store.put('s', { by: 'a', epoch: 1, value: bytes('late'), ttlMs: 5000 })).toBe(false);
      expect(await store.put('s', { by: 'b', epoch: 3, value: bytes('new'), ttlMs: 5000 })).toBe(true);
      const claimed = await store.claim('s', { by: 'b', ttlMs: 5000 });
      expect(text('value' in claimed ? claimed.value : undefined)).toBe('new');
    });

    it('gives a released record to whoever claims it, and keeps the epoch', async () => {
      const store = await (await start()).open();
      await store.put('s', { by: 'a', epoch: 4, value: bytes('one'), ttlMs: 5000 });
      expect(await store.release('other', { by: 'a', epoch: 4 })).toBe(false);
      expect(await store.release('s', { by: 'b', epoch: 4 })).toBe(true);
      expect(await store.release('s', { by: 'a', epoch: 3 })).toBe(true);
      expect(await store.claim('s', { by: 'b', ttlMs: 5000 })).toMatchObject({ kind: 'held', by: 'a' });
      expect(await store.release('s', { by: 'a', epoch: 4 })).toBe(true);
      expect(await store.claim('s', { by: 'b', ttlMs: 5000 })).toMatchObject({ kind: 'mine', epoch: 5 });
    });

    it('drops a record with its log, unless somebody else has claimed it', async () => {
      const store = await (await start()).open();
      await store.put('s', { by: 'a', epoch: 1, value: bytes('one'), ttlMs: 5000 });
      await store.append('s', [bytes('e')], 5000);
      await store.claim('s', { by: 'b', from: 'a', ttlMs: 5000 });
      await store.drop('s', { epoch: 1 });
      expect(await store.read('s')).toHaveLength(1);
      await store.drop('s', { epoch: 2 });
      expect(await store.claim('s', { by: 'b', ttlMs: 5000 })).toEqual({ kind: 'unknown' });
      expect(await store.read('s')).toEqual([]);
    });

    it('forgets a record after its time, unless it is touched', async () => {
      const { open, pass } = await start();
      const store = await open();
      await store.put('kept', { by: 'a', epoch: 1, value: bytes('1'), ttlMs: 200 });
      await store.put('lost', { by: 'a', epoch: 1, value: bytes('2'), ttlMs: 200 });
      expect(await store.touch(['kept', 'never'], 60_000)).toEqual(['never']);
      await pass(250);
      expect(await store.claim('kept', { by: 'a', ttlMs: 5000 })).toMatchObject({ kind: 'mine' });
      expect(await store.claim('lost', { by: 'a', ttlMs: 5000 })).toEqual({ kind: 'unknown' });
    });

    it('keeps the entries of a log in order, and the newest thousand', async () => {
      const store = await (await start()).open();
      await store.append('s', [bytes('0'), bytes('1')], 60_000);
      await store.append('s', [bytes('2')], 60_000);
      expect((await store.read('s')).map(text)).toEqual(['0', '1', '2']);
      const many = Array.from({ length: 1200 }, (_, index) => bytes(`n${index}`));
      await store.append('s', many, 60_000);
      const kept = await store.read('s');
      expect([kept.length, text(kept[0]), text(kept.at(-1))]).toEqual([1000, 'n200', 'n1199']);
    });

    it('keeps a log within a mebibyte, and always its last entry', async () => {
      const store = await (await start()).open();
      const large = (fill: string, size: number) => Buffer.alloc(size, fill);
      for (const fill of ['a', 'b', 'c']) await store.append('s', [large(fill, 400_000)], 60_000);
      const sizes = async () => (await store.read('s')).map((each) => [each.length, text(each)![0]]);
      expect(await sizes()).toEqual([
        [400_000, 'b'],
        [400_000, 'c'],
      ]);
      await store.append('s', [large('d', 2_000_000)], 60_000);
      expect(await sizes()).toEqual([[2_000_000, 'd']]);
      await store.append('s', [bytes('e')], 60_000);
      expect(await sizes()).toEqual([[1, 'e']]);
      await store.drop('s', { epoch: 1 });
      await store.append('s', [large('f', 700_000), large('g', 300_000)], 60_000);
      expect(await sizes()).toEqual([
        [700_000, 'f'],
        [300_000, 'g'],
      ]);
    });

    it('keeps bytes as they are', async () => {
      const store = await (await start()).open();
      const value = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
      await store.put('s', { by: 'a', epoch: 1, value, ttlMs: 5000 });
      const claimed = await store.claim('s', { by: 'a', ttlMs: 5000 });
      expect('value' in claimed && Buffer.compare(value, Buffer.from(claimed.value))).toBe(0);
    });

    it('keeps a note for its time, for all members, until it is forgotten', async () => {
      const { open, pass } = await start();
      const [a, b] = [await open(), await open()];
      expect(await a.recall('k')).toBeUndefined();
      await a.note('k', bytes('one'), 5000);
      await a.note('k', bytes('two'), 5000);
      await a.note('short', bytes('x'), 50);
      expect(text(await b.recall('k'))).toBe('two');
      await pass(100);
      expect([await b.recall('short'), text(await b.recall('k'))]).toEqual([undefined, 'two']);
      await b.note('k', undefined, 5000);
      expect(await a.recall('k')).toBeUndefined();
    });

    it('grants permits up to the burst, and then says when the next one is there', async () => {
      const { open, pass } = await start();
      const [a, b] = [await open(), await open()];
      const rate = { everyMs: 200, burst: 10 };
      expect(await a.take('x', 6, rate)).toEqual({ granted: 6, retryAfterMs: 0 });
      expect((await b.take('x', 6, rate)).granted).toBe(4);
      const none = await a.take('x', 1, rate);
      expect(none.granted).toBe(0);
      expect(none.retryAfterMs).toBeGreaterThan(0);
      expect(none.retryAfterMs).toBeLessThanOrEqual(200);
      expect(await a.take('y', 1, rate)).toEqual({ granted: 1, retryAfterMs: 0 });
      await pass(none.retryAfterMs + 20);
      expect((await a.take('x', 5, rate)).granted).toBe(1);
    });

    it('tells all subscribers of a channel, and no others', async () => {
      const { open } = await start();
      const [a, b] = [await open(), await open()];
      const heard: string[] = [];
      const note = (who: string) => (value: Uint8Array) => heard.push(`${who} ${text(value)}`);
      a.subscribe('n', note('a'), () => {});
      const stop = b.subscribe('n', note('b'), () => {});
      b.subscribe('other', note('other'), () => {});
      // A subscription takes a moment where it crosses a network.
      await until('all hear', () => {
        a.publish('n', bytes('hello')).catch(() => {});
        return heard.includes('a hello') && heard.includes('b hello');
      });
      await a.publish('other', bytes('done'));
      await until('the last has come', () => heard.includes('other done'));
      stop();
      heard.length = 0;
      await until('only a hears', () => {
        b.publish('n', bytes('again')).catch(() => {});
        return heard.includes('a again');
      });
      expect(heard.filter((each) => each !== 'a again')).toEqual([]);
    });
  });
}
