import { memoryTaskStore, type TaskRecord } from '@isthmus/sdk';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../test/support/until.js';
import { createGateway } from '../src/create-gateway.js';

const ROOM = { maxTasks: 10, maxBytes: 1_000_000 };

/** A task as a gateway leaves it that was killed. */
const LEFT: TaskRecord = {
  id: 'left',
  owner: 'ada',
  client: 'principal ada',
  tool: 'slow',
  createdAt: 1000,
  updatedAt: 1000,
  ttlMs: 60_000,
  pollIntervalMs: 5,
  status: 'working',
  questions: {},
  answers: {},
  cancelRequested: false,
  worker: 'killed',
  note: { server: 'removed' },
  revision: 1,
};

it('a task of a server that was removed while the gateway was away fails, and an expired one is dropped', async () => {
  const store = memoryTaskStore();
  await store.create(LEFT, ROOM);
  await store.create({ ...LEFT, id: 'over' }, ROOM);
  const over = { ...LEFT, id: 'over', status: 'completed', outcome: { result: {} } } as const;
  await store.replace({ ...over, expiresAt: 2000, revision: 2 }, ROOM);
  const gateway = await createGateway({
    units: [],
    addresses: ['http://127.0.0.1:0/mcp'],
    host: { ledger: false, cache: false },
    taskStore: store,
  });
  onTestFinished(() => gateway.close({ graceMs: 0 }));
  await eventually(async () => {
    expect(await store.get('left')).toMatchObject({
      status: 'failed',
      outcome: { error: { data: { reason: 'SERVER_ENDED' } } },
    });
    expect(await store.get('over')).toBeUndefined();
  });
  // Now it can expire.
  expect((await store.get('left'))!.expiresAt).toBeGreaterThan(0);
});
