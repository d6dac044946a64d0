import { describe, expect, it } from 'vitest';
import { createServer, memoryTaskStore } from '../../../src/index.js';
import { openWandering, startMembers, type TestMember } from '../../support/cluster.js';
import { ask, gate, legacyRequest, modern, modernCall } from '../../support/http-server.js';
import { idOf, WITH_TASKS } from '../../support/tasks.js';

const WITH = { capabilities: WITH_TASKS };

/** A request about a task reads the store, so the end of the member that was asked is not the end of the task. */
describe('a request about a task whose member is killed while it works on it', () => {
  it.each([['tasks/get'], ['tasks/update']])(
    '%s of a modern client is served by the next home (TASK-M-038, TASK-M-045)',
    async (method) => {
      const { members, hold } = await startHolders();
      const taskId = idOf((await ask(members[1]!.url, modernCall(1, 'slow', {}, WITH))).json['result']);
      const { isHeld } = hold();
      const answer = ask(
        members[1]!.url,
        modern(2, method, { taskId, inputResponses: {} }, { ...WITH, headers: { 'mcp-name': taskId } }),
      );
      await isHeld;
      await members[0]!.kill();
      expect((await answer).json).toMatchObject({ id: 2, result: { resultType: 'complete' } });
    },
  );

  it.each([
    ['tasks/get', { result: { status: expect.any(String) } }],
    // The end of the task, and not that of the member (TASK-L-041).
    ['tasks/result', { error: { code: -32603, data: { reason: 'SERVER_ENDED' } } }],
  ])('%s of a legacy client is served by the new owner of its session', async (method, end) => {
    const { members, hold } = await startHolders();
    const session = await openWandering(members.map(({ url }) => url));
    const call = legacyRequest(1, 'tools/call', { name: 'slow', arguments: {}, task: {} });
    const taskId = idOf((await session.post(call, 0)).json['result']);
    const { isHeld } = hold();
    const answer = session.post(legacyRequest(2, method, { taskId }), 1);
    await isHeld;
    await members[0]!.kill();
    expect((await answer).json).toMatchObject({ id: 2, ...end });
  });
});

/** Two members that share their tasks. The first one is the home of all requests, until it ends. */
async function startHolders() {
  const tasks = memoryTaskStore();
  const held = gate();
  let isHolding = false;
  const members: TestMember[] = [];
  let count = 0;
  const create = () => {
    const isFirst = count === 0;
    count += 1;
    const get: typeof tasks.get = (id) => {
      if (!isFirst || !isHolding) return tasks.get(id);
      isHolding = false;
      held.open();
      return new Promise(() => {});
    };
    const server = createServer({ name: 'slow', version: '1', tasks: { store: { ...tasks, get } } });
    server.tool('slow', { task: 'allowed' }, () => new Promise<string>(() => {}));
    return server;
  };
  const home = ({ except }: { except?: ReadonlySet<string> }) => {
    const [first] = members;
    return first && !except?.has(first.id) ? first.id : undefined;
  };
  members.push(...(await startMembers(2, create, { serve: { home } })));
  return {
    members,
    /** The first member does not get the next task from the store. */
    hold() {
      isHolding = true;
      return { isHeld: held.promise };
    },
  };
}
