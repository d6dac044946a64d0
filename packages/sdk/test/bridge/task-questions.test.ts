import { describe, expect, it } from 'vitest';
import { bridgeToHost } from '../support/bridge/between-host.js';
import type { FarServer, Heard } from '../support/bridge/far.js';
import { RELATED_TASK } from '../support/bridge/frames.js';
import type { NearClient } from '../support/bridge/near.js';

const CAN_TASKS = { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } };
const TASK = {
  status: 'working',
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttl: 60_000,
};
const FORM = { message: 'm', requestedSchema: { type: 'object', properties: {} } };
const DONE = { content: [{ type: 'text', text: 'done' }] };
const capabilities = { elicitation: {} };

async function shared() {
  const { near, far } = await bridgeToHost('legacy', { capabilities: CAN_TASKS });
  const one = near.modern({ capabilities });
  const other = near.modern({ capabilities });
  return { far, one, other };
}

/** The call as a task: the server has refused the plain one. */
async function taskCall(far: FarServer): Promise<Heard> {
  const plain = await far.next();
  plain.on.refuse(plain, -32601, 'Tool slow requires task augmentation');
  const call = await far.next();
  expect(call.params.task).toBeDefined();
  return call;
}

/** Calls the tool, which the server runs as a task. */
async function start(client: NearClient, far: FarServer, taskId: string): Promise<Heard> {
  client.call(taskId, 'slow');
  const call = await taskCall(far);
  call.on.answer(call, { task: { ...TASK, taskId } });
  const wait = await far.next();
  expect([wait.method, wait.params.taskId]).toEqual(['tasks/result', taskId]);
  return wait;
}

const question = (taskId: string) => ({ ...FORM, message: taskId, _meta: { [RELATED_TASK]: { taskId } } });

/** The client is asked, and answers in the next round of its call. */
async function answers(client: NearClient, taskId: string): Promise<void> {
  const { result } = await client.next();
  expect(result.inputRequests['elicitation-1'].params.message).toBe(taskId);
  const inputResponses = { 'elicitation-1': { action: 'accept', content: { of: taskId } } };
  client.call(`${taskId} again`, 'slow', { requestState: result.requestState, inputResponses });
}

describe('questions of tasks on a process that several clients share', () => {
  it('reach the client of the task, while tasks and calls of others run (TASK-L-033)', async () => {
    const { far, one, other } = await shared();
    const first = await start(one, far, 'task-1');
    const second = await start(other, far, 'task-2');
    other.call('plain', 'quick');
    const plain = await far.next();
    second.on.ask('q2', 'elicitation/create', question('task-2'));
    first.on.ask('q1', 'elicitation/create', question('task-1'));
    await answers(one, 'task-1');
    await answers(other, 'task-2');
    const heard = [await far.next(), await far.next()]
      .map(({ id, result }) => [id, result.content.of])
      .sort();
    expect(heard).toEqual([
      ['q1', 'task-1'],
      ['q2', 'task-2'],
    ]);
    first.on.answer(first, DONE);
    expect((await one.next()).result.content).toEqual(DONE.content);
    second.on.answer(second, DONE);
    expect((await other.next()).result.content).toEqual(DONE.content);
    plain.on.answer(plain, DONE);
    expect((await other.next()).id).toBe('plain');
  });

  it('may come before the server has the request for the result', async () => {
    const { far, one, other } = await shared();
    await start(other, far, 'task-2');
    one.call(1, 'slow');
    const call = await taskCall(far);
    // Both in one turn, as a server that asks at once does.
    call.on.ask('q1', 'elicitation/create', question('task-1'));
    call.on.answer(call, { task: { ...TASK, taskId: 'task-1' } });
    expect((await far.next()).method).toBe('tasks/result');
    const asked = await one.next();
    expect(asked.result.inputRequests['elicitation-1'].params.message).toBe('task-1');
  });

  it('never make a question of a plain call unclear: a task names itself', async () => {
    const { far, one, other } = await shared();
    await start(one, far, 'task-1');
    other.call('plain', 'asks');
    const plain = await far.next();
    plain.on.ask('q', 'elicitation/create', { ...FORM, message: 'plain' });
    const asked = await other.next();
    expect(asked.result.inputRequests['elicitation-1'].params.message).toBe('plain');
  });

  it('without the name of the task belong to the only client that waits for one', async () => {
    const { far, one } = await shared();
    const wait = await start(one, far, 'task-1');
    wait.on.ask('q', 'elicitation/create', { ...FORM, message: 'task-1' });
    await answers(one, 'task-1');
    expect(await far.next()).toMatchObject({ id: 'q', result: { content: { of: 'task-1' } } });
  });

  it('without the name of the task are refused where two clients wait for one', async () => {
    const { far, one, other } = await shared();
    const wait = await start(one, far, 'task-1');
    await start(other, far, 'task-2');
    wait.on.ask('q', 'elicitation/create', { ...FORM, message: 'whose?' });
    expect(await far.next()).toMatchObject({ id: 'q', error: { code: -32601 } });
  });
});
