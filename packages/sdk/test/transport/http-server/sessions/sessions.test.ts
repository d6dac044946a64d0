import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../../../test/support/fake-clock.js';
import { type Context, createServer } from '../../../../src/index.js';
import {
  ask,
  gate,
  initialize,
  legacy,
  legacyCall,
  legacyRequest,
  modernCall,
  openSession,
  plainServer,
  send,
  serveHttp,
  until,
  within,
} from '../../../support/http-server.js';

const ping = (id: string | number) => legacyRequest(id, 'ping');
const texts = (answer: { json: { result?: { content: { text: string }[] } } }) =>
  answer.json.result?.content.map(({ text }) => text);

describe('opening a session', () => {
  it('gives an unguessable id with the answer to initialize (SESS-001, SESS-002, SESS-003)', async () => {
    const { url } = await serveHttp(plainServer());
    const ids = new Set<string>();
    for (let count = 0; count < 20; count += 1) {
      const { status, headers, json } = await ask(url, legacy(initialize(count)));
      expect([status, headers['content-type'], json.id]).toEqual([200, 'application/json', count]);
      expect(json.result).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'plain' } });
      const id = headers['mcp-session-id'] as string;
      expect(id).toMatch(/^[\x21-\x7e]{32,}$/);
      ids.add(id);
    }
    expect(ids.size).toBe(20);
  });

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('agrees on %s', async (revision) => {
    const { url } = await serveHttp(plainServer());
    const { json } = await ask(url, legacy(initialize(1, revision)));
    expect(json.result?.protocolVersion).toBe(revision);
  });

  it('offers its newest legacy revision to a client that asks for another, 2026-07-28 included', async () => {
    const { url } = await serveHttp(plainServer());
    for (const revision of ['2026-07-28', '2030-01-01', '1999-01-01']) {
      const { json } = await ask(url, legacy(initialize(1, revision)));
      expect(json.result?.protocolVersion).toBe('2025-11-25');
    }
  });

  it('that fails gives no id and leaves nothing behind (SESS-001)', async () => {
    const { url, served } = await serveHttp(plainServer(), { maxSessions: 2 });
    for (let id = 0; id < 5; id += 1) {
      const { headers, json } = await ask(url, legacy(legacyRequest(id, 'initialize', { nonsense: true })));
      expect(json).toMatchObject({ id, error: { code: -32602 } });
      expect(headers).not.toHaveProperty('mcp-session-id');
    }
    expect(served.connections).toBe(0);
    await openSession(url);
  });

  it('answers notifications and answers of the client with 202 and no body (LHTTP-003)', async () => {
    const { url } = await serveHttp(plainServer());
    const session = await openSession(url);
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
      { jsonrpc: '2.0', id: 77, result: {} },
      { jsonrpc: '2.0', id: 78, error: { code: -1, message: 'no' } },
    ]) {
      const { status, text } = await session.post(message);
      expect([status, text]).toEqual([202, '']);
    }
  });
});

describe('without the right session', () => {
  it('a request, a stream and an end are refused with 400 or 405 when none is named (SESS-005)', async () => {
    const { url } = await serveHttp(plainServer());
    const post = await ask(url, legacy(ping(1), { 'mcp-protocol-version': '2025-11-25' }));
    expect([post.status, post.json.id, post.json.error?.code]).toEqual([400, 1, -32600]);
    expect((await ask(url, legacy(ping(1)))).status).toBe(400);
    expect((await ask(url, legacy({ jsonrpc: '2.0', method: 'notifications/initialized' }))).status).toBe(
      400,
    );
    expect((await ask(url, legacy({ jsonrpc: '2.0', id: 3, result: {} }))).status).toBe(400);
    const get = await ask(url, { method: 'GET', headers: { accept: 'text/event-stream' } });
    expect([get.status, get.headers.allow]).toEqual([405, 'POST, GET, DELETE']);
    expect((await ask(url, { method: 'DELETE' })).status).toBe(400);
  });

  it('all three are refused with 404 when an unknown one is named (SESS-006, D-11)', async () => {
    const { url } = await serveHttp(plainServer());
    const headers = { 'mcp-session-id': 'nobody-has-this' };
    const post = await ask(url, legacy(ping(5), headers));
    expect([post.status, post.json.id, post.json.error?.code]).toEqual([404, 5, -32600]);
    const get = await ask(url, { method: 'GET', headers: { accept: 'text/event-stream', ...headers } });
    const end = await ask(url, { method: 'DELETE', headers });
    const told = await ask(url, legacy({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers));
    expect([get.status, end.status, told.status]).toEqual([404, 404, 404]);
  });

  it('all three are refused with 404 after DELETE, which ends what runs (SESS-006, SESS-008)', async () => {
    const server = plainServer();
    const started = gate();
    const ended = gate<unknown>();
    server.tool('work', {}, async (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => ended.open(ctx.signal.reason));
      started.open();
      await ended.promise;
      return 'too late';
    });
    const { url, served } = await serveHttp(server);
    const session = await openSession(url);
    const other = await openSession(url);
    const standing = await session.get();
    const running = session.post(legacyCall(1, 'work'));
    await started.promise;
    expect((await session.delete()).status).toBe(204);
    await ended.promise;
    expect((await running).status).toBe(404);
    await standing.end();
    expect((await session.post(ping(2))).status).toBe(404);
    expect((await session.get()).status).toBe(404);
    expect((await session.delete()).status).toBe(404);
    expect((await other.post(ping(2))).status).toBe(200);
    await until('one connection', () => served.connections === 1);
  });
});

describe('the version header of a session', () => {
  it('may be missing, which means 2025-03-26 (LHTTP-025)', async () => {
    const { url } = await serveHttp(plainServer());
    const session = await openSession(url, { revision: '2025-03-26' });
    expect(session.headers).not.toHaveProperty('mcp-protocol-version');
    expect((await session.post(ping(1))).json.result).toEqual({});
  });

  it.each(['1900-01-01', 'nonsense', '2025-11-26'])(
    '%s is refused with 400 on POST (LHTTP-026)',
    async (version) => {
      for (const eras of [undefined, ['legacy'] as const]) {
        const { url } = await serveHttp(plainServer(), {}, eras ? { eras } : {});
        const session = await openSession(url);
        const { status } = await session.post(ping(1), { 'mcp-protocol-version': version });
        expect({ eras, status }).toEqual({ eras, status: 400 });
        expect((await session.post(ping(2))).status).toBe(200);
      }
    },
  );

  it('that is invalid is refused with 400 on GET and DELETE (LHTTP-026)', async () => {
    const { url } = await serveHttp(plainServer());
    const session = await openSession(url);
    const headers = { ...session.headers, 'mcp-protocol-version': '1900-01-01', accept: 'text/event-stream' };
    const { status } = await session.get(headers);
    expect(status).toBe(400);
    expect((await ask(url, { method: 'DELETE', headers })).status).toBe(400);
    expect((await session.post(ping(2))).status).toBe(200);
  });
});

describe('a modern-only probe at a legacy-only server', () => {
  it('is refused with 400 and no modern error, so that its sender tries the handshake (LHTTP-026, VER-020)', async () => {
    const { url } = await serveHttp(plainServer(), {}, { eras: ['legacy'] });
    const { status, json } = await ask(url, modernCall(1, 'echo', { text: 'x' }));
    expect(status).toBe(400);
    expect([-32020, -32021, -32022]).not.toContain(json.error?.code);
  });
});

describe('sessions and time', () => {
  it('one that is not used expires, and its id is unknown afterwards', async () => {
    const clock = new FakeClock();
    const { url, served } = await serveHttp(plainServer(), { clock, sessionIdleMs: 60_000 });
    const idle = await openSession(url);
    const busy = await openSession(url);
    clock.advance(50_000);
    expect((await busy.post(ping(1))).status).toBe(200);
    clock.advance(20_000);
    await until('one session', () => served.connections === 1);
    expect((await idle.post(ping(1))).status).toBe(404);
    expect((await busy.post(ping(2))).status).toBe(200);
  });

  it('one with an open stream or a running call is in use', async () => {
    const clock = new FakeClock();
    const server = plainServer();
    const release = gate();
    const started = gate();
    server.tool('work', {}, async () => {
      started.open();
      await release.promise;
      return 'done';
    });
    const { url } = await serveHttp(server, { clock, sessionIdleMs: 60_000 });
    const listening = await openSession(url);
    const standing = await listening.get();
    const working = await openSession(url);
    const work = working.post(legacyCall(1, 'work'));
    await started.promise;
    clock.advance(200_000);
    expect(standing.over).toBe(false);
    expect((await listening.post(ping(1))).status).toBe(200);
    release.open();
    expect((await work).messages.at(-1)?.result.content).toEqual([{ type: 'text', text: 'done' }]);
    // From here on it is idle.
    clock.advance(100_000);
    expect((await working.post(ping(2))).status).toBe(404);
    standing.hangUp();
    await until('nobody listens', () => standing.over);
  });

  it('one whose stream was dropped is forgotten in time', async () => {
    const clock = new FakeClock();
    const { url, served } = await serveHttp(plainServer(), { clock, sessionIdleMs: 60_000 });
    const session = await openSession(url);
    const standing = await session.get();
    standing.hangUp();
    await standing.end();
    // The other end learns of it by itself; this makes sure that it has.
    await ask(url, modernCall(1, 'echo', { text: 'x' }));
    clock.advance(100_000);
    await until('none', () => served.connections === 0);
  });

  it('their number is limited; the next is refused with a time to retry, until one is idle or gone', async () => {
    const clock = new FakeClock();
    const { url } = await serveHttp(plainServer(), { clock, maxSessions: 2 });
    const first = await openSession(url);
    const second = await openSession(url);
    const refused = await ask(url, legacy(initialize(9)));
    expect([refused.status, refused.headers['retry-after'], refused.json.id]).toEqual([503, '1', 9]);
    expect(refused.headers).not.toHaveProperty('mcp-session-id');
    await first.delete();
    const third = await openSession(url);
    expect((await second.post(ping(1))).status).toBe(200);
    expect((await third.post(ping(1))).status).toBe(200);
  });
});

describe('a request in a session', () => {
  it('is answered as JSON, or as a stream when something is said before (LHTTP-005, LHTTP-006)', async () => {
    const { url } = await serveHttp(plainServer());
    const session = await openSession(url, { revision: '2025-06-18' });
    const plain = await session.post(legacyCall(1, 'steps'));
    expect([plain.status, plain.headers['content-type'], texts(plain)]).toEqual([
      200,
      'application/json',
      ['done'],
    ]);
    expect(plain.headers['mcp-session-id']).toBe(session.id);
    const stream = await session.post(legacyCall(2, 'steps', {}, { progressToken: 7 }));
    expect(stream.headers['x-accel-buffering']).toBe('no');
    expect(stream.messages.map(({ method, id }) => method ?? id)).toEqual([
      'notifications/progress',
      'notifications/progress',
      2,
    ]);
  });

  it('gets errors as 200, as this era does', async () => {
    const { url } = await serveHttp(plainServer());
    const session = await openSession(url);
    const { status, json } = await session.post(legacyRequest(1, 'no/such'));
    expect([status, json.error?.code]).toEqual([200, -32601]);
  });

  it('is refused when its id is still in flight, and the first goes on (JRPC-005)', async () => {
    const server = plainServer();
    const release = gate();
    const started = gate();
    let runs = 0;
    server.tool('work', {}, async () => {
      runs += 1;
      started.open();
      await release.promise;
      return 'done';
    });
    const { url } = await serveHttp(server);
    const session = await openSession(url);
    const other = await openSession(url);
    const first = session.post(legacyCall(1, 'work'));
    await started.promise;
    const twice = await session.post(legacyCall(1, 'work'));
    expect([twice.status, twice.json.id, twice.json.error?.code]).toEqual([400, 1, -32600]);
    // Another type is another id, another session another space.
    const text = session.post(legacyCall('1', 'work'));
    const elsewhere = other.post(legacyCall(1, 'work'));
    await until('three runs', () => runs === 3);
    release.open();
    expect(texts(await first)).toEqual(['done']);
    expect((await text).json.id).toBe('1');
    expect((await elsewhere).json.id).toBe(1);
  });

  it('goes on when its client hangs up: that is not a cancellation (LHTTP-009)', async () => {
    const server = plainServer();
    const started = gate();
    const release = gate();
    const finished = gate<boolean>();
    server.tool('work', {}, async (_args, ctx) => {
      started.open();
      await release.promise;
      finished.open(ctx.signal.aborted);
      return 'done';
    });
    const { url } = await serveHttp(server);
    const session = await openSession(url);
    const request = send(url, legacy(legacyCall(2, 'work'), session.headers));
    await started.promise;
    request.destroy();
    expect((await session.post(ping(3))).status).toBe(200);
    release.open();
    expect(await finished.promise).toBe(false);
  });

  it('is cancelled by notifications/cancelled: its answer ends without a message for it (CANC-007)', async () => {
    const server = plainServer();
    const started = gate();
    const ended = gate<unknown>();
    server.tool('work', {}, async (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => ended.open(ctx.signal.reason));
      started.open();
      await ended.promise;
      return 'too late';
    });
    const { url } = await serveHttp(server);
    const session = await openSession(url);
    const running = session.open(legacyCall(1, 'work'));
    await started.promise;
    const params = { requestId: 1, reason: 'enough' };
    const told = await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    expect(told.status).toBe(202);
    expect(await ended.promise).toMatchObject({ code: 'CANCELLED', message: 'enough' });
    const stream = await running;
    await stream.end();
    expect(stream.messages).toEqual([]);
    // The id is free, and the session lives.
    expect((await session.post(ping(1))).status).toBe(200);
  });

  it('cannot cancel the request of another session', async () => {
    const server = plainServer();
    const started = gate();
    const release = gate();
    server.tool('work', {}, async (_args, ctx) => {
      started.open();
      await release.promise;
      return String(ctx.signal.aborted);
    });
    const { url } = await serveHttp(server);
    const session = await openSession(url);
    const other = await openSession(url);
    const running = session.post(legacyCall(1, 'work'));
    await started.promise;
    await other.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    release.open();
    expect(texts(await running)).toEqual(['false']);
  });
});

describe('questions of the server', () => {
  const CLIENT = { elicitation: {}, sampling: {}, roots: {} };
  function curious() {
    const server = createServer({ name: 'curious', version: '1' });
    server.tool('ask', {}, async (_args, ctx: Context) => {
      const answer = await ctx.elicit({
        message: `Who are you, ${(ctx.params['arguments'] as { name: string }).name}?`,
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
      });
      return JSON.stringify(answer);
    });
    return server;
  }

  it('travel on the stream of the call they belong to, and are answered by a POST (LHTTP-007)', async () => {
    const { url } = await serveHttp(curious());
    const session = await openSession(url, { capabilities: CLIENT });
    const standing = await session.get();
    const calls = await Promise.all(
      ['ada', 'bob'].map((name, id) => session.open(legacyCall(id, 'ask', { name }))),
    );
    const questions = await Promise.all(calls.map((call) => call.next()));
    expect(questions.map(({ method, params }) => [method, params?.['message']])).toEqual([
      ['elicitation/create', 'Who are you, ada?'],
      ['elicitation/create', 'Who are you, bob?'],
    ]);
    expect(questions[0]?.id).not.toBe(questions[1]?.id);
    for (const index of [1, 0]) {
      const { status, text } = await session.post({
        jsonrpc: '2.0',
        id: questions[index]!.id,
        result: { action: 'accept', content: { name: `answer ${index}` } },
      });
      expect([status, text]).toEqual([202, '']);
    }
    for (const [index, call] of calls.entries()) {
      expect((await call.next()).result.content[0].text).toBe(
        `{"action":"accept","content":{"name":"answer ${index}"}}`,
      );
      await call.end();
    }
    // LHTTP-019: on one stream, and not on this one.
    expect(standing.messages).toEqual([]);
  });

  it('cannot be answered from another session', async () => {
    const { url } = await serveHttp(curious());
    const session = await openSession(url, { capabilities: CLIENT });
    const other = await openSession(url, { capabilities: CLIENT });
    const call = await session.open(legacyCall(1, 'ask', { name: 'ada' }));
    const question = await call.next();
    const answer = (name: string) => ({
      jsonrpc: '2.0',
      id: question.id,
      result: { action: 'accept', content: { name } },
    });
    await other.post(answer('mallory'));
    await session.post(answer('ada'));
    expect((await call.next()).result.content[0].text).toContain('ada');
  });
});

describe('the standing stream', () => {
  function library() {
    const server = createServer({ name: 'library', version: '1' });
    server.resource('test://a', { name: 'a' }, () => 'a');
    server.tool('steps', {}, (_args, ctx) => {
      ctx.progress(1);
      ctx.log('info', 'one');
      return 'done';
    });
    return server;
  }
  const UPDATED = { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'test://a' } };

  it('brings what belongs to no request, and no answers (LHTTP-016, LHTTP-017, LHTTP-018)', async () => {
    const server = library();
    const { url } = await serveHttp(server);
    const session = await openSession(url, { revision: '2025-06-18' });
    const standing = await session.get();
    expect([standing.status, standing.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(
      (await session.post(legacyRequest(1, 'resources/subscribe', { uri: 'test://a' }))).json.result,
    ).toEqual({});
    await session.post(legacyCall(2, 'steps', {}, { progressToken: 1 }));
    server.resourceUpdated('test://a');
    expect(await standing.next()).toEqual(UPDATED);
    expect(standing.messages).toHaveLength(1);
  });

  it('is opened late: what came before waits for it', async () => {
    const server = library();
    const { url } = await serveHttp(server);
    const session = await openSession(url);
    await session.post(legacyRequest(1, 'resources/subscribe', { uri: 'test://a' }));
    server.resourceUpdated('test://a');
    const standing = await session.get();
    expect(await standing.next()).toEqual(UPDATED);
  });

  it('is replaced by a second one, and nothing else is touched (LHTTP-019, D-9)', async () => {
    const server = library();
    const release = gate();
    const started = gate();
    server.tool('work', {}, async () => {
      started.open();
      await release.promise;
      return 'done';
    });
    const { url } = await serveHttp(server);
    const session = await openSession(url);
    const other = await openSession(url);
    const otherStanding = await other.get();
    await session.post(legacyRequest(1, 'resources/subscribe', { uri: 'test://a' }));
    const first = await session.get();
    const running = session.post(legacyCall(2, 'work'));
    await started.promise;
    const second = await session.get();
    await first.end();
    server.resourceUpdated('test://a');
    expect(await second.next()).toEqual(UPDATED);
    expect(second.messages).toHaveLength(1);
    expect(first.messages).toEqual([]);
    release.open();
    expect(texts(await running)).toEqual(['done']);
    expect([otherStanding.over, second.over]).toEqual([false, false]);
  });

  it('needs a client that takes a stream (406)', async () => {
    const { url } = await serveHttp(library());
    const session = await openSession(url);
    expect((await session.get({ accept: 'application/json' })).status).toBe(406);
  });
});

describe('batches', () => {
  const batch = async (revision: string, messages: readonly unknown[]) => {
    const { url } = await serveHttp(plainServer());
    const session = await openSession(url, { revision });
    return { session, answer: await within(15_000, 'the batch', session.post(messages)) };
  };

  it('are answered as an array in 2025-03-26 (JRPC-017)', async () => {
    const { answer } = await batch('2025-03-26', [
      legacyCall(1, 'echo', { text: 'one' }),
      { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
      legacyCall('two', 'echo', { text: 'two' }),
      legacyRequest(3, 'no/such'),
    ]);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
    const answers = JSON.parse(answer.text) as { id: unknown }[];
    expect(new Map(answers.map((each) => [each.id, each]))).toMatchObject(
      new Map<unknown, unknown>([
        [1, { result: { content: [{ text: 'one' }] } }],
        ['two', { result: { content: [{ text: 'two' }] } }],
        [3, { error: { code: -32601 } }],
      ]),
    );
    expect(answers).toHaveLength(3);
  });

  it('are a stream when something is said before the answers (LHTTP-006)', async () => {
    const { answer } = await batch('2025-03-26', [
      legacyCall(1, 'echo', { text: 'one' }),
      legacyCall(2, 'steps', {}, { progressToken: 'p' }),
    ]);
    expect(answer.messages.map(({ method, id }) => method ?? id).sort()).toEqual([
      1,
      2,
      'notifications/progress',
      'notifications/progress',
    ]);
  });

  it('of notifications alone are accepted with 202', async () => {
    const { answer } = await batch('2025-03-26', [
      { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
      { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
    ]);
    expect([answer.status, answer.text]).toEqual([202, '']);
  });

  it('with something that is not a message answer that, and the rest (JRPC-017)', async () => {
    const { answer, session } = await batch('2025-03-26', [legacyCall(1, 'echo', { text: 'one' }), 42]);
    expect(answer.status).toBe(200);
    const answers = JSON.parse(answer.text) as object[];
    expect(answers).toHaveLength(2);
    expect(answers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 1, result: expect.anything() }),
        { jsonrpc: '2.0', error: expect.objectContaining({ code: -32600 }) },
      ]),
    );
    expect((await session.post(ping(1))).status).toBe(200);
  });

  it('of nothing that is a message are refused, not accepted (LHTTP-004)', async () => {
    const { answer } = await batch('2025-03-26', [42, 43]);
    expect(answer.status).not.toBe(202);
    expect(answer.text).toContain('-32600');
  });

  it('with one id twice end all the same', async () => {
    const { answer, session } = await batch('2025-03-26', [
      legacyCall(1, 'echo', { text: 'one' }),
      legacyCall(1, 'echo', { text: 'other' }),
    ]);
    expect(answer.text).toContain('-32600');
    expect((await session.post(ping(1))).status).toBe(200);
  });

  it('with an initialize in them refuse it (INIT-003)', async () => {
    const { answer } = await batch('2025-03-26', [initialize(1), ping(2)]);
    expect(answer.messages.find(({ id }) => id === 1)?.error?.code).toBe(-32600);
    expect(answer.messages.find(({ id }) => id === 2)?.result).toEqual({});
  });

  it.each(['2025-06-18', '2025-11-25'])(
    'are refused in %s, and their ids are free again (JRPC-019)',
    async (revision) => {
      const { answer, session } = await batch(revision, [ping(1), ping(2)]);
      expect(answer.status).toBe(400);
      expect(answer.json).toMatchObject({ error: { code: -32600 } });
      expect((await session.post(ping(1))).json.result).toEqual({});
      expect((await session.post(ping(2))).json.result).toEqual({});
    },
  );

  it('that were refused do not keep their session for ever', async () => {
    const clock = new FakeClock();
    const { url, served } = await serveHttp(plainServer(), { clock, sessionIdleMs: 60_000 });
    const session = await openSession(url);
    await session.post([ping(1), ping(2)]);
    clock.advance(200_000);
    await until('none', () => served.connections === 0);
  });
});

describe('both eras at the same time', () => {
  it('use one port and the same ids, and none gets the answer of another (D-24)', async () => {
    const server = createServer({ name: 'both', version: '1' });
    const all = gate();
    let running = 0;
    server.tool('who', {}, async (_args, ctx) => {
      running += 1;
      if (running === 60) all.open();
      await all.promise;
      ctx.progress(1, 1, JSON.stringify(ctx.params['arguments']));
      return `${ctx.era} ${JSON.stringify(ctx.params['arguments'])}`;
    });
    const { url } = await serveHttp(server);
    const sessions = await Promise.all(Array.from({ length: 20 }, () => openSession(url)));
    const meta = { progressToken: 1 };
    const callers = [
      ...Array.from({ length: 40 }, (_, n) => ask(url, modernCall(1, 'who', { n }, { meta }))),
      ...sessions.map((session, n) => session.post(legacyCall(1, 'who', { n }, meta))),
    ];
    const said = (await Promise.all(callers)).map(({ messages }) => [
      messages[0]?.params?.['message'],
      messages[1]?.id,
      messages[1]?.result.content[0].text,
    ]);
    expect(said).toEqual([
      ...Array.from({ length: 40 }, (_, n) => [`{"n":${n}}`, 1, `modern {"n":${n}}`]),
      ...Array.from({ length: 20 }, (_, n) => [`{"n":${n}}`, 1, `legacy {"n":${n}}`]),
    ]);
  });

  it('a modern request beside a session neither uses nor harms it (SESS-013)', async () => {
    const { url } = await serveHttp(plainServer());
    const session = await openSession(url);
    const modernAnswer = await ask(
      url,
      modernCall(1, 'echo', { text: 'x' }, { headers: { 'mcp-session-id': session.id } }),
    );
    expect([modernAnswer.status, modernAnswer.json.result?.resultType]).toEqual([200, 'complete']);
    expect(modernAnswer.headers).not.toHaveProperty('mcp-session-id');
    expect((await session.post(ping(1))).status).toBe(200);
  });
});

it('calls of sessions count, too, when the server has enough to do (503)', async () => {
  const server = plainServer();
  const release = gate();
  let running = 0;
  server.tool('hold', {}, async () => {
    running += 1;
    await release.promise;
    return 'done';
  });
  const { url } = await serveHttp(server, { maxRequests: 2 });
  const session = await openSession(url);
  const held = [1, 2].map((id) => session.post(legacyCall(id, 'hold')));
  await until('two at work', () => running === 2);
  const refused = await within(15_000, 'refusal', session.post(legacyCall(3, 'hold')));
  expect(refused.status).toBe(503);
  expect((await within(15_000, 'refusal', ask(url, modernCall(4, 'hold')))).status).toBe(503);
  release.open();
  for (const answer of await Promise.all(held)) expect(answer.status).toBe(200);
});
