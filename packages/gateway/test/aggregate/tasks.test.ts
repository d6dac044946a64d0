import { createServer, type Server } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import { connectTo } from '../../../sdk/test/support/server.js';
import { gate, idOf, TASKS, taskServer, WITH_TASKS, waitFor } from '../../../sdk/test/support/tasks.js';
import { Aggregate } from '../../src/aggregate/aggregate.js';

function withTask(name: string, ended: Promise<void>): Server {
  const server = taskServer();
  server.tool('slow', { task: 'required' }, () => ended.then(() => `of ${name}`));
  return server;
}

async function connected(services: Record<string, Server>, era: 'legacy' | 'modern') {
  const aggregate = new Aggregate({ info: { name: 'all', version: '1' } });
  aggregate.setMembers(
    Object.entries(services).map(([name, service]) => ({ name, service, absence: () => undefined })),
  );
  return connectTo(aggregate as unknown as Server, era, era === 'modern' ? { capabilities: WITH_TASKS } : {});
}

describe.each(['legacy', 'modern'] as const)(
  'tasks at the address of all servers, for a %s client',
  (era) => {
    it('are found at the server that runs them', async () => {
      const { opened, open } = gate();
      const plain = createServer({ name: 'plain', version: '1' });
      const services = { plain, one: withTask('one', opened), two: withTask('two', opened) };
      await using peer = await connected(services, era);
      const start = async (name: string) => {
        const wish = era === 'legacy' ? { task: {} } : {};
        return idOf(await peer.result('tools/call', { name, ...wish }));
      };
      const ids = [await start('one__slow'), await start('two__slow')];
      for (const taskId of ids)
        expect(await peer.result('tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' });
      open();
      const results = ids.map(async (taskId) =>
        era === 'legacy'
          ? peer.result('tasks/result', { taskId })
          : (await waitFor(peer, taskId, 'completed'))['result'],
      );
      expect(await Promise.all(results)).toMatchObject([
        { content: [{ type: 'text', text: 'of one' }] },
        { content: [{ type: 'text', text: 'of two' }] },
      ]);
      expect(await peer.error('tasks/get', { taskId: 'unknown' })).toEqual({
        code: -32602,
        message: 'Unknown task',
      });
    });

    it('do not exist where no server has them', async () => {
      await using peer = await connected({ plain: createServer({ name: 'plain', version: '1' }) }, era);
      expect(await peer.error('tasks/get', { taskId: 'x' })).toMatchObject({ code: -32601 });
    });
  },
);

it('a modern client is told of the tasks of all servers', async () => {
  const services = {
    one: withTask('one', Promise.resolve()),
    two: createServer({ name: 'two', version: '1' }),
  };
  await using peer = await connected(services, 'modern');
  expect((await peer.result('server/discover'))['capabilities']).toMatchObject({
    extensions: { [TASKS]: {} },
  });
});
