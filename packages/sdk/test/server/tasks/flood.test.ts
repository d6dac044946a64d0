/** One principal fills the store; another must not notice. */
import { expect, it } from 'vitest';
import { memory, memoryTaskStore, type Server } from '../../../src/index.js';
import { openPeer, settle } from '../../support/server.js';
import { idOf, taskServer, WITH_TASKS, waitFor } from '../../support/tasks.js';

const peerOf = (server: Server, principal: string) =>
  openPeer(memory(server, undefined, { principal }), 'modern', { capabilities: WITH_TASKS });

it('10,000 tasks with large results of one principal cost another principal none of its own', async () => {
  const store = memoryTaskStore();
  const server = taskServer({ store, maxBytes: 4 * 1024 * 1024 });
  server.tool('write', { task: 'allowed' }, ({ size }) => 'x'.repeat(Number(size)));
  const ada = await peerOf(server, 'ada');
  const eve = await peerOf(server, 'eve');
  const write = async (peer: typeof ada, size: number) =>
    idOf(await peer.result('tools/call', { name: 'write', arguments: { size } }));
  const hers: string[] = [];
  for (let count = 0; count < 10; count += 1) hers.push(await write(ada, 10_000));
  for (const id of hers) await waitFor(ada, id, 'completed');
  for (let count = 0; count < 10_000; count += 100) {
    await Promise.all(Array.from({ length: 100 }, () => write(eve, 20_000)));
  }
  await settle();
  for (const taskId of hers)
    expect(await ada.result('tasks/get', { taskId })).toMatchObject({ status: 'completed' });
  const { records: kept } = await store.list('eve', undefined, { tasks: 10_000, bytes: 8_000_000 });
  // 4 MiB hold 199 results of this size beside those of ada. The oldest were dropped.
  expect(kept.length).toBeGreaterThan(150);
  expect(JSON.stringify(kept).length).toBeLessThan(4 * 1024 * 1024);
});
