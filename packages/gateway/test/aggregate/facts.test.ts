import type { Server } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/support/until.js';
import { legacyRequest, openSession } from '../../../sdk/test/support/http-server.js';
import { client, ERAS } from '../support/clients.js';
import { openGateway } from '../support/open-gateway.js';
import { socketUnit } from '../support/server-definitions.js';
import { openFar, withTools } from '../support/upstream.js';

const prompting = (word: string) => (server: Server) => {
  const complete = (typed: string) => [`${typed}-${word}`];
  server.prompt('greet', { arguments: { name: { complete } } }, () => word);
  server.resourceTemplate(`${word}://{id}`, { name: word, complete: { id: complete } }, () => word);
};

describe.each(ERAS)('what all servers together say of themselves, to a %s client', (era) => {
  it('is who they are behind, and the advice of each under its name', async () => {
    const a = await openFar(withTools('one'), { name: 'A', instructions: 'Be brief.' });
    const b = await openFar(withTools('two'), { name: 'B' });
    const c = await openFar(withTools('three'), { name: 'C', instructions: 'Be kind.' });
    const { url } = await openGateway([c.unit('c'), b.unit('b'), a.unit('a')]);
    const all = await client(url, era);
    expect(all.server.info).toMatchObject({ name: 'isthmus', version: '0.1.0' });
    expect(all.server.instructions).toBe('# c\n\nBe kind.\n\n# a\n\nBe brief.');
  });

  it('is what any of them can do, once all have answered', async () => {
    const a = await openFar(withTools('one'));
    const b = await openFar(prompting('b'));
    const tools = await openGateway([a.unit('a'), (await openFar(withTools('two'))).unit('b')]);
    const { capabilities } = (await client(tools.url, era)).server;
    expect([capabilities.tools, capabilities.prompts, capabilities.resources]).toEqual([
      { listChanged: true },
      undefined,
      undefined,
    ]);
    const both = await openGateway([a.unit('a'), b.unit('b')]);
    expect((await client(both.url, era)).server.capabilities).toMatchObject({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true },
      completions: {},
    });
  });

  it('is everything, while one of them has yet to say', async () => {
    const a = await openFar(withTools('one'));
    const { url, gateway } = await openGateway([a.unit('a'), socketUnit('late', 'unix:/nowhere/s')]);
    await gateway
      .unit('late')
      .start()
      .catch(() => {});
    const all = await client(url, era);
    expect(Object.keys(all.server.capabilities).sort()).toEqual(
      expect.arrayContaining(['completions', 'prompts', 'resources', 'tools']),
    );
    expect(await all.listPrompts()).toEqual([]);
  });
});

describe.each(ERAS)('completions, to a %s client', (era) => {
  it('come from the server that has the prompt or the template', async () => {
    const a = await openFar(prompting('a'));
    const b = await openFar(prompting('b'));
    const plain = await openFar(withTools('one'));
    const { url } = await openGateway([plain.unit('plain'), a.unit('a'), b.unit('b')]);
    const all = await client(url, era);
    const complete = async (ref: object, name: string) => {
      const result = await all.request('completion/complete', { ref, argument: { name, value: 'x' } });
      return (result['completion'] as { values: string[] }).values;
    };
    for (const word of ['a', 'b']) {
      expect(await complete({ type: 'ref/prompt', name: `${word}__greet` }, 'name')).toEqual([`x-${word}`]);
      expect(await complete({ type: 'ref/resource', uri: `${word}://{id}` }, 'id')).toEqual([`x-${word}`]);
    }
    await expect(complete({ type: 'ref/prompt', name: 'nobody__greet' }, 'name')).rejects.toMatchObject({
      code: -32602,
    });
    await expect(complete({ type: 'ref/resource', uri: 'c://{id}' }, 'id')).rejects.toMatchObject({
      code: -32602,
    });
  });
});

describe('the log level of a legacy session', () => {
  const talking = (server: Server) => {
    server.tool('talk', {}, (_args, ctx) => {
      ctx.log('debug', `debug of ${server.info.name}`);
      ctx.log('error', `error of ${server.info.name}`);
      return 'said';
    });
  };

  it('holds for every server, also for one that comes later', async () => {
    const a = await openFar(talking, { name: 'A' });
    const b = await openFar(talking, { name: 'B' });
    const { url, gateway } = await openGateway([a.unit('a'), (await openFar()).unit('idle')]);
    const session = await openSession(url);
    const news = await session.get();
    const level = await session.post(legacyRequest(1, 'logging/setLevel', { level: 'warning' }));
    expect(level.json.result).toEqual({});
    gateway.apply([...gateway.definitions, b.unit('b')]);
    const said = async (name: string) => {
      const call = legacyRequest(name, 'tools/call', { name, arguments: {} });
      const { messages } = await session.post(call);
      const logs = [...messages, ...news.messages].filter(({ method }) => method === 'notifications/message');
      return logs
        .map(({ params }) => params!['data'])
        .filter((data) => String(data).endsWith(name === 'a__talk' ? 'A' : 'B'));
    };
    await eventually(async () => expect(await said('a__talk')).toContain('error of A'));
    await eventually(async () => expect(await said('b__talk')).toContain('error of B'));
    expect(await said('a__talk')).not.toContain('debug of A');
    expect(await said('b__talk')).not.toContain('debug of B');
  });
});
