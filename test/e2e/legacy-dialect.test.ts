import {
  createServer,
  inputRequired,
  jsonSchema,
  type Served,
  type ServeOptions,
  type Server,
  serve,
} from '@isthmus/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { initialize, legacy, notification } from '../support/eras.js';
import { FakeClock } from '../support/fake-clock.js';
import { type RawClient, settle, streamLink } from '../support/raw-client.js';

const served: Served[] = [];
afterEach(async () => {
  for (const each of served.splice(0)) await each.close({ graceMs: 0 });
});

async function start(server: Server, options: ServeOptions = {}) {
  const link = streamLink();
  served.push(await serve(server, link, options));
  return link;
}

function bare(): Server {
  return createServer({ name: 's', version: '1' });
}

function call(id: string | number, name: string, more: object = {}): object {
  return legacy(id, 'tools/call', { name, ...more });
}

const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;

describe('the handshake', () => {
  it.each(REVISIONS)('answers %s with exactly that revision (INIT-009)', async (revision) => {
    const client = (await start(bare())).connect();
    expect(await initialize(client, revision)).toEqual({
      jsonrpc: '2.0',
      id: 'init',
      result: {
        protocolVersion: revision,
        capabilities: { logging: {} },
        serverInfo: { name: 's', version: '1' },
      },
    });
  });

  it.each(['2026-07-28', '2024-10-07', '1.0', ''])(
    'answers the version "%s" with the newest legacy one (INIT-010, VER-008)',
    async (asked) => {
      const client = (await start(bare())).connect();
      expect((await initialize(client, asked)).result).toMatchObject({ protocolVersion: '2025-11-25' });
    },
  );

  it('tells of the server what the revision can express (INIT-003, wire sheet §12)', async () => {
    const server = createServer({
      name: 's',
      version: '1',
      title: 'T',
      description: 'D',
      websiteUrl: 'https://example.com',
      icons: [{ src: 'data:,' }],
      instructions: 'Be kind',
      announce: ['completions', 'tools'],
    });
    const link = await start(server);
    const welcome = async (revision: string) => (await initialize(link.connect(), revision)).result;
    expect(await welcome('2024-11-05')).toEqual({
      protocolVersion: '2024-11-05',
      capabilities: { logging: {}, tools: { listChanged: true } },
      serverInfo: { name: 's', version: '1' },
      instructions: 'Be kind',
    });
    expect(await welcome('2025-03-26')).toEqual({
      protocolVersion: '2025-03-26',
      capabilities: { logging: {}, tools: { listChanged: true }, completions: {} },
      serverInfo: { name: 's', version: '1' },
      instructions: 'Be kind',
    });
    expect((await welcome('2025-06-18'))?.['serverInfo']).toEqual({ name: 's', version: '1', title: 'T' });
    expect((await welcome('2025-11-25'))?.['serverInfo']).toEqual({
      name: 's',
      version: '1',
      title: 'T',
      description: 'D',
      websiteUrl: 'https://example.com',
      icons: [{ src: 'data:,' }],
    });
  });

  it('gives handlers the identity, revision and capabilities of the session', async () => {
    const server = bare();
    server.tool('who', {}, (_args, { peer }) => ({ content: [], structuredContent: { ...peer } as never }));
    const client = (await start(server)).connect();
    await initialize(client, '2025-11-25', { roots: { listChanged: true }, sampling: {} });
    client.send(call(1, 'who'));
    expect((await client.next()).result?.['structuredContent']).toEqual({
      era: 'legacy',
      revision: '2025-11-25',
      info: { name: 'raw', version: '0' },
      capabilities: { roots: { listChanged: true }, sampling: {} },
    });
  });

  it('answers a method behind a capability it does not have with -32601 (ERR-015)', async () => {
    const server = createServer({ name: 's', version: '1', logging: false });
    const client = (await start(server)).connect();
    await initialize(client);
    for (const method of [
      'tools/list',
      'prompts/list',
      'resources/list',
      'resources/templates/list',
      'resources/read',
      'resources/subscribe',
      'resources/unsubscribe',
      'completion/complete',
      'logging/setLevel',
    ]) {
      client.send(legacy(method, method, { level: 'info', uri: 'a:b' }));
      expect(await client.next(), method).toMatchObject({ id: method, error: { code: -32601 } });
    }
  });
});

describe('what a revision cannot express', () => {
  function rich(): Server {
    const server = bare();
    const icons = [{ src: 'data:,' }];
    server.tool(
      'rich',
      {
        title: 'Rich',
        description: 'd',
        input: jsonSchema<{ a?: string }>({ type: 'object' }),
        output: jsonSchema<{ n: number }>({ type: 'object', properties: { n: { type: 'number' } } }),
        annotations: { readOnlyHint: true },
        icons,
        _meta: { 'example.com/a': 1 },
      },
      () => ({ n: 1 }),
    );
    server.tool('list', { output: jsonSchema<number[]>({ type: 'array' }) }, () => [1, 2]);
    server.tool('blocks', {}, () => [
      { type: 'text', text: 't' },
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
      { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'a:b', name: 'link' },
      { type: 'resource', resource: { uri: 'a:b', text: 'x' } },
    ]);
    server.resource(
      'a:b',
      { name: 'r', title: 'R', mimeType: 'text/plain', icons, cache: { ttlMs: 5 } },
      () => 'x',
    );
    server.resourceTemplate('a:{x}', { name: 't', title: 'T', icons }, () => 'x');
    server.prompt('p', { title: 'P', icons, arguments: { a: { title: 'A', required: true } } }, () => ({
      messages: [
        { role: 'user', content: { type: 'resource_link', uri: 'a:b', name: 'link' } },
        { role: 'user', content: { type: 'audio', data: 'AA==', mimeType: 'audio/wav' } },
      ],
    }));
    return server;
  }

  async function ask(revision: string, method: string, params?: object) {
    const client = (await start(rich())).connect();
    await initialize(client, revision);
    client.send(legacy(1, method, params));
    return (await client.next()).result!;
  }

  it('lists tools with the members of each revision (TOOL-006, TOOL-008)', async () => {
    const inputSchema = { type: 'object' };
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } } };
    const annotations = { readOnlyHint: true };
    const tools = async (revision: string) =>
      ((await ask(revision, 'tools/list'))['tools'] as object[]).slice(0, 2);
    expect(await tools('2024-11-05')).toEqual([
      { name: 'rich', description: 'd', inputSchema },
      { name: 'list', inputSchema },
    ]);
    expect(await tools('2025-03-26')).toEqual([
      { name: 'rich', description: 'd', inputSchema, annotations },
      { name: 'list', inputSchema },
    ]);
    const since = { name: 'rich', title: 'Rich', description: 'd', inputSchema, outputSchema, annotations };
    expect(await tools('2025-06-18')).toEqual([
      { ...since, _meta: { 'example.com/a': 1 } },
      { name: 'list', inputSchema },
    ]);
    expect(await tools('2025-11-25')).toEqual([
      { ...since, icons: [{ src: 'data:,' }], _meta: { 'example.com/a': 1 } },
      { name: 'list', inputSchema },
    ]);
  });

  it('gives structured content since 2025-06-18 and only objects, with the text beside it (TOOL-008, TOOL-014)', async () => {
    const text = [{ type: 'text', text: '{"n":1}' }];
    expect(await ask('2025-03-26', 'tools/call', { name: 'rich' })).toEqual({ content: text });
    expect(await ask('2025-06-18', 'tools/call', { name: 'rich' })).toEqual({
      content: text,
      structuredContent: { n: 1 },
    });
    for (const revision of REVISIONS) {
      expect(await ask(revision, 'tools/call', { name: 'list' }), revision).toEqual({
        content: [{ type: 'text', text: '[1,2]' }],
      });
    }
  });

  it('puts audio before 2025-03-26 and resource links before 2025-06-18 into words (TOOL-023, TOOL-024)', async () => {
    const kinds = async (revision: string) =>
      ((await ask(revision, 'tools/call', { name: 'blocks' }))['content'] as { type: string }[]).map(
        ({ type }) => type,
      );
    expect(await kinds('2024-11-05')).toEqual(['text', 'image', 'text', 'text', 'resource']);
    expect(await kinds('2025-03-26')).toEqual(['text', 'image', 'audio', 'text', 'resource']);
    expect(await kinds('2025-06-18')).toEqual(['text', 'image', 'audio', 'resource_link', 'resource']);
    expect(await kinds('2025-11-25')).toEqual(['text', 'image', 'audio', 'resource_link', 'resource']);
  });

  it('does the same in prompts (TOOL-023, TOOL-024, PROMPT-007)', async () => {
    const kinds = async (revision: string) =>
      (
        (await ask(revision, 'prompts/get', { name: 'p', arguments: { a: '1' } }))['messages'] as {
          content: { type: string };
        }[]
      ).map(({ content }) => content.type);
    expect(await kinds('2024-11-05')).toEqual(['text', 'text']);
    expect(await kinds('2025-03-26')).toEqual(['text', 'audio']);
    expect(await kinds('2025-06-18')).toEqual(['resource_link', 'audio']);
  });

  it('lists prompts, resources and templates with the members of each revision', async () => {
    const icons = [{ src: 'data:,' }];
    expect(await ask('2025-03-26', 'prompts/list')).toEqual({
      prompts: [{ name: 'p', arguments: [{ name: 'a', required: true }] }],
    });
    expect(await ask('2025-06-18', 'prompts/list')).toEqual({
      prompts: [{ name: 'p', title: 'P', arguments: [{ name: 'a', title: 'A', required: true }] }],
    });
    expect(await ask('2024-11-05', 'resources/list')).toEqual({
      resources: [{ uri: 'a:b', name: 'r', mimeType: 'text/plain' }],
    });
    expect(await ask('2025-06-18', 'resources/list')).toEqual({
      resources: [{ uri: 'a:b', name: 'r', title: 'R', mimeType: 'text/plain' }],
    });
    expect(await ask('2025-11-25', 'resources/list')).toEqual({
      resources: [{ uri: 'a:b', name: 'r', title: 'R', mimeType: 'text/plain', icons }],
    });
    expect(await ask('2024-11-05', 'resources/templates/list')).toEqual({
      resourceTemplates: [{ uriTemplate: 'a:{x}', name: 't' }],
    });
    expect(await ask('2025-11-25', 'resources/templates/list')).toEqual({
      resourceTemplates: [{ uriTemplate: 'a:{x}', name: 't', title: 'T', icons }],
    });
  });

  it('keeps lastModified of annotations from clients before 2025-06-18 (wire sheet §12)', async () => {
    const server = bare();
    const annotations = { audience: ['user' as const], priority: 1, lastModified: '2025-01-12T15:00:58Z' };
    server.resource('a:b', { name: 'r', annotations }, () => 'x');
    server.tool('t', {}, () => ({ type: 'text', text: 'x', annotations }));
    const link = await start(server);
    const old = link.connect();
    await initialize(old, '2025-03-26');
    old.send(legacy(1, 'resources/list'));
    expect((await old.next()).result).toEqual({
      resources: [{ uri: 'a:b', name: 'r', annotations: { audience: ['user'], priority: 1 } }],
    });
    old.send(call(2, 't'));
    expect((await old.next()).result).toEqual({
      content: [{ type: 'text', text: 'x', annotations: { audience: ['user'], priority: 1 } }],
    });
    const newer = link.connect();
    await initialize(newer, '2025-06-18');
    newer.send(legacy(1, 'resources/list'));
    expect((await newer.next()).result).toEqual({ resources: [{ uri: 'a:b', name: 'r', annotations }] });
  });

  it('says structured content in words where the revision has none and the tool gave no text (TOOL-014)', async () => {
    const server = bare();
    server.tool('data', {}, () => ({ content: [], structuredContent: { n: 1 } }));
    const client = (await start(server)).connect();
    await initialize(client, '2025-03-26');
    client.send(call(1, 'data'));
    expect((await client.next()).result).toEqual({ content: [{ type: 'text', text: '{"n":1}' }] });
  });

  it('never shows a modern member in a result (RTYPE-004, CACHE-009)', async () => {
    expect(await ask('2025-11-25', 'resources/read', { uri: 'a:b' })).toEqual({
      contents: [{ uri: 'a:b', mimeType: 'text/plain', text: 'x' }],
    });
  });

  it('drops the message of progress for 2024-11-05 (PROG-006)', async () => {
    const server = bare();
    server.tool('work', {}, (_args, ctx) => {
      ctx.progress(0.5, 1, 'half');
      return 'ok';
    });
    const client = (await start(server)).connect();
    await initialize(client, '2024-11-05');
    client.send(call(1, 'work', { _meta: { progressToken: 't' } }));
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 't', progress: 0.5, total: 1 },
    });
    expect(await client.next()).toMatchObject({ id: 1, result: { content: [{ text: 'ok' }] } });
  });
});

describe('questions to the client', () => {
  const ALL = { elicitation: {}, sampling: {}, roots: {} };
  const FORM = {
    type: 'object' as const,
    properties: { color: { type: 'string' as const, oneOf: [{ const: 'r', title: 'Red' }], default: 'r' } },
  };

  function asking(): Server {
    const server = bare();
    server.tool('form', {}, async (_args, ctx) => {
      const answer = await ctx.elicit({ message: 'Which?', requestedSchema: FORM });
      return JSON.stringify(answer);
    });
    server.tool('many', {}, async (_args, ctx) => {
      const answer = await ctx.elicit({
        message: 'Which?',
        requestedSchema: {
          type: 'object',
          properties: { c: { type: 'array', items: { type: 'string', enum: ['a'] } } },
        },
      });
      return JSON.stringify(answer);
    });
    server.tool('url', {}, async (_args, ctx) => {
      const answer = await ctx.elicit({ mode: 'url', message: 'Go', url: 'https://example.com/x' });
      return answer.action;
    });
    server.tool('sample', {}, async (_args, ctx) => {
      const block = (text: string) => ({ type: 'text' as const, text });
      const answer = await ctx.sample({
        messages: [{ role: 'user', content: [block('a'), block('b')] }],
        maxTokens: 5,
      });
      return answer.model;
    });
    server.tool('tools', {}, async (_args, ctx) => {
      await ctx.sample({ messages: [], maxTokens: 5, toolChoice: { mode: 'auto' } });
      return 'asked';
    });
    server.tool('roots', {}, async (_args, ctx) => JSON.stringify(await ctx.roots()));
    return server;
  }

  async function session(revision: string, capabilities: object = ALL, options: ServeOptions = {}) {
    const client = (await start(asking(), options)).connect();
    await initialize(client, revision, capabilities);
    return client;
  }

  async function expectNoQuestion(client: RawClient, name: string) {
    client.send(call('t', name));
    expect(await client.next(), name).toMatchObject({ id: 't', result: { isError: true } });
  }

  it('sends a form to 2025-06-18 without mode, with enumNames and without defaults (ELIC-006)', async () => {
    const client = await session('2025-06-18');
    client.send(call(1, 'form'));
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 0,
      method: 'elicitation/create',
      params: {
        message: 'Which?',
        requestedSchema: {
          type: 'object',
          properties: { color: { type: 'string', enum: ['r'], enumNames: ['Red'] } },
        },
        _meta: { progressToken: 0 },
      },
    });
    client.send({ jsonrpc: '2.0', id: 0, result: { action: 'accept', content: { color: 'r' } } });
    expect(await client.next()).toMatchObject({
      id: 1,
      result: { content: [{ text: '{"action":"accept","content":{"color":"r"}}' }] },
    });
  });

  it('sends a form to 2025-11-25 as it is', async () => {
    const client = await session('2025-11-25');
    client.send(call(1, 'form'));
    expect(await client.next()).toMatchObject({
      method: 'elicitation/create',
      params: { mode: 'form', message: 'Which?', requestedSchema: FORM },
    });
    client.send({ jsonrpc: '2.0', id: 0, result: { action: 'cancel' } });
    expect(await client.next()).toMatchObject({
      id: 1,
      result: { content: [{ text: '{"action":"cancel"}' }] },
    });
  });

  it('asks no question that the revision or the client cannot take (INIT-018, ELIC-003, SAMP-003)', async () => {
    const none = await session('2025-11-25', {});
    for (const name of ['form', 'url', 'sample', 'tools', 'roots']) await expectNoQuestion(none, name);
    const declared = await session('2025-11-25');
    for (const name of ['url', 'tools']) await expectNoQuestion(declared, name);
    const june = await session('2025-06-18', { elicitation: { form: {}, url: {} }, sampling: { tools: {} } });
    for (const name of ['url', 'tools', 'many']) await expectNoQuestion(june, name);
    const march = await session('2025-03-26');
    await expectNoQuestion(march, 'form');
  });

  it('gives url mode an elicitationId in 2025-11-25 (ELIC-007)', async () => {
    const client = await session('2025-11-25', { elicitation: { url: {} } });
    client.send(call(1, 'url'));
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 0,
      method: 'elicitation/create',
      params: {
        mode: 'url',
        message: 'Go',
        url: 'https://example.com/x',
        elicitationId: expect.stringMatching(/.+/),
        _meta: { progressToken: 0 },
      },
    });
    client.send({ jsonrpc: '2.0', id: 0, result: { action: 'accept' } });
    expect(await client.next()).toMatchObject({ id: 1, result: { content: [{ text: 'accept' }] } });
    await expectNoQuestion(client, 'form');
  });

  it('splits messages of several blocks before 2025-11-25 (SAMP-006)', async () => {
    const client = await session('2025-06-18');
    client.send(call(1, 'sample'));
    expect((await client.next()).params).toEqual({
      messages: [
        { role: 'user', content: { type: 'text', text: 'a' } },
        { role: 'user', content: { type: 'text', text: 'b' } },
      ],
      maxTokens: 5,
      _meta: { progressToken: 0 },
    });
    client.send({
      jsonrpc: '2.0',
      id: 0,
      result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } },
    });
    expect(await client.next()).toMatchObject({ id: 1, result: { content: [{ text: 'm' }] } });
  });

  it('lists roots (ROOT-005)', async () => {
    const client = await session('2024-11-05');
    client.send(call(1, 'roots'));
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 0,
      method: 'roots/list',
      params: { _meta: { progressToken: 0 } },
    });
    client.send({ jsonrpc: '2.0', id: 0, result: { roots: [{ uri: 'file:///a' }] } });
    expect(await client.next()).toMatchObject({
      id: 1,
      result: { content: [{ text: '[{"uri":"file:///a"}]' }] },
    });
  });

  it('refuses a malformed answer without hanging the call (ELIC-023)', async () => {
    const client = await session('2025-11-25');
    for (const [id, result] of [{}, { action: 'perhaps' }, { action: 'accept', content: [] }].entries()) {
      client.send(call(`c${id}`, 'form'));
      expect(await client.next()).toMatchObject({ id, method: 'elicitation/create' });
      client.send({ jsonrpc: '2.0', id, result });
      const { id: answered, error, result: given } = await client.next();
      expect(answered).toBe(`c${id}`);
      expect(error !== undefined || given?.['isError'] === true).toBe(true);
    }
  });

  it('keeps the questions of several calls apart, whatever the order of the answers (STATE-002)', async () => {
    const client = await session('2025-11-25');
    client.send(call('a', 'form'));
    client.send(call('b', 'roots'));
    expect(await client.next()).toMatchObject({ id: 0, method: 'elicitation/create' });
    expect(await client.next()).toMatchObject({ id: 1, method: 'roots/list' });
    client.send({ jsonrpc: '2.0', id: 1, result: { roots: [] } });
    expect(await client.next()).toMatchObject({ id: 'b', result: { content: [{ text: '[]' }] } });
    client.send({ jsonrpc: '2.0', id: 0, result: { action: 'decline' } });
    expect(await client.next()).toMatchObject({ id: 'a' });
  });

  it('gives up after askTimeoutMs, tells the client and ignores the late answer (INIT-015, CANC-013)', async () => {
    const clock = new FakeClock();
    const client = await session('2025-11-25', ALL, { clock, askTimeoutMs: 1000 });
    client.send(call(1, 'roots'));
    expect(await client.next()).toMatchObject({ id: 0, method: 'roots/list' });
    clock.advance(999);
    expect(await client.settle()).toEqual([]);
    clock.advance(1);
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 0, reason: 'roots/list was not answered within 1000 ms' },
    });
    expect(await client.next()).toMatchObject({ id: 1, result: { isError: true } });
    client.send({ jsonrpc: '2.0', id: 0, result: { roots: [] } });
    expect(await client.settle()).toEqual([]);
  });

  it('gives a client that reports progress more time, but not for ever (CANC-015, INIT-016)', async () => {
    const clock = new FakeClock();
    const client = await session('2025-11-25', ALL, { clock, askTimeoutMs: 1000 });
    client.send(call(1, 'roots'));
    await client.next();
    for (let progress = 1; progress <= 3; progress += 1) {
      clock.advance(900);
      client.send(notification('notifications/progress', { progressToken: 0, progress }));
      expect(await client.settle()).toEqual([]);
    }
    // 2700 ms have passed; the next deadline is 3700 ms, the last of all 4000 ms.
    clock.advance(900);
    client.send(notification('notifications/progress', { progressToken: 0, progress: 4 }));
    expect(await client.settle()).toEqual([]);
    clock.advance(399);
    expect(await client.settle()).toEqual([]);
    clock.advance(1);
    expect(await client.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: 0 },
    });
  });

  it('is not moved by progress for another token (PROG-007)', async () => {
    const clock = new FakeClock();
    const client = await session('2025-11-25', ALL, { clock, askTimeoutMs: 1000 });
    client.send(call(1, 'roots'));
    await client.next();
    clock.advance(900);
    for (const progressToken of ['0', 1, null, undefined]) {
      client.send(notification('notifications/progress', { progressToken, progress: 1 }));
    }
    client.send(notification('notifications/progress'));
    await client.settle();
    clock.advance(100);
    expect(await client.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: 0 },
    });
  });

  it('takes an open question back when its call ends without the answer (CANC-016, INIT-015)', async () => {
    const server = bare();
    server.tool('impatient', {}, async (_args, ctx) => {
      const question = ctx.roots().catch(() => []);
      await Promise.race([question, Promise.resolve()]);
      return 'no longer needed';
    });
    const client = (await start(server)).connect();
    await initialize(client, '2025-11-25', ALL);
    client.send(call(1, 'impatient'));
    expect(await client.next()).toMatchObject({ id: 0, method: 'roots/list' });
    const rest = [await client.next(), await client.next()];
    expect(rest).toContainEqual(expect.objectContaining({ id: 1, result: expect.anything() }));
    expect(rest).toContainEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 0, reason: expect.any(String) },
    });
  });

  it('lets the call fail when the client ends its side while it is asked', async () => {
    const client = await session('2025-11-25');
    client.send(call(1, 'roots'));
    await client.next();
    client.end();
    expect(await client.next()).toMatchObject({ id: 1, result: { isError: true } });
    await client.closed;
  });

  it('plays replayed rounds with real requests; the client never sees input_required (MRTR-001, RTYPE-004)', async () => {
    const server = bare();
    const seen: unknown[] = [];
    server.tool('replay', {}, (_args, ctx) => {
      seen.push({ answers: ctx.answers, state: ctx.state });
      if (ctx.state === undefined)
        return inputRequired({ requests: { where: { method: 'roots/list' } }, state: { step: 1 } });
      if ((ctx.state as { step: number }).step === 1)
        return inputRequired({
          requests: {
            name: { method: 'elicitation/create', params: { message: 'Name?', requestedSchema: FORM } },
            again: { method: 'roots/list' },
          },
          state: { step: 2 },
        });
      return 'done';
    });
    const client = (await start(server)).connect();
    await initialize(client, '2025-11-25', ALL);
    client.send(call(1, 'replay'));
    expect(await client.next()).toMatchObject({ id: 0, method: 'roots/list' });
    client.send({ jsonrpc: '2.0', id: 0, result: { roots: [] } });
    expect(await client.next()).toMatchObject({ id: 1, method: 'elicitation/create' });
    expect(await client.next()).toMatchObject({ id: 2, method: 'roots/list' });
    client.send({ jsonrpc: '2.0', id: 2, result: { roots: [{ uri: 'file:///b' }] } });
    client.send({ jsonrpc: '2.0', id: 1, result: { action: 'decline' } });
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { content: [{ type: 'text', text: 'done' }] },
    });
    expect(seen).toEqual([
      { answers: undefined, state: undefined },
      { answers: { where: { roots: [] } }, state: { step: 1 } },
      {
        answers: { name: { action: 'decline' }, again: { roots: [{ uri: 'file:///b' }] } },
        state: { step: 2 },
      },
    ]);
  });

  it('runs a handler again after a pause when it returned a state and no question (MRTR-017)', async () => {
    const server = bare();
    server.tool('later', {}, (_args, ctx) =>
      ctx.state ? `now ${ctx.state}` : inputRequired({ state: 'x' }),
    );
    const clock = new FakeClock();
    const client = (await start(server, { clock })).connect();
    await initialize(client);
    client.send(call(1, 'later'));
    expect(await client.settle()).toEqual([]);
    expect(clock.waiting).toBe(1);
    clock.advance(10_000);
    expect(await client.next()).toMatchObject({ id: 1, result: { content: [{ text: 'now x' }] } });
  });

  it('ends a handler that asks for round after round without an end', async () => {
    const server = bare();
    server.tool('endless', {}, () => inputRequired({ requests: { r: { method: 'roots/list' } }, state: 1 }));
    const client = (await start(server)).connect();
    await initialize(client, '2025-11-25', ALL);
    client.send(call('end', 'endless'));
    let message = await client.next();
    let rounds = 0;
    while (message.id !== 'end') {
      rounds += 1;
      expect(rounds).toBeLessThan(1000);
      client.send({ jsonrpc: '2.0', id: message.id, result: { roots: [] } });
      message = await client.next();
    }
    expect(message.error?.code).toBe(-32603);
  });

  it('takes the other questions of a round back when one of them is refused (CANC-016)', async () => {
    const server = bare();
    server.tool('two', {}, () =>
      inputRequired({ requests: { a: { method: 'roots/list' }, b: { method: 'roots/list' } } }),
    );
    const client = (await start(server)).connect();
    await initialize(client, '2025-11-25', ALL);
    client.send(call('t', 'two'));
    expect(await client.settle()).toMatchObject([{ id: 0 }, { id: 1 }]);
    client.send({ jsonrpc: '2.0', id: 0, error: { code: -1, message: 'no' } });
    const rest = [await client.next(), await client.next()];
    expect(rest).toContainEqual(expect.objectContaining({ id: 't' }));
    expect(rest).toContainEqual(
      expect.objectContaining({
        method: 'notifications/cancelled',
        params: { requestId: 1, reason: expect.any(String) },
      }),
    );
  });

  it('does not turn an abandoned question into an unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', (reason) => unhandled.push(reason));
    try {
      const server = bare();
      server.tool('forgetful', {}, async (_args, ctx) => {
        void ctx.elicit({ message: 'm', requestedSchema: FORM });
        void ctx.sample({ messages: [], maxTokens: 1 });
        void ctx.roots();
        return 'x';
      });
      const client = (await start(server)).connect();
      await initialize(client, '2025-11-25', ALL);
      client.send(call('t', 'forgetful'));
      await client.settle();
      client.vanish();
      await client.closed;
      await settle();
      expect(unhandled).toEqual([]);
    } finally {
      process.removeAllListeners('unhandledRejection');
      for (const listener of others) process.on('unhandledRejection', listener);
    }
  });

  it('does not leak a round on a method that has none (MRTR-003)', async () => {
    const server = bare();
    server.tool('t', {}, () => 'x');
    server.use(async (each, next) =>
      each.method === 'tools/list'
        ? inputRequired({ requests: { r: { method: 'roots/list' } }, state: 'secret' })
        : next(),
    );
    const client = (await start(server)).connect();
    await initialize(client, '2025-11-25', ALL);
    client.send(legacy(1, 'tools/list'));
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32603 } });
  });

  it('does not ask before initialized (INIT-006)', async () => {
    const client = (await start(asking())).connect();
    client.send(
      legacy(0, 'initialize', {
        protocolVersion: '2025-11-25',
        capabilities: ALL,
        clientInfo: { name: 'c', version: '1' },
      }),
    );
    await client.next();
    client.send(call(1, 'roots'));
    expect((await client.settle()).filter((message) => message.method !== undefined)).toEqual([]);
  });
});

describe('logs', () => {
  it('come at info and above until the client sets a level (LOG-010, LOG-011)', async () => {
    const server = bare();
    server.tool('log', {}, (_args, ctx) => {
      for (const level of ['debug', 'info', 'warning', 'emergency'] as const) ctx.log(level, { level });
      return 'ok';
    });
    const client = (await start(server)).connect();
    await initialize(client);
    const levels = async (id: number) => {
      client.send(call(id, 'log'));
      const seen: unknown[] = [];
      for (;;) {
        const message = await client.next();
        if (message.id === id) return seen;
        expect(message.method).toBe('notifications/message');
        seen.push(message.params?.['level']);
      }
    };
    expect(await levels(1)).toEqual(['info', 'warning', 'emergency']);
    for (const [level, expected] of [
      ['debug', ['debug', 'info', 'warning', 'emergency']],
      ['warning', ['warning', 'emergency']],
      ['emergency', ['emergency']],
    ] as const) {
      client.send(legacy(level, 'logging/setLevel', { level }));
      expect(await client.next()).toEqual({ jsonrpc: '2.0', id: level, result: {} });
      expect(await levels(2), level).toEqual(expected);
    }
  });

  it('are not sent by a server that does not declare logging (LOG-001)', async () => {
    const server = createServer({ name: 's', version: '1', logging: false });
    server.tool('log', {}, (_args, ctx) => {
      ctx.log('error', 'x');
      return 'ok';
    });
    const client = (await start(server)).connect();
    const welcome = await initialize(client);
    expect(welcome.result?.['capabilities']).toEqual({ tools: { listChanged: true } });
    client.send(call(1, 'log'));
    expect(await client.next()).toMatchObject({ id: 1 });
  });

  it('and progress end with the answer (PROG-008)', async () => {
    const server = bare();
    let late: () => void = () => {};
    server.tool('late', {}, (_args, ctx) => {
      late = () => {
        ctx.progress(1);
        ctx.log('error', 'late');
      };
      return 'ok';
    });
    const client = (await start(server)).connect();
    await initialize(client);
    client.send(call(1, 'late', { _meta: { progressToken: 1 } }));
    expect(await client.next()).toMatchObject({ id: 1, result: {} });
    late();
    expect(await client.settle()).toEqual([]);
  });
});

describe('changes', () => {
  it('of lists reach every initialized client once per turn (SUB-019, TOOL-022)', async () => {
    const server = createServer({ name: 's', version: '1', announce: ['tools', 'prompts', 'resources'] });
    const link = await start(server);
    const [one, two, early] = [link.connect(), link.connect(), link.connect()];
    await initialize(one);
    await initialize(two, '2024-11-05');
    early.send(
      legacy(0, 'initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'c', version: '1' },
      }),
    );
    await early.next();
    await settle();
    server.tool('a', {}, () => 'a');
    const b = server.tool('b', {}, () => 'b');
    b.disable();
    server.prompt('p', {}, () => 'p');
    server.resource('a:b', { name: 'r' }, () => 'r');
    for (const client of [one, two]) {
      expect(await client.settle()).toEqual([
        { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
        { jsonrpc: '2.0', method: 'notifications/prompts/list_changed' },
        { jsonrpc: '2.0', method: 'notifications/resources/list_changed' },
      ]);
    }
    expect(await early.settle()).toEqual([]);
  });

  it('of a list whose listChanged was not declared in this session are not told (INIT-012, SUB-019)', async () => {
    const server = bare();
    const client = (await start(server)).connect();
    expect((await initialize(client)).result?.['capabilities']).toEqual({ logging: {} });
    await settle();
    server.tool('a', {}, () => 'a');
    expect(await client.settle()).toEqual([]);
  });

  it('of a resource reach the connection that subscribed, by URI (SUB-018)', async () => {
    const server = createServer({ name: 's', version: '1', announce: ['resources'] });
    const link = await start(server);
    const [one, two] = [link.connect(), link.connect()];
    await initialize(one);
    await initialize(two);
    one.send(legacy(1, 'resources/subscribe', { uri: 'a:b' }));
    expect(await one.next()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    server.resourceUpdated('a:b');
    server.resourceUpdated('a:c');
    expect(await one.settle()).toEqual([
      { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a:b' } },
    ]);
    expect(await two.settle()).toEqual([]);
    one.send(legacy(2, 'resources/unsubscribe', { uri: 'a:b' }));
    await one.next();
    server.resourceUpdated('a:b');
    expect(await one.settle()).toEqual([]);
  });
});

describe('ping from the server', () => {
  it('comes every pingIntervalMs after initialized, and a silent peer is let go (PING-001, PING-002, PING-003)', async () => {
    const clock = new FakeClock();
    const client = (await start(bare(), { clock, pingIntervalMs: 1000 })).connect();
    await initialize(client);
    await settle();
    clock.advance(999);
    expect(await client.settle()).toEqual([]);
    clock.advance(1);
    const ping = await client.next();
    expect(ping).toMatchObject({ jsonrpc: '2.0', id: 0, method: 'ping' });
    client.send({ jsonrpc: '2.0', id: 0, result: {} });
    await settle();
    clock.advance(1000);
    expect(await client.next()).toMatchObject({ id: 1, method: 'ping' });
    // An error is an answer too: the peer is alive.
    client.send({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no ping' } });
    await settle();
    clock.advance(1000);
    expect(await client.next()).toMatchObject({ id: 2, method: 'ping' });
    clock.advance(1000);
    await client.closed;
    expect(served[0]!.connections).toBe(0);
  });

  it('is not doubled by a second initialized (PING-003)', async () => {
    const clock = new FakeClock();
    const client = (await start(bare(), { clock, pingIntervalMs: 1000 })).connect();
    await initialize(client);
    client.send(notification('notifications/initialized'));
    await settle();
    clock.advance(1000);
    expect(await client.settle()).toMatchObject([{ id: 0, method: 'ping' }]);
  });

  it('is never sent when pingIntervalMs is 0, nor to an unopened connection (PING-003)', async () => {
    const clock = new FakeClock();
    const client = (await start(bare(), { clock })).connect();
    await initialize(client);
    clock.advance(1_000_000);
    expect(await client.settle()).toEqual([]);
    const other = (await start(bare(), { clock, pingIntervalMs: 10 })).connect();
    clock.advance(1_000_000);
    expect(await other.settle()).toEqual([]);
  });
});

describe('the end of a legacy connection', () => {
  it('aborts what runs when the client vanishes, and open questions with it (CANC-010)', async () => {
    const server = bare();
    const reasons: string[] = [];
    server.tool('hold', {}, async (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => reasons.push((ctx.signal.reason as Error).message));
      await ctx.roots().catch((error: Error) => reasons.push(error.message));
      return 'x';
    });
    const client = (await start(server)).connect();
    await initialize(client, '2025-11-25', { roots: {} });
    client.send(call(1, 'hold'));
    await client.next();
    client.vanish();
    await client.closed;
    await settle();
    expect(reasons.length).toBe(2);
    expect(served[0]!.connections).toBe(0);
  });

  it('by close() lets running calls finish, refuses new ones and then closes (LIFE-004)', async () => {
    const server = bare();
    let finish: (value: string) => void = () => {};
    server.tool('hold', {}, () => new Promise<string>((resolve) => (finish = resolve)));
    const clock = new FakeClock();
    const client = (await start(server, { clock })).connect();
    await initialize(client);
    client.send(call(1, 'hold'));
    await settle();
    const closing = served[0]!.close();
    await settle();
    client.send(legacy(2, 'tools/list'));
    expect(await client.next()).toMatchObject({ id: 2, error: { code: -32603 } });
    finish('late but here');
    expect(await client.next()).toMatchObject({ id: 1, result: { content: [{ text: 'late but here' }] } });
    await client.closed;
    await closing;
  });

  it('by close() answers what outlives the grace with an error and aborts it', async () => {
    const server = bare();
    let reason: unknown;
    server.tool(
      'hold',
      {},
      (_args, ctx) =>
        new Promise(() => {
          ctx.signal.addEventListener('abort', () => {
            reason = ctx.signal.reason;
          });
        }),
    );
    const clock = new FakeClock();
    const client = (await start(server, { clock, graceMs: 500 })).connect();
    await initialize(client);
    client.send(call(1, 'hold'));
    await settle();
    const closing = served[0]!.close();
    await settle();
    clock.advance(499);
    expect(await client.settle()).toEqual([]);
    clock.advance(1);
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32603 } });
    await client.closed;
    await closing;
    expect(reason).toMatchObject({ code: 'CANCELLED' });
  });

  it('by close() with a shorter grace does not wait for the longer one that the end of input began', async () => {
    const server = bare();
    server.tool('hold', {}, () => new Promise(() => {}));
    const clock = new FakeClock();
    const client = (await start(server, { clock, graceMs: 10_000 })).connect();
    await initialize(client);
    client.send(call(1, 'hold'));
    client.end();
    await settle();
    const closing = served[0]!.close({ graceMs: 100 });
    await settle();
    clock.advance(100);
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32603 } });
    await closing;
  });
});
