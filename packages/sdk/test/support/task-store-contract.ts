import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TaskPosition, TaskRecord, TaskStore } from '../../src/index.js';

const ROOM = { maxTasks: 100, maxBytes: 1_000_000 };

export function recordOf(id: string, members: Partial<TaskRecord> = {}): TaskRecord {
  return {
    id,
    client: 'principal ada',
    owner: 'ada',
    tool: 'slow',
    createdAt: 1000,
    updatedAt: 1000,
    ttlMs: 60_000,
    pollIntervalMs: 5,
    status: 'working',
    questions: {},
    answers: {},
    cancelRequested: false,
    worker: 'w1',
    revision: 1,
    ...members,
  };
}

/** The same record, ended. */
export function ended(record: TaskRecord, members: Partial<TaskRecord> = {}): TaskRecord {
  return {
    ...record,
    status: 'completed',
    outcome: { result: { content: [] } },
    expiresAt: 100_000,
    revision: record.revision + 1,
    ...members,
  };
}

/** What every store must do. `open` gives a store on the same data each time. */
export function taskStoreContract(
  name: string,
  engine: { open(): Promise<TaskStore>; reset(): Promise<void> },
): void {
  describe(`a task store: ${name}`, () => {
    let store: TaskStore;
    beforeEach(async () => {
      await engine.reset();
      store = await engine.open();
    });
    afterEach(() => store.close());

    it('keeps every member of a record', async () => {
      const record = recordOf('a', {
        statusMessage: 'half – ½',
        questions: { 'roots-1': { method: 'roots/list' } },
        answers: { 'roots-0': { refusal: 'no' }, 'roots-2': { response: { roots: [] } } },
        note: { far: { id: 1 } },
      });
      expect(await store.create(record, ROOM)).toBe('created');
      expect(await store.get('a')).toEqual(record);
      expect(await store.get('b')).toBeUndefined();
    });

    it('replaces a record only from the revision before (compare and set)', async () => {
      const first = recordOf('a');
      await store.create(first, ROOM);
      const second = { ...first, statusMessage: 'x', revision: 2 };
      expect(await store.replace(second, ROOM)).toBe('replaced');
      expect(await store.replace({ ...first, statusMessage: 'y', revision: 2 }, ROOM)).toBe('stale');
      expect(await store.replace({ ...first, revision: 4 }, ROOM)).toBe('stale');
      expect(await store.replace({ ...recordOf('b'), revision: 2 }, ROOM)).toBe('gone');
      expect(await store.get('a')).toEqual(second);
    });

    it('lets one of many writers win each revision', async () => {
      await store.create(recordOf('a'), ROOM);
      const writers = Array.from({ length: 20 }, (_, index) =>
        store.replace(recordOf('a', { statusMessage: `w${index}`, revision: 2 }), ROOM),
      );
      const answers = await Promise.all(writers);
      expect(answers.filter((answer) => answer === 'replaced')).toHaveLength(1);
      expect(await store.get('a')).toMatchObject({
        statusMessage: `w${answers.indexOf('replaced')}`,
        revision: 2,
      });
    });

    it('lists the tasks of one owner in pages, in the order of creation', async () => {
      for (const [id, createdAt] of [
        ['c', 3],
        ['a', 1],
        ['b2', 2],
        ['b1', 2],
      ] as const) {
        await store.create(recordOf(id, { createdAt }), ROOM);
      }
      await store.create(recordOf('other', { owner: 'eve', client: 'principal eve' }), ROOM);
      const { owner, ...ownerless } = recordOf('bearer', { client: 'local' });
      await store.create(ownerless, ROOM);
      const page = async (owner: string, after: TaskPosition | undefined, tasks: number) => {
        const { records, hasMore } = await store.list(owner, after, { tasks, bytes: 1_000_000 });
        return [records.map(({ id }) => id), hasMore];
      };
      expect(await page('ada', undefined, 3)).toEqual([['a', 'b1', 'b2'], true]);
      expect(await page('ada', undefined, 4)).toEqual([['a', 'b1', 'b2', 'c'], false]);
      expect(await page('ada', { createdAt: 2, id: 'b1' }, 3)).toEqual([['b2', 'c'], false]);
      expect(await page('ada', { createdAt: 3, id: 'c' }, 3)).toEqual([[], false]);
      expect(await page('nobody', undefined, 3)).toEqual([[], false]);
      // A task without an owner is nobody's, also not of an owner without a name.
      expect(await page('', undefined, 3)).toEqual([[], false]);
    });

    it('ends a page when its records are large, but not before the first', async () => {
      for (const id of ['a', 'b', 'c']) {
        await store.create(recordOf(id, { createdAt: 1 }), ROOM);
        const outcome = { result: { content: [{ type: 'text', text: 'x'.repeat(2000) }] } };
        await store.replace(
          recordOf(id, { createdAt: 1, revision: 2, status: 'completed', outcome, expiresAt: 1_000_000 }),
          ROOM,
        );
      }
      const page = async (after: string | undefined, bytes: number) => {
        const place = after === undefined ? undefined : { createdAt: 1, id: after };
        const { records, hasMore } = await store.list('ada', place, { tasks: 100, bytes });
        return [records.map(({ id }) => id), hasMore];
      };
      expect(await page(undefined, 5000)).toEqual([['a', 'b'], true]);
      expect(await page(undefined, 10)).toEqual([['a'], true]);
      expect(await page('a', 100_000)).toEqual([['b', 'c'], false]);
    });

    it('tells watchers of changes, also those of another connection to the store', async () => {
      await store.create(recordOf('a'), ROOM);
      let changes = 0;
      const unwatch = store.watch('a', () => {
        changes += 1;
      });
      const second = await engine.open();
      // A watch may begin a moment later: the change is repeated until it is seen.
      let revision = 1;
      const change = async () => {
        revision += 1;
        expect(await second.replace(recordOf('a', { revision }), ROOM)).toBe('replaced');
      };
      await change();
      for (let looks = 0; changes === 0 && looks < 200; looks += 1) {
        await change();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      expect(changes).toBeGreaterThan(0);
      unwatch();
      if (second !== store) await second.close();
    });

    it('drops expired tasks, and names unfinished ones of processes that have ended', async () => {
      await store.beat('w1', 5000);
      await store.beat('w2', 9000);
      await store.create(recordOf('lives', { worker: 'w2' }), ROOM);
      await store.create(recordOf('dead', { worker: 'w1' }), ROOM);
      await store.create(recordOf('never', { worker: 'w3' }), ROOM);
      const over = recordOf('over');
      await store.create(over, ROOM);
      await store.replace(ended(over, { expiresAt: 6000 }), ROOM);
      expect([await store.isAlive('w1', 4999), await store.isAlive('w1', 5000)]).toEqual([true, false]);
      expect(await store.isAlive('w3', 1)).toBe(false);
      expect([...(await store.review(5999))].sort()).toEqual(['dead', 'never']);
      expect(await store.get('over')).toBeDefined();
      await store.review(6000);
      expect(await store.get('over')).toBeUndefined();
      expect(await store.get('lives')).toBeDefined();
      await store.beat('w1', 20_000);
      expect([...(await store.review(8999))]).toEqual(['never']);
    });

    it('names a task for the process that goes on with it, and not for the one before', async () => {
      await store.beat('w1', 5000);
      await store.beat('w2', 9000);
      const first = recordOf('a', { worker: 'w1' });
      await store.create(first, ROOM);
      const second = { ...first, worker: 'w2', revision: 2 };
      expect(await store.replace(second, ROOM)).toBe('replaced');
      expect(await store.get('a')).toEqual(second);
      expect(await store.review(8999)).toEqual([]);
      expect(await store.review(9000)).toEqual(['a']);
      await store.replace(ended(second), ROOM);
      expect(await store.review(9001)).toEqual([]);
    });

    it('makes room by dropping the oldest finished task of the client that has most', async () => {
      const bounds = { maxTasks: 4, maxBytes: 1_000_000 };
      const eve = { owner: 'eve', client: 'principal eve' };
      for (const id of ['e1', 'e2', 'e3']) {
        await store.create(recordOf(id, eve), bounds);
        await store.replace(ended(recordOf(id, eve)), bounds);
      }
      await store.create(recordOf('a1'), bounds);
      await store.replace(ended(recordOf('a1')), bounds);
      expect(await store.create(recordOf('a2'), bounds)).toBe('created');
      const left = async (...ids: string[]) => {
        const found = await Promise.all(ids.map((id) => store.get(id)));
        return ids.filter((_, index) => found[index]);
      };
      expect(await left('e1', 'e2', 'e3', 'a1', 'a2')).toEqual(['e2', 'e3', 'a1', 'a2']);
    });

    it('refuses a task if all others are running', async () => {
      const bounds = { maxTasks: 2, maxBytes: 1_000_000 };
      await store.create(recordOf('r1'), bounds);
      await store.create(recordOf('r2'), bounds);
      expect(await store.create(recordOf('r3'), bounds)).toBe('full');
      expect(await store.get('r3')).toBeUndefined();
      expect(await store.get('r1')).toBeDefined();
      await store.replace(ended(recordOf('r1')), bounds);
      expect(await store.create(recordOf('r3'), bounds)).toBe('created');
      expect(await store.get('r1')).toBeUndefined();
    });

    it('bounds the bytes, and spares the task that is written', async () => {
      const bounds = { maxTasks: 100, maxBytes: 3000 };
      const big = (id: string, members = {}) =>
        ended(recordOf(id, members), { outcome: { result: { text: 'x'.repeat(1000) } } });
      const eve = { owner: 'eve', client: 'principal eve' };
      await store.create(recordOf('a'), bounds);
      await store.replace(big('a'), bounds);
      await store.create(recordOf('e1', eve), bounds);
      await store.replace(big('e1', eve), bounds);
      await store.create(recordOf('e2', eve), bounds);
      expect(await store.replace(big('e2', eve), bounds)).toBe('replaced');
      expect(await store.get('e1')).toBeUndefined();
      expect(await store.get('e2')).toMatchObject({ status: 'completed' });
      expect(await store.get('a')).toMatchObject({ status: 'completed' });
    });

    it('counts bytes, and not characters', async () => {
      const bounds = { maxTasks: 100, maxBytes: 3000 };
      for (const id of ['a', 'b']) {
        await store.create(recordOf(id), bounds);
        await store.replace(ended(recordOf(id), { outcome: { result: { text: '–'.repeat(500) } } }), bounds);
      }
      expect(await store.get('a')).toBeUndefined();
      expect(await store.get('b')).toMatchObject({ status: 'completed' });
    });

    it('can be closed twice', async () => {
      await store.close();
      await store.close();
      store = await engine.open();
    });
  });
}
