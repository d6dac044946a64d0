import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import type { ForeignChange, Peer } from '../../../src/exchange/call.js';
import { memoryTaskStore, type TaskRecord } from '../../../src/index.js';
import { resolveTasks } from '../../../src/server/tasks/options.js';
import { TaskRunner } from '../../../src/server/tasks/task-runner.js';
import { watchTasks } from '../../../src/server/tasks/watch-tasks.js';
import { settle } from '../../support/server.js';

const PEER = { era: 'modern' } as Peer;
const BOUNDS = { maxTasks: 10, maxBytes: 1_000_000 };
const TASK: TaskRecord = {
  id: 'one',
  client: 'c',
  tool: 'slow',
  createdAt: 1_000_000,
  updatedAt: 1_000_000,
  ttlMs: 60_000_000,
  pollIntervalMs: 1000,
  status: 'working',
  questions: {},
  answers: {},
  cancelRequested: false,
  worker: 'w',
  revision: 1,
};

/** A watched task in a store that is away while `isAway`. */
async function watched() {
  const clock = new FakeClock();
  const inner = memoryTaskStore();
  const state = { isAway: false };
  /** When the store was asked in vain, in milliseconds after the start. */
  const failures: number[] = [];
  const store = {
    ...inner,
    isAlive: async () => true,
    async get(id: string) {
      if (!state.isAway) return inner.get(id);
      failures.push(clock.now() - 1_000_000);
      throw new Error('away');
    },
  };
  await inner.create(TASK, BOUNDS);
  const told: unknown[] = [];
  const runner = new TaskRunner(resolveTasks({ clock, store }));
  const onChange = (change: ForeignChange) =>
    void told.push((change as unknown as { params: { status: string } }).params.status);
  const watch = await watchTasks(runner, PEER, ['one'], onChange);
  expect(watch.accepted).toEqual(['one']);
  watch.start();
  await settle();
  expect(told).toEqual(['working']);
  const replace = async (change: Partial<TaskRecord>) => {
    await inner.replace({ ...TASK, ...change }, BOUNDS);
    await settle();
  };
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100);
      await settle(1);
    }
  };
  return { state, told, failures, watch, replace, pass, clock };
}

const END = { status: 'completed', outcome: { result: {} }, expiresAt: 99_000_000 } as const;

describe('a subscription to a task whose store fails', () => {
  it('asks again after longer and longer pauses, and tells the state as soon as the store works', async () => {
    const { state, told, failures, replace, pass, clock } = await watched();
    state.isAway = true;
    await replace({ revision: 2, ...END });
    await pass(70_000);
    expect(failures).toEqual([0, 100, 300, 700, 1500, 3100, 6300, 12_700, 25_500, 45_500, 65_500]);
    state.isAway = false;
    await pass(20_000);
    expect(told).toEqual(['working', 'completed']);
    expect(clock.waiting).toBe(0);
  });

  it('looks once for many changes, and begins with a short pause after the store has worked', async () => {
    const { state, told, failures, replace, pass, watch, clock } = await watched();
    state.isAway = true;
    for (const revision of [2, 3, 4]) await replace({ revision });
    expect([failures, clock.waiting]).toEqual([[0, 0, 0], 1]);
    await pass(500);
    state.isAway = false;
    await pass(500);
    expect(told).toEqual(['working', 'working']);
    state.isAway = true;
    await replace({ revision: 5 });
    await pass(200);
    expect(failures).toEqual([0, 0, 0, 100, 300, 1000, 1100]);
    watch.stop();
  });

  it('asks no more when it is over', async () => {
    const { state, failures, replace, pass, watch, clock } = await watched();
    state.isAway = true;
    await replace({ revision: 2 });
    watch.stop();
    await pass(1000);
    expect([failures, clock.waiting]).toEqual([[0], 0]);
  });
});
