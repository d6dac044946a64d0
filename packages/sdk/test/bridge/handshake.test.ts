import { describe, expect, it } from 'vitest';
import { upstreamAt } from '../../src/client/connect.js';
import { bridgeTo } from '../support/bridge/between.js';
import { CAPABILITIES, CLIENT_INFO, SERVER_INFO, until, VERSION } from '../support/bridge/frames.js';

const FACTS = {
  capabilities: { tools: { listChanged: true }, logging: {}, experimental: { 'x/y': { z: 1 } } },
  info: { name: 'weather', version: '3.1', title: 'Weather' },
  instructions: 'Ask about tomorrow.',
};

describe('a legacy client before a modern server', () => {
  it('row 1: gets initialize answered from what the server told about itself (INIT-003)', async () => {
    const { near, far } = await bridgeTo('modern', FACTS);
    const client = near.raw();
    expect(await client.handshake('2025-11-25')).toEqual({
      jsonrpc: '2.0',
      id: 'init',
      result: {
        protocolVersion: '2025-11-25',
        capabilities: FACTS.capabilities,
        serverInfo: FACTS.info,
        instructions: 'Ask about tomorrow.',
      },
    });
    const [listen] = await far.rest();
    expect(listen!.method).toBe('subscriptions/listen');
    const methods = far.connections.flatMap(({ frames }) => frames.map(({ message }) => message.method));
    expect(methods).not.toContain('initialize');
    expect(methods).not.toContain('notifications/initialized');
  });

  it.each([
    ['2024-11-05', '2024-11-05'],
    ['2025-03-26', '2025-03-26'],
    ['2025-06-18', '2025-06-18'],
    ['2099-01-01', '2025-11-25'],
  ])(
    'row 1: that offers %s gets %s, whatever the server speaks (INIT-009, INIT-010)',
    async (offered, given) => {
      const { near } = await bridgeTo('modern');
      const client = near.raw();
      const clientInfo = { name: 'near', version: '1' };
      client.request(1, 'initialize', { protocolVersion: offered, capabilities: {}, clientInfo });
      const { result } = await client.next();
      expect(result.protocolVersion).toBe(given);
    },
  );

  it('row 1: is named, with what it can do, in each of its requests (META-002, META-003, STATE-001)', async () => {
    const { near, far } = await bridgeTo('modern');
    const one = await near.legacy({
      info: { name: 'one', version: '1', title: 'One' },
      capabilities: { elicitation: { form: {}, url: {} }, sampling: { tools: {} } },
    });
    const two = await near.legacy({ info: { name: 'two', version: '2' } });
    one.call(5, 'a', { arguments: { n: 1 } });
    two.request(5, 'resources/read', { uri: 'a://b' });
    const frames = [await far.next(), await far.next()];
    expect(frames.find(({ method }) => method === 'tools/call')).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'a',
        arguments: { n: 1 },
        _meta: {
          [VERSION]: '2026-07-28',
          [CLIENT_INFO]: { name: 'one', version: '1', title: 'One' },
          [CAPABILITIES]: { elicitation: { form: {}, url: {} }, sampling: { tools: {} } },
        },
      },
    });
    expect(frames.find(({ method }) => method === 'resources/read')!.params._meta).toEqual({
      [VERSION]: '2026-07-28',
      [CLIENT_INFO]: { name: 'two', version: '2' },
      [CAPABILITIES]: {},
    });
    for (const frame of frames) frame.on.refuse(frame, -32603, 'not today');
    expect([(await one.next()).error!.code, (await two.next()).error!.code]).toEqual([-32603, -32603]);
  });

  it.each([
    ['2025-11-25', { elicitation: { form: {}, url: {} }, sampling: { tools: {} } }],
    ['2025-06-18', { elicitation: {}, sampling: { context: {} } }],
    ['2025-03-26', { sampling: { context: {} } }],
    ['2024-11-05', { sampling: { context: {} } }],
  ] as const)(
    'row 2: of %s is said to be able to do what it really can (META-006)',
    async (revision, told) => {
      const { near, far } = await bridgeTo('modern');
      const capabilities = { elicitation: { form: {}, url: {} }, sampling: { tools: {} } };
      const client = await near.legacy({ revision, capabilities });
      client.call(1, 'a');
      const call = await far.next();
      expect(call.params._meta[CAPABILITIES]).toEqual(told);
      call.on.answer(call, { resultType: 'complete', content: [] });
      await client.next();
    },
  );

  it('row 2: has an empty elicitation capability, and still has it over there (ELIC-002)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ capabilities: { elicitation: {} } });
    client.call(1, 'a');
    const call = await far.next();
    expect(call.params._meta[CAPABILITIES]).toEqual({ elicitation: {} });
    call.on.answer(call, { resultType: 'complete', content: [] });
    await client.next();
  });

  it('row 2: tells of changes of its roots and of tasks, which no modern server hears of', async () => {
    const { near, far } = await bridgeTo('modern');
    const tasks = { requests: { sampling: { createMessage: {} } } };
    const client = await near.legacy({ capabilities: { roots: { listChanged: true }, tasks } });
    client.call(1, 'a');
    const call = await far.next();
    expect(call.params._meta[CAPABILITIES]).toEqual({ roots: {} });
    call.on.answer(call, { resultType: 'complete', content: [] });
    await client.next();
  });

  it('row 2: hears of extensions, and of tasks in the form of its own era (TASK-M-009, TASK-L-001)', async () => {
    const { near } = await bridgeTo('modern', {
      capabilities: { tools: {}, extensions: { 'com.example/x': {}, 'io.modelcontextprotocol/tasks': {} } },
    });
    const client = near.raw();
    const { result } = await client.handshake('2025-11-25');
    expect(result.capabilities).toEqual({
      tools: {},
      extensions: { 'com.example/x': {} },
      tasks: { cancel: {}, requests: { tools: { call: {} } } },
    });
  });

  it('row 14: has a session of its own over there, which ends with it', async () => {
    const { near, far, bridge } = await bridgeTo('modern');
    const client = await near.legacy();
    client.call(1, 'a');
    const call = await far.next();
    call.on.answer(call, { resultType: 'complete', content: [] });
    await client.next();
    expect(bridge.upstreamSessions).toBe(1);
    client.end();
    await until('end of the connection', () => !call.on.isOpen);
    expect(bridge.upstreamSessions).toBe(0);
  });
});

describe('a modern client before a legacy server', () => {
  it('row 1: gets server/discover answered from the handshake (DISC-003, DISC-004)', async () => {
    const { near } = await bridgeTo('legacy', FACTS);
    const client = near.modern();
    client.request('d', 'server/discover');
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 'd',
      result: {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: FACTS.capabilities,
        instructions: 'Ask about tomorrow.',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { [SERVER_INFO]: FACTS.info },
      },
    });
  });

  it('row 1: shares one session with others that can do the same', async () => {
    const { near, far } = await bridgeTo('legacy');
    const capabilities = { roots: {} };
    const clients = [near.modern({ capabilities }), near.modern({ capabilities })];
    for (const client of clients) {
      for (const id of [1, 2]) {
        client.request(id, 'tools/list');
        const list = await far.next();
        list.on.answer(list, { tools: [] });
        await client.next();
      }
    }
    expect(far.stillOpen.length).toBe(1);
    expect(far.stillOpen[0]!.frames.filter(({ message }) => message.method === 'initialize').length).toBe(1);
  });

  it.each([
    ['nothing', {}, {}],
    ['forms', { elicitation: {} }, { elicitation: {} }],
    [
      'pages and sampling',
      { elicitation: { url: {} }, sampling: {} },
      { elicitation: { url: {} }, sampling: {} },
    ],
    ['roots, which may change unseen', { roots: { listChanged: true } }, { roots: {} }],
    [
      'tasks, which are not carried',
      { roots: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
      { roots: {} },
    ],
  ])(
    'row 2: that can do %s has it declared in the handshake, and no more (INIT-012)',
    async (_what, has, told) => {
      const { near, far } = await bridgeTo('legacy');
      const client = near.modern({ capabilities: has });
      client.request(1, 'tools/list');
      const list = await far.next();
      expect(list.on.opening!.params).toEqual({
        protocolVersion: '2025-11-25',
        capabilities: told,
        clientInfo: { name: 'isthmus', version: expect.any(String) },
      });
      list.on.answer(list, { tools: [] });
      await client.next();
    },
  );

  it('row 1: that can do something else has another session', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern({ capabilities: { roots: {} } });
    client.request(1, 'tools/list');
    const first = await far.next();
    client.request(2, 'tools/list', {}, { [CAPABILITIES]: { sampling: {} } });
    const second = await far.next();
    expect(second.on).not.toBe(first.on);
    expect(second.on.opening!.params.capabilities).toEqual({ sampling: {} });
    first.on.answer(first, { tools: [] });
    second.on.answer(second, { tools: [] });
    expect([(await client.next()).id, (await client.next()).id]).toEqual([1, 2]);
  });

  it('row 1: on a process for everybody all is declared, and refused where it is used (META-008)', async () => {
    const { near, far } = await bridgeTo('legacy', {
      upstream: (server, clock) => ({ ...upstreamAt(server, { cache: false, clock }), serves: 'everybody' }),
    });
    const client = near.modern();
    client.call(1, 'a');
    const call = await far.next();
    expect(call.on.opening!.params.capabilities).toEqual({
      elicitation: { form: {}, url: {} },
      sampling: { tools: {}, context: {} },
      roots: {},
      extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
    });
    call.on.ask('q', 'sampling/createMessage', { messages: [], maxTokens: 1 });
    expect(await far.next()).toMatchObject({ id: 'q', error: { code: -32601 } });
    call.on.answer(call, { content: [], isError: true });
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: -32021,
        message: 'This call needs the client capability sampling',
        data: {
          requiredCapabilities: { sampling: {} },
          serverAnswer: { result: { content: [], isError: true } },
        },
      },
    });
    await far.rest();
  });
});
