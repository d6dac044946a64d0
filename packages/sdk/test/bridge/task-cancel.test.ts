import { describe, expect, it } from 'vitest';
import { type Between, bridgeTo, heardLater } from '../support/bridge/between.js';
import type { Heard } from '../support/bridge/far.js';
import { type Era, type Message, settle } from '../support/bridge/frames.js';
import type { NearClient } from '../support/bridge/near.js';

const TASKS = { 'io.modelcontextprotocol/tasks': {} };
const LEGACY_TASKS = { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } };
const MODERN_TASKS = { tools: {}, extensions: TASKS };
const TASK = {
  taskId: 'far-1',
  status: 'working',
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
};
const TOOL = { name: 'slow', inputSchema: { type: 'object' }, execution: { taskSupport: 'optional' } };

const CELLS: [Era, Era][] = [
  ['modern', 'modern'],
  ['modern', 'legacy'],
  ['legacy', 'modern'],
  ['legacy', 'legacy'],
];

/** A bridge with room for one task, and a client that takes tasks. */
async function between(client: Era, upstream: Era, capabilities: object, promoteAfterMs?: number) {
  const bridge = { tasks: { maxRunning: 1 }, ...(promoteAfterMs !== undefined && { promoteAfterMs }) };
  const all = await bridgeTo(upstream, { capabilities, bridge, foreign: /task/i });
  const peer =
    client === 'legacy' ? await all.near.legacy() : all.near.modern({ capabilities: { extensions: TASKS } });
  return { ...all, peer };
}

function call(peer: NearClient, id: string, era: Era): void {
  peer.call(id, 'slow', era === 'legacy' ? { task: {} } : {});
}

/** The answer, after notifications about the task. */
async function answerTo(peer: NearClient, id: string): Promise<Message> {
  for (;;) {
    const message = await peer.next();
    if (message.id === id) return message;
    expect(message.method).toBe('notifications/tasks/status');
  }
}

/** The id of the task that the client is given. */
async function begun(peer: NearClient): Promise<string> {
  const { result } = await answerTo(peer, 'one');
  return (result.task ?? result).taskId;
}

/** The server begins a task, and answers nothing after that. */
async function hangingTask(client: Era, upstream: Era) {
  const all = await between(client, upstream, upstream === 'legacy' ? LEGACY_TASKS : MODERN_TASKS);
  const { peer, far } = all;
  peer.request('list', 'tools/list');
  const list = await far.next();
  list.on.answer(list, { resultType: 'complete', tools: [TOOL] });
  await peer.next();
  call(peer, 'one', client);
  const made = await far.next();
  made.on.answer(
    made,
    upstream === 'legacy'
      ? { task: { ...TASK, ttl: 60_000 } }
      : { ...TASK, resultType: 'task', ttlMs: 60_000, pollIntervalMs: 100 },
  );
  const taskId = await begun(peer);
  const wait = await heardLater(all);
  expect(wait.method).toBe(upstream === 'legacy' ? 'tasks/result' : 'tasks/get');
  return { ...all, taskId };
}

/** Cancels the task, and reads its state as soon as it is expected to have ended. */
async function cancelled({ peer }: { peer: NearClient }, taskId: string): Promise<void> {
  peer.request('cancel', 'tasks/cancel', { taskId });
  expect(await answerTo(peer, 'cancel')).toHaveProperty('result');
  await settle();
  peer.request('get', 'tasks/get', { taskId });
  expect((await answerTo(peer, 'get')).result).toMatchObject({ taskId, status: 'cancelled' });
}

/** The place of the cancelled task is free: the next call becomes a task. */
async function hasRoom({ peer, far }: Pick<Between, 'far'> & { peer: NearClient }, era: Era): Promise<Heard> {
  call(peer, 'two', era);
  return far.next();
}

describe.each(CELLS)('a task of a %s client, whose %s server answers nothing more,', (client, upstream) => {
  it('is cancelled at once, the server is told, and its place is free (TASK-L-082, TASK-M-051)', async () => {
    const all = await hangingTask(client, upstream);
    await cancelled(all, all.taskId);
    const frames = await all.far.rest();
    expect(
      frames.filter(({ method }) => method === 'tasks/cancel').map(({ params }) => params.taskId),
    ).toEqual(['far-1']);
    expect((await hasRoom(all, client)).method).toBe('tools/call');
  });
});

describe.each(CELLS)(
  'a call of a %s client that became a task, and hangs at a %s server,',
  (client, upstream) => {
    it('is cancelled at once, the server is told, and its place is free', async () => {
      const all = await between(client, upstream, { tools: {} }, 100);
      call(all.peer, 'one', client);
      const made = await all.far.next();
      await settle();
      all.clock.advance(200);
      const taskId = await begun(all.peer);
      await cancelled(all, taskId);
      const [told] = await all.far.rest();
      expect([told?.method, told?.params.requestId]).toEqual(['notifications/cancelled', made.id]);
      expect((await hasRoom(all, client)).method).toBe('tools/call');
    });
  },
);
