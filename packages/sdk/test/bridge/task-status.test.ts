import { expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import { settle } from '../support/bridge/frames.js';

const CAN_TASKS = { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } };
const TOOL = { name: 'slow', inputSchema: { type: 'object' }, execution: { taskSupport: 'optional' } };
const TASK = {
  taskId: 'far-1',
  status: 'working',
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttl: 60_000,
};
const IMMEDIATE = 'io.modelcontextprotocol/model-immediate-response';

/** A task of a modern client, whose legacy server has answered with this. */
async function task(answer: object) {
  const all = await bridgeTo('legacy', { capabilities: CAN_TASKS, foreign: /task/i });
  const { near, far } = all;
  const client = near.modern({ capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } });
  client.request('list', 'tools/list');
  const list = await far.next();
  list.on.answer(list, { tools: [TOOL] });
  await client.next();
  client.call(1, 'slow');
  const call = await far.next();
  call.on.answer(call, answer);
  const { taskId } = (await client.next()).result;
  const wait = await far.next();
  expect(wait.method).toBe('tasks/result');
  await settle();
  const message = async () => {
    client.request('get', 'tasks/get', { taskId });
    return (await client.next()).result.statusMessage;
  };
  return { ...all, wait, message };
}

it('what a legacy server lets a model say meanwhile is the status of the task (TASK-L-028)', async () => {
  const { message } = await task({ task: TASK, _meta: { [IMMEDIATE]: 'It is being written' } });
  expect(await message()).toBe('It is being written');
});

it('unless the task has a message of its own', async () => {
  const said = { ...TASK, statusMessage: 'page 1' };
  const { message } = await task({ task: said, _meta: { [IMMEDIATE]: 'It is being written' } });
  expect(await message()).toBe('page 1');
});

it('a status that a legacy server tells without being asked is not counted as lost (TASK-L-060, TASK-L-061)', async () => {
  const { wait, far, near, dropped } = await task({ task: TASK });
  wait.on.notify('notifications/tasks/status', { ...TASK, statusMessage: 'page 2' });
  expect(await far.rest()).toEqual([]);
  expect(dropped).toEqual([]);
  expect(JSON.stringify(near.clients[0]!.frames)).not.toContain('far-1');
});
