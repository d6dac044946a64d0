import { createServer, ProtocolError, type Server } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import {
  CAPABILITIES,
  CLIENT_INFO,
  envelope,
  initialize,
  LOG_LEVEL,
  legacy,
  modern,
  notification,
  SERVER_INFO,
  VERSION,
} from '../support/eras.js';
import { FakeClock } from '../support/fake-clock.js';
import { type RawClient, settle } from '../support/raw-client.js';
import { bare, createStarter, gate } from '../support/sessions.js';

const start = createStarter();
const META = { [SERVER_INFO]: { name: 's', version: '1' } };

function call(id: string | number, name: string, meta: object = {}, capabilities: object = {}): object {
  return modern(id, 'tools/call', { name }, envelope(capabilities, meta));
}

async function connect(server: Server): Promise<RawClient> {
  return (await start(server)).connect();
}

/** Everything up to and including the answer to `id`. */
async function upToAnswer(client: RawClient, id: string | number) {
  const before = [];
  for (;;) {
    const message = await client.next();
    if (message.id === id) return { before, answer: message };
    before.push(message);
  }
}

describe('server/discover', () => {
  it('of an empty server offers the base protocol and nothing else (JRPC-020, DISC-003, DISC-009)', async () => {
    const client = await connect(createServer({ name: 's', version: '1', logging: false }));
    client.send(modern(1, 'server/discover'));
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: {},
        ttlMs: 0,
        cacheScope: 'private',
        _meta: META,
      },
    });
  });

  it('carries instructions, identity in _meta and the cache hints that were set (DISC-004, DISC-005, CACHE-001)', async () => {
    const client = await connect(
      createServer({
        name: 's',
        version: '1',
        title: 'T',
        instructions: 'Be kind',
        cache: { discover: { ttlMs: 60_000, cacheScope: 'public' } },
        announce: ['tools', 'prompts', 'resources', 'completions'],
      }),
    );
    client.send(modern('d', 'server/discover'));
    expect((await client.next()).result).toEqual({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: {
        logging: {},
        completions: {},
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        tools: { listChanged: true },
      },
      instructions: 'Be kind',
      ttlMs: 60_000,
      cacheScope: 'public',
      _meta: { [SERVER_INFO]: { name: 's', version: '1', title: 'T' } },
    });
  });

  const GATED = [
    ['tools', 'tools/list', {}],
    ['tools', 'tools/call', { name: 'x' }],
    ['prompts', 'prompts/list', {}],
    ['prompts', 'prompts/get', { name: 'x' }],
    ['resources', 'resources/list', {}],
    ['resources', 'resources/templates/list', {}],
    ['resources', 'resources/read', { uri: 'a:b' }],
    ['completions', 'completion/complete', { ref: {}, argument: {} }],
  ] as const;

  it('promises exactly what works: a method without its capability is -32601 (ERR-015)', async () => {
    const client = await connect(bare());
    for (const [, method, params] of GATED) {
      client.send(modern(method, method, params));
      expect(await client.next(), method).toMatchObject({ id: method, error: { code: -32601 } });
    }
  });

  it('promises exactly what works: an announced capability is served, be it empty (TOOL-002, RES-002, PROMPT-002)', async () => {
    const client = await connect(
      createServer({ name: 's', version: '1', announce: ['tools', 'prompts', 'resources', 'completions'] }),
    );
    for (const [, method, params] of GATED) {
      client.send(modern(method, method, params));
      const { error, result } = await client.next();
      if (method.endsWith('/list')) expect(result, method).toBeDefined();
      else expect(error, method).toMatchObject({ code: -32602 });
    }
  });
});

describe('results', () => {
  function cached(cache = {}): Server {
    const server = createServer({ name: 's', version: '1', cache });
    server.tool('t', {}, () => 'x');
    server.prompt('p', {}, () => 'x');
    server.resource('a:b', { name: 'r' }, () => 'x');
    server.resourceTemplate('b:{x}', { name: 't', cache: { ttlMs: 7, cacheScope: 'public' } }, () => 'x');
    return server;
  }

  it('of the six cacheable methods carry ttlMs and cacheScope, the others none (CACHE-001, CACHE-003, CACHE-004)', async () => {
    const client = await connect(cached());
    for (const method of [
      'server/discover',
      'tools/list',
      'prompts/list',
      'resources/list',
      'resources/templates/list',
      'resources/read',
    ]) {
      client.send(modern(method, method, { uri: 'a:b' }));
      expect((await client.next()).result, method).toMatchObject({
        resultType: 'complete',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: META,
      });
    }
    client.send(modern(1, 'tools/call', { name: 't' }));
    expect((await client.next()).result).toEqual({
      resultType: 'complete',
      content: [{ type: 'text', text: 'x' }],
      _meta: META,
    });
    client.send(modern(2, 'prompts/get', { name: 'p' }));
    expect((await client.next()).result).toEqual({
      resultType: 'complete',
      messages: [{ role: 'user', content: { type: 'text', text: 'x' } }],
      _meta: META,
    });
  });

  it('carry the cache hints of the definition', async () => {
    const client = await connect(cached({ tools: { ttlMs: 9, cacheScope: 'public' } }));
    client.send(modern(1, 'tools/list'));
    expect((await client.next()).result).toMatchObject({ ttlMs: 9, cacheScope: 'public' });
    client.send(modern(2, 'resources/read', { uri: 'b:1' }));
    expect((await client.next()).result).toMatchObject({ ttlMs: 7, cacheScope: 'public' });
  });

  it('never carry a ttlMs that is no whole number of at least 0 (CACHE-003)', async () => {
    for (const ttlMs of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      let server: Server;
      try {
        server = cached({ tools: { ttlMs } });
      } catch (error) {
        expect(error).toMatchObject({ code: 'INVALID_OPTION' });
        continue;
      }
      const client = await connect(server);
      client.send(modern(1, 'tools/list'));
      expect((await client.next()).result?.['ttlMs']).toSatisfy(
        (sent) => Number.isSafeInteger(sent) && (sent as number) >= 0,
      );
    }
  });

  it('carry any JSON value as structured content, null included (TOOL-015, TOOL-014)', async () => {
    const server = bare();
    for (const [name, value] of Object.entries({ list: [1], number: 0, no: false, nothing: null })) {
      server.tool(name, {}, () => value);
    }
    const client = await connect(server);
    for (const [name, value, text] of [
      ['list', [1], '[1]'],
      ['number', 0, '0'],
      ['no', false, 'false'],
      ['nothing', null, 'null'],
    ] as const) {
      client.send(modern(name, 'tools/call', { name }));
      expect((await client.next()).result, name).toEqual({
        resultType: 'complete',
        content: [{ type: 'text', text }],
        structuredContent: value,
        _meta: META,
      });
    }
  });

  it('that cannot be written as JSON become an error, not silence (JRPC-009, ERR-019)', async () => {
    const server = bare();
    server.tool('big', {}, () => ({ content: [], structuredContent: { n: 1n } as never }));
    const client = await connect(server);
    client.send(modern(1, 'tools/call', { name: 'big' }));
    const { id, error, result } = await client.next();
    expect(id).toBe(1);
    expect(error?.code === -32603 || result?.['isError'] === true).toBe(true);
  });

  it('never name a code that the modern era forbids (ERR-006, ERR-008)', async () => {
    const server = bare();
    server.tool('old', {}, () => {
      throw new ProtocolError(-32002, 'gone');
    });
    server.tool('url', {}, () => {
      throw new ProtocolError(-32042, 'go there', { elicitations: [] });
    });
    server.tool('own', {}, () => {
      throw new ProtocolError(4711, 'mine', [1]);
    });
    const client = await connect(server);
    client.send(modern(1, 'tools/call', { name: 'old' }));
    expect((await client.next()).error?.code).toBe(-32602);
    client.send(modern(2, 'tools/call', { name: 'url' }));
    expect((await client.next()).error?.code).toBe(-32603);
    client.send(modern(3, 'tools/call', { name: 'own' }));
    expect((await client.next()).error).toEqual({ code: 4711, message: 'mine', data: [1] });
  });

  it('say complete or input_required and nothing the client did not declare (RTYPE-002, RTYPE-005)', async () => {
    const server = bare();
    server.tool('odd', {}, () => ({ resultType: 'task', content: [] }) as never);
    const client = await connect(server);
    client.send(modern(1, 'tools/call', { name: 'odd' }));
    const { error, result } = await client.next();
    expect(error !== undefined || result?.['resultType'] === 'complete').toBe(true);
  });
});

describe('the peer', () => {
  it('is read from each request and from nothing before it (STATE-001, META-007, META-003)', async () => {
    const server = bare();
    server.tool('who', {}, (_args, { peer }) => ({ content: [], structuredContent: { ...peer } as never }));
    const client = await connect(server);
    const info = { name: 'one', version: '1' };
    client.send(call(1, 'who', { [CLIENT_INFO]: info }, { roots: {} }));
    expect((await client.next()).result?.['structuredContent']).toEqual({
      era: 'modern',
      revision: '2026-07-28',
      info,
      capabilities: { roots: {} },
    });
    client.send(call(2, 'who'));
    expect((await client.next()).result?.['structuredContent']).toEqual({
      era: 'modern',
      revision: '2026-07-28',
      capabilities: {},
    });
  });

  it('of two interleaved requests are not mixed up (STATE-002, META-007)', async () => {
    const server = bare();
    const both = gate();
    server.tool('who', {}, async (_args, ctx) => {
      await both.passed;
      return ctx.peer.info?.name ?? 'nobody';
    });
    const client = await connect(server);
    client.send(call('a', 'who', { [CLIENT_INFO]: { name: 'ada', version: '1' } }));
    client.send(call('b', 'who', { [CLIENT_INFO]: { name: 'bob', version: '1' } }));
    client.send(call('c', 'who'));
    await settle();
    both.open();
    expect(await client.next()).toMatchObject({ id: 'a', result: { content: [{ text: 'ada' }] } });
    expect(await client.next()).toMatchObject({ id: 'b', result: { content: [{ text: 'bob' }] } });
    expect(await client.next()).toMatchObject({ id: 'c', result: { content: [{ text: 'nobody' }] } });
  });

  it('finds unknown _meta keys untouched in the params (META-014)', async () => {
    const server = bare();
    server.tool('meta', {}, (_args, ctx) => ctx.params['_meta'] as object);
    const client = await connect(server);
    client.send(call(1, 'meta', { traceparent: '00-ab-cd-01', 'example.com/x': [1] }));
    expect((await client.next()).result?.['structuredContent']).toEqual({
      [VERSION]: '2026-07-28',
      [CAPABILITIES]: {},
      traceparent: '00-ab-cd-01',
      'example.com/x': [1],
    });
  });

  it('with the same definition is served in both eras at the same time (VER-007, VER-004)', async () => {
    const server = bare();
    server.tool('era', {}, (_args, ctx) => ctx.era);
    const link = await start(server);
    const [old, young] = [link.connect(), link.connect()];
    await initialize(old);
    old.send(legacy(1, 'tools/call', { name: 'era' }));
    young.send(call(1, 'era'));
    expect((await old.next()).result).toEqual({ content: [{ type: 'text', text: 'legacy' }] });
    expect((await young.next()).result).toEqual({
      resultType: 'complete',
      content: [{ type: 'text', text: 'modern' }],
      _meta: META,
    });
  });
});

describe('progress and logs', () => {
  it('rise strictly for their token and end with the answer (PROG-004, PROG-005, PROG-008)', async () => {
    const server = bare();
    let late: () => void = () => {};
    server.tool('work', {}, (_args, ctx) => {
      for (const value of [0, 0.25, 0.25, 0.2, -1, 0.5, Number.NaN]) ctx.progress(value, 1);
      late = () => {
        ctx.progress(1, 1);
        ctx.log('error', 'late');
      };
      return 'ok';
    });
    const client = await connect(server);
    client.send(call(1, 'work', { progressToken: 'p', [LOG_LEVEL]: 'debug' }));
    const { before } = await upToAnswer(client, 1);
    expect(before.map(({ params }) => params)).toEqual([
      { progressToken: 'p', progress: 0, total: 1 },
      { progressToken: 'p', progress: 0.25, total: 1 },
      { progressToken: 'p', progress: 0.5, total: 1 },
    ]);
    late();
    expect(await client.settle()).toEqual([]);
  });

  it('never say a number that JSON does not have (PROG-004)', async () => {
    const server = bare();
    server.tool('work', {}, (_args, ctx) => {
      ctx.progress(1, Number.POSITIVE_INFINITY);
      ctx.progress(Number.POSITIVE_INFINITY);
      return 'ok';
    });
    const client = await connect(server);
    client.send(call(1, 'work', { progressToken: 'p' }));
    const { before } = await upToAnswer(client, 1);
    for (const { params } of before) {
      expect(params?.['progress']).toBeTypeOf('number');
      expect(params?.['total']).not.toBeNull();
    }
  });

  it('stop at a cancellation, and so does the answer (STDIO-014, CANC-007)', async () => {
    const server = bare();
    const cancelled = gate<Error>();
    const told = gate();
    server.tool('work', {}, async (_args, ctx) => {
      ctx.progress(1);
      ctx.signal.addEventListener('abort', () => cancelled.open(ctx.signal.reason as Error));
      await cancelled.passed;
      ctx.progress(2);
      ctx.log('emergency', 'still here');
      told.open();
      return 'too late';
    });
    const client = await connect(server);
    client.send(call('w', 'work', { progressToken: 1, [LOG_LEVEL]: 'debug' }));
    expect(await client.next()).toMatchObject({ params: { progress: 1 } });
    client.send(notification('notifications/cancelled', { requestId: 'w', reason: 'changed my mind' }));
    await told.passed;
    expect(await client.settle()).toEqual([]);
    expect((await cancelled.passed).message).toBe('changed my mind');
  });

  it('log only what the request asked for, for that request alone (LOG-002, LOG-003, LOG-004, LOG-006)', async () => {
    const server = bare();
    server.tool('log', {}, (_args, ctx) => {
      for (const level of ['debug', 'info', 'error'] as const) ctx.log(level, { level }, 'me');
      return 'ok';
    });
    const client = await connect(server);
    client.send(call(1, 'log'));
    expect((await upToAnswer(client, 1)).before).toEqual([]);
    client.send(call(2, 'log', { [LOG_LEVEL]: 'info' }));
    expect((await upToAnswer(client, 2)).before).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'info', logger: 'me', data: { level: 'info' } },
      },
      {
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'error', logger: 'me', data: { level: 'error' } },
      },
    ]);
    client.send(call(3, 'log'));
    expect((await upToAnswer(client, 3)).before).toEqual([]);
  });

  it('are not logged by a server that does not declare logging (LOG-001)', async () => {
    const server = createServer({ name: 's', version: '1', logging: false });
    server.tool('log', {}, (_args, ctx) => {
      ctx.log('error', 'x');
      return 'ok';
    });
    const client = await connect(server);
    client.send(call(1, 'log', { [LOG_LEVEL]: 'debug' }));
    expect((await upToAnswer(client, 1)).before).toEqual([]);
  });
});

describe('what a modern client sends astray', () => {
  it('is dropped without a word: answers, legacy notifications, client progress (JRPC-014, PROG-010, ROOT-009)', async () => {
    const client = await connect(bare());
    client.send(modern(1, 'server/discover'));
    await client.next();
    client.send({ jsonrpc: '2.0', id: 1, result: {} });
    client.send({ jsonrpc: '2.0', error: { code: -1, message: 'x' } });
    for (const method of ['initialized', 'roots/list_changed', 'progress', 'tasks/status', 'made/up']) {
      client.send(notification(`notifications/${method}`, { progressToken: 1, progress: 1 }));
    }
    expect(await client.settle()).toEqual([]);
    client.send(modern(2, 'server/discover'));
    expect(await client.next()).toMatchObject({ id: 2, result: { resultType: 'complete' } });
  });

  it('never brings the server to send a request of its own (JRPC-013, STDIO-010)', async () => {
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => JSON.stringify(await ctx.roots()));
    const client = (await start(server, { clock: new FakeClock(), pingIntervalMs: 1 })).connect();
    client.send(call(1, 'ask', {}, { roots: {} }));
    const answer = await client.next();
    expect(answer).toMatchObject({ id: 1, result: { resultType: 'input_required' } });
    expect(answer.method).toBeUndefined();
    expect(await client.settle()).toEqual([]);
  });
});

describe('pages', () => {
  it('follow each other by cursor and share one scope (PAGE-001, CACHE-020)', async () => {
    const server = createServer({
      name: 's',
      version: '1',
      pageSize: 2,
      cache: { tools: { ttlMs: 1, cacheScope: 'public' } },
    });
    for (const name of ['a', 'b', 'c', 'd', 'e']) server.tool(name, {}, () => name);
    const client = await connect(server);
    const names: string[][] = [];
    let cursor: unknown;
    do {
      client.send(modern(1, 'tools/list', cursor === undefined ? {} : { cursor }));
      const result = (await client.next()).result!;
      expect(result).toMatchObject({ ttlMs: 1, cacheScope: 'public', resultType: 'complete' });
      names.push((result['tools'] as { name: string }[]).map(({ name }) => name));
      cursor = result['nextCursor'];
    } while (cursor !== undefined);
    expect(names).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  });
});
