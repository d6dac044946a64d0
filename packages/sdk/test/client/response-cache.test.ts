import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { type ConnectOptions, connect, createServer, memory, type Tool } from '../../src/index.js';
import { failure, meet, type Played, settle, welcome } from '../support/client/played-server.js';

const ID = 'io.modelcontextprotocol/subscriptionId';
const PUBLIC = { ttlMs: 1000, cacheScope: 'public' };
const PRIVATE = { ttlMs: 1000, cacheScope: 'private' };

describe('a client of a modern server that allows caching', () => {
  it.each([
    ['tools/list', { tools: [] }, (c) => c.listTools()],
    ['prompts/list', { prompts: [] }, (c) => c.listPrompts()],
    ['resources/list', { resources: [] }, (c) => c.listResources()],
    ['resources/templates/list', { resourceTemplates: [] }, (c) => c.listResourceTemplates()],
    ['resources/read', { contents: [{ uri: 'a://b', text: 'x' }] }, (c) => c.readResource('a://b')],
  ] as [string, object, Use][])(
    'asks for %s once while it is fresh (CACHE-008)',
    async (method, result, use) => {
      const { client, server, clock } = await start();
      const first = use(client);
      const sent = await server.next();
      expect(sent.method).toBe(method);
      server.answer(sent, { ...result, ...PUBLIC });
      const answer = await first;
      clock.advance(999);
      expect(await use(client)).toEqual(answer);
      expect(await server.rest()).toEqual([]);
      // Stale from now on: asked again on use, and not before (CACHE-010).
      clock.advance(1);
      expect(await server.rest()).toEqual([]);
      const again = use(client);
      server.answer(await server.next(), { ...result, ...PUBLIC });
      await again;
    },
  );

  it('never keeps calls, prompts and completions', async () => {
    const { client, server } = await start({ principal: 'ada' });
    const uses: [Use, object][] = [
      [(c) => c.callTool('t'), { content: [] }],
      [(c) => c.getPrompt('p'), { messages: [] }],
      [
        (c) => c.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }),
        { completion: { values: [] } },
      ],
      [(c) => c.request('example/list'), {}],
    ];
    for (const [use, result] of uses) {
      for (let count = 0; count < 2; count += 1) {
        const asking = use(client);
        server.answer(await server.next(), { ...result, ...PUBLIC });
        await asking;
      }
    }
  });

  it.each([
    ['ttlMs 0', { ttlMs: 0, cacheScope: 'public' }],
    ['a negative ttlMs', { ttlMs: -5, cacheScope: 'public' }],
    ['no ttlMs', { cacheScope: 'public' }],
    ['a ttlMs that is no number', { ttlMs: '1000', cacheScope: 'public' }],
    ['private and nobody knows whose', PRIVATE],
    ['no scope and nobody knows whose', { ttlMs: 1000 }],
  ])('keeps nothing with %s (CACHE-007, CACHE-009)', async (_name, hints) => {
    const { client, server } = await start();
    for (let count = 0; count < 2; count += 1) {
      const listing = client.listTools();
      server.answer(await server.next(), { tools: [], ...hints });
      await listing;
    }
  });

  it('keeps what is private for a principal that is named', async () => {
    const { client, server } = await start({ principal: 'ada' });
    const reading = client.readResource('a://b');
    server.answer(await server.next(), { contents: [], ...PRIVATE });
    await reading;
    await client.readResource('a://b');
    expect(await server.rest()).toEqual([]);
  });

  it('tells one URI and one page from another (CACHE-005, CACHE-017)', async () => {
    const { client, server, clock } = await start();
    const listing = client.listTools();
    server.answer(await server.next(), { tools: [tool('a')], nextCursor: '2', ...PUBLIC });
    server.answer(await server.next(), { tools: [tool('b')], ttlMs: 5000, cacheScope: 'public' });
    await listing;
    clock.advance(2000);
    const again = client.listTools();
    const first = await server.next();
    expect(first.params).not.toHaveProperty('cursor');
    server.answer(first, { tools: [tool('a2')], nextCursor: '2', ...PUBLIC });
    expect((await again).map(({ name }) => name)).toEqual(['a2', 'b']);

    const reading = Promise.all([client.readResource('a://1'), client.readResource('a://2')]);
    for (const uri of ['a://1', 'a://2']) {
      server.answer(await server.next(), { contents: [{ uri, text: uri }], ...PUBLIC });
    }
    await reading;
    expect((await client.readResource('a://2')).contents[0]).toEqual({ uri: 'a://2', text: 'a://2' });
    expect(await server.rest()).toEqual([]);
  });

  it('asks again when told to, and keeps the newer answer', async () => {
    const { client, server } = await start();
    const first = client.listTools();
    server.answer(await server.next(), { tools: [tool('old')], ...PUBLIC });
    await first;
    const second = client.listTools({ fresh: true });
    server.answer(await server.next(), { tools: [tool('new')], ...PUBLIC });
    await second;
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['new']);
    expect(await server.rest()).toEqual([]);
  });

  it('never keeps the result of rounds (MRTR-029), in automatic and in manual mode', async () => {
    const { client, server } = await start({ answers: { roots: [] } });
    for (let count = 0; count < 2; count += 1) {
      const reading = client.readResource('a://b');
      server.answer(await server.next(), {
        resultType: 'input_required',
        requestState: 's',
        ...PUBLIC,
      });
      server.answer(await server.next(), { resultType: 'complete', contents: [], ...PUBLIC });
      await reading;
    }
    for (let count = 0; count < 2; count += 1) {
      const reading = client.readResource('a://b', { manual: true, requestState: 's' });
      server.answer(await server.next(), { resultType: 'complete', contents: [], ...PUBLIC });
      await reading;
    }
    const plain = client.readResource('a://b');
    server.answer(await server.next(), { contents: [] });
    await plain;
  });

  it.each([
    ['tools', 'tools/list_changed', {}, 'tools/list', { tools: [] }, (c) => c.listTools()],
    ['prompts', 'prompts/list_changed', {}, 'prompts/list', { prompts: [] }, (c) => c.listPrompts()],
    [
      'resources',
      'resources/list_changed',
      {},
      'resources/list',
      { resources: [] },
      (c) => c.listResources(),
    ],
    [
      'templates',
      'resources/list_changed',
      {},
      'resources/templates/list',
      { resourceTemplates: [] },
      (c) => c.listResourceTemplates(),
    ],
    [
      'a resource',
      'resources/updated',
      { uri: 'a://b' },
      'resources/read',
      { contents: [] },
      (c) => c.readResource('a://b'),
    ],
    [
      'a resource of which a part changed',
      'resources/updated',
      { uri: 'a://b/part' },
      'resources/read',
      { contents: [] },
      (c) => c.readResource('a://b'),
    ],
  ] as [string, string, object, string, object, Use][])(
    'drops %s at once when the server tells of a change (CACHE-015)',
    async (_name, news, params, method, result, use) => {
      const { client, server } = await start();
      const tell = await subscribe(client, server);
      const first = use(client);
      server.answer(await server.next(), { ...result, ...PUBLIC });
      await first;
      // Something else changed: that is no reason.
      tell(news === 'tools/list_changed' ? 'prompts/list_changed' : 'tools/list_changed');
      tell('resources/updated', { uri: 'a://other' });
      await settle();
      await use(client);
      expect(await server.rest()).toEqual([]);
      tell(news, params);
      await settle();
      const again = use(client);
      const sent = await server.next();
      expect(sent.method).toBe(method);
      server.answer(sent, { ...result, ...PUBLIC });
      await again;
    },
  );

  it('does not keep an answer that was overtaken by a change', async () => {
    const { client, server } = await start();
    const tell = await subscribe(client, server);
    const first = client.readResource('a://b');
    const sent = await server.next();
    tell('resources/updated', { uri: 'a://b' });
    server.answer(sent, { contents: [{ uri: 'a://b', text: 'of before' }], ...PUBLIC });
    await first;
    const second = client.readResource('a://b');
    server.answer(await server.next(), { contents: [{ uri: 'a://b', text: 'new' }], ...PUBLIC });
    expect((await second).contents).toEqual([{ uri: 'a://b', text: 'new' }]);
  });

  it('starts anew when a cursor stopped working (CACHE-018)', async () => {
    const { client, server } = await start();
    const first = client.listTools();
    server.answer(await server.next(), { tools: [tool('a')], nextCursor: 'old', ...PUBLIC });
    server.answer(await server.next(), { tools: [tool('b')], ttlMs: 0, cacheScope: 'public' });
    await first;
    const second = client.listTools();
    second.catch(() => {});
    const sent = await server.next();
    expect(sent.params).toMatchObject({ cursor: 'old' });
    server.refuse(sent, -32602, 'Unknown cursor');
    const restart = await server.next();
    expect(restart.params).not.toHaveProperty('cursor');
    server.answer(restart, { tools: [tool('c')], ...PUBLIC });
    expect((await second).map(({ name }) => name)).toEqual(['c']);
  });

  it('does not start anew for ever', async () => {
    const { client, server } = await start();
    const listing = failure(client.listTools());
    server.answer(await server.next(), { tools: [], nextCursor: 'bad', ...PUBLIC });
    server.refuse(await server.next(), -32602, 'Unknown cursor');
    let requests = 2;
    for (;;) {
      const [next] = await server.rest();
      if (!next) break;
      requests += 1;
      if (next.params?.['cursor'] === undefined) {
        server.answer(next, { tools: [], nextCursor: 'bad', ...PUBLIC });
      } else server.refuse(next, -32602, 'Unknown cursor');
    }
    expect(await listing).toMatchObject({ code: -32602 });
    expect(requests).toBeLessThanOrEqual(4);
  });

  it('keeps what it has when the caller changes what it got', async () => {
    const { client, server } = await start();
    const first = client.listTools();
    server.answer(await server.next(), { tools: [tool('a')], ...PUBLIC });
    const tools = await first;
    tools[0]!.name = 'changed';
    const page = await client.listToolsPage();
    page.tools.length = 0;
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['a']);
  });

  it('gives nothing after it was closed, and nothing to a cancelled call', async () => {
    const { client, server } = await start();
    const first = client.listTools();
    server.answer(await server.next(), { tools: [], ...PUBLIC });
    await first;
    expect(await failure(client.listTools({ signal: AbortSignal.abort() }))).toMatchObject({
      code: 'CANCELLED',
      sent: 'no',
    });
    await client.close();
    expect(await failure(client.listTools())).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'no' });
  });

  it('forgets all when it had to reconnect: it may have missed the news', async () => {
    const { client, server, connector } = await start();
    await subscribe(client, server);
    const first = client.listTools();
    server.answer(await server.next(), { tools: [], ...PUBLIC });
    await first;
    server.vanish();
    const fresh = await connector.accept();
    await welcome('modern', fresh);
    const listening = await fresh.next();
    fresh.send({
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta: { [ID]: listening.id }, notifications: { toolsListChanged: true } },
    });
    await settle();
    const again = client.listTools();
    const sent = await fresh.next();
    expect(sent.method).toBe('tools/list');
    fresh.answer(sent, { tools: [] });
    await again;
  });

  it('keeps what our own server allows to keep, and drops what it changes', async () => {
    let reads = 0;
    const server = createServer({ name: 'own', version: '1' });
    server.resource('memo://1', { name: 'memo', cache: { ttlMs: 60_000, cacheScope: 'public' } }, () => {
      reads += 1;
      return `read ${reads}`;
    });
    await using client = await connect(memory(server), { mode: 'modern', cache: false });
    await using _news = await client.listen({ uris: ['memo://1'] });
    const read = async () => (await client.readResource('memo://1')).contents[0];
    expect(await read()).toMatchObject({ text: 'read 1' });
    expect(await read()).toMatchObject({ text: 'read 1' });
    server.resourceUpdated('memo://1');
    await settle();
    expect(await read()).toMatchObject({ text: 'read 2' });
  });
});

describe('a client of a legacy server', () => {
  it('keeps nothing', async () => {
    const { client, server } = await meet('legacy', { principal: 'ada' });
    for (let count = 0; count < 2; count += 1) {
      const listing = client.listTools();
      server.answer(await server.next(), { tools: [] });
      await listing;
    }
  });
});

type Use = (client: Awaited<ReturnType<typeof meet>>['client']) => Promise<unknown>;

async function start(options: ConnectOptions = {}) {
  const clock = new FakeClock();
  return { clock, ...(await meet('modern', { clock, ...options })) };
}

async function subscribe(client: Awaited<ReturnType<typeof meet>>['client'], server: Played) {
  const notifications = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ['a://b'],
  };
  const opening = client.listen({ tools: true, prompts: true, resources: true, uris: ['a://b'] });
  const { id } = await server.next();
  const _meta = { [ID]: id };
  server.send({ method: 'notifications/subscriptions/acknowledged', params: { _meta, notifications } });
  await opening;
  return (what: string, params: object = {}) =>
    server.send({ method: `notifications/${what}`, params: { ...params, _meta } });
}

function tool(name: string): Tool {
  return { name, inputSchema: { type: 'object' } };
}
