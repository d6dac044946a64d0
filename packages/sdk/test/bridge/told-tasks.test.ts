/** What a modern server says of its task, and what the client of the bridge sees of it. */
import { describe, expect, it } from 'vitest';
import { type Between, bridgeTo, heardLater } from '../support/bridge/between.js';
import { type Era, type Message, settle } from '../support/bridge/frames.js';
import type { NearClient } from '../support/bridge/near.js';

const TASKS = { 'io.modelcontextprotocol/tasks': {} };
const TASK = {
  taskId: 'far-1',
  status: 'working',
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttlMs: 60_000,
};
const ask = (message: string) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties: {} } },
});

async function between(era: Era): Promise<Between & { readonly client: NearClient }> {
  const all = await bridgeTo('modern', { capabilities: { tools: {}, extensions: TASKS }, foreign: /task/i });
  const client =
    era === 'legacy'
      ? await all.near.legacy({ capabilities: { elicitation: {} } })
      : all.near.modern({ capabilities: { elicitation: {}, extensions: TASKS } });
  return { ...all, client };
}

/** What a modern client gets when the server answers its call with this. */
async function created({ client, far }: Pick<Between, 'far'> & { client: NearClient }, answer: object) {
  client.call(1, 'slow');
  const call = await far.next();
  call.on.answer(call, { resultType: 'task', ...TASK, ...answer });
  return (await client.next()).result;
}

describe('the task of a modern client at a modern server', () => {
  it.each([
    [7_200_000, 7_200_000],
    [1000, 3_600_000],
    [null, 86_400_000],
    [90_000_000, 86_400_000],
  ])('whose server keeps it for %s ms is kept for %s ms: no client comes too late', async (ttlMs, kept) => {
    expect(await created(await between('modern'), { ttlMs })).toMatchObject({ ttlMs: kept });
  });

  it.each([
    [250, 250],
    [1, 100],
    [undefined, 1000],
    [3_600_000, 60_000],
  ])('whose server wants a poll every %s ms is polled every %s ms', async (wanted, pollIntervalMs) => {
    const answer = wanted === undefined ? {} : { pollIntervalMs: wanted };
    expect(await created(await between('modern'), answer)).toMatchObject({ pollIntervalMs });
  });

  it('has the metadata of the answer', async () => {
    const { _meta } = await created(await between('modern'), { _meta: { 'com.example/queue': 3 } });
    expect(_meta).toMatchObject({ 'com.example/queue': 3 });
  });

  it('does not show a question that the server has replaced (TASK-M-032)', async () => {
    const all = await between('modern');
    const { client, far } = all;
    const { taskId } = await created(all, {});
    const state = async () => {
      await settle();
      client.request('get', 'tasks/get', { taskId });
      return (await client.next()).result;
    };
    const poll = async (inputRequests: object) => {
      const get = await heardLater(all);
      expect(get.method).toBe('tasks/get');
      const { taskId: id, ...rest } = TASK;
      get.on.answer(get, {
        resultType: 'complete',
        ...rest,
        taskId: id,
        status: 'input_required',
        inputRequests,
      });
    };
    await poll({ first: ask('first?') });
    expect(await state()).toMatchObject({ inputRequests: { 'elicitation-1': ask('first?') } });
    await poll({ second: ask('second?') });
    expect(Object.keys((await state()).inputRequests)).toEqual(['elicitation-2']);
    const inputResponses = { 'elicitation-2': { action: 'decline' } };
    client.request('update', 'tasks/update', { taskId, inputResponses });
    await client.next();
    const update = await far.next();
    expect([update.method, update.params.inputResponses]).toEqual([
      'tasks/update',
      { second: { action: 'decline' } },
    ]);
    update.on.answer(update, { resultType: 'complete' });
    await settle();
  });
});

it('a question of a call that was replaced by its modern server is taken back from a legacy client', async () => {
  const all = await between('legacy');
  const { client, far } = all;
  client.call(1, 'slow');
  const call = await far.next();
  call.on.answer(call, { resultType: 'task', ...TASK, pollIntervalMs: 100 });
  const poll = async (status: string, members: object) => {
    const get = await heardLater(all);
    expect(get.method).toBe('tasks/get');
    get.on.answer(get, { resultType: 'complete', ...TASK, status, pollIntervalMs: 100, ...members });
  };
  await poll('input_required', { inputRequests: { first: ask('first?') } });
  const asked: Message = await client.next();
  expect([asked.method, asked.params.message]).toEqual(['elicitation/create', 'first?']);
  await poll('working', {});
  expect(await client.next()).toMatchObject({
    method: 'notifications/cancelled',
    params: { requestId: asked.id },
  });
  await poll('completed', { result: { resultType: 'complete', content: [{ type: 'text', text: 'done' }] } });
  expect((await client.next()).result.content).toEqual([{ type: 'text', text: 'done' }]);
});
