import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { createServer } from '../../../src/index.js';
import {
  ask,
  gate,
  initialize,
  legacy,
  legacyCall,
  legacyRequest,
  modern,
  modernCall,
  open,
  openSession,
  plainServer,
  send,
  serveHttp,
  until,
  within,
} from '../../support/http-server.js';

describe('a client that is gone before it is let in', () => {
  function doorkeeper() {
    const asked = gate();
    const decision = gate<string>();
    let slow = false;
    return {
      asked,
      decision,
      beSlow: () => {
        slow = true;
      },
      authenticate: () => {
        if (!slow) return 'ada';
        slow = false;
        asked.open();
        return decision.promise;
      },
    };
  }

  it('does not keep its session for ever by a stream that it no longer reads', async () => {
    const clock = new FakeClock();
    const door = doorkeeper();
    const { url, served } = await serveHttp(plainServer(), {
      clock,
      sessionIdleMs: 60_000,
      authenticate: door.authenticate,
    });
    const session = await openSession(url);
    door.beSlow();
    const request = send(url, {
      method: 'GET',
      headers: { accept: 'text/event-stream', ...session.headers },
    });
    await door.asked.promise;
    request.destroy();
    await ask(url, modern(1, 'server/discover'));
    door.decision.open('ada');
    await ask(url, modern(1, 'server/discover'));
    clock.advance(200_000);
    await until('no session', () => served.connections === 0);
  });

  it('has its modern call cancelled when it has gone', async () => {
    const door = doorkeeper();
    const server = plainServer();
    let signal: AbortSignal | undefined;
    const release = gate();
    server.tool('work', {}, async (_args, ctx) => {
      signal = ctx.signal;
      await release.promise;
      return 'done';
    });
    const { url, served } = await serveHttp(server, { authenticate: door.authenticate });
    door.beSlow();
    const request = send(url, modernCall(1, 'work'));
    await door.asked.promise;
    request.destroy();
    await ask(url, modern(1, 'server/discover'));
    door.decision.open('ada');
    await ask(url, modern(1, 'server/discover'));
    await until('end of it', () => served.connections === 0);
    expect(signal === undefined || signal.aborted).toBe(true);
    release.open();
  });
});

describe('a session whose standing stream is not read', () => {
  it('still has its calls answered: they have connections of their own', async () => {
    const server = createServer({ name: 'chatty', version: '1' });
    server.resource('test://a', { name: 'a' }, () => 'a');
    server.tool('echo', {}, () => 'here');
    const { url } = await serveHttp(server);
    const session = await openSession(url);
    const standing = await session.get();
    standing.response.pause();
    const uris = Array.from({ length: 200 }, (_, n) => `test://${n}/${'x'.repeat(1000)}`);
    await session.post(legacyRequest('s', 'resources/subscribe', { uri: 'test://a' }));
    for (const [id, uri] of uris.entries())
      await session.post(legacyRequest(id, 'resources/subscribe', { uri }));
    for (let turn = 0; turn < 60; turn += 1) {
      for (const uri of uris) server.resourceUpdated(uri);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const answer = await within(15_000, 'the answer', session.post(legacyCall('c', 'echo')));
    expect(answer.json.result?.content).toEqual([{ type: 'text', text: 'here' }]);
  });
});

describe('questions without a stream', () => {
  it('end with the session, not before: the client may come back for them', async () => {
    const server = createServer({ name: 'curious', version: '1' });
    const outcome = gate<unknown>();
    server.tool('ask', {}, async (_args, ctx) => {
      ctx.progress(1);
      await ctx
        .elicit({ message: '?', requestedSchema: { type: 'object', properties: {} } })
        .then(outcome.open, outcome.open);
      return 'done';
    });
    const { url } = await serveHttp(server);
    const session = await openSession(url, { capabilities: { elicitation: {} } });
    const stream = await session.open(legacyCall(1, 'ask', {}, { progressToken: 1 }));
    await stream.next();
    stream.hangUp();
    await stream.end();
    expect((await session.delete()).status).toBe(204);
    expect(await within(15_000, 'the outcome', outcome.promise)).toBeInstanceOf(Error);
  });
});

describe('a call of a session whose answer cannot be delivered', () => {
  it('does not stay in flight: its id and its session are free', async () => {
    const clock = new FakeClock();
    const server = plainServer();
    const started = gate();
    const release = gate();
    server.tool('work', {}, async () => {
      started.open();
      await release.promise;
      return 'done';
    });
    const { url, served } = await serveHttp(server, { clock, sessionIdleMs: 60_000 });
    const session = await openSession(url);
    const request = send(url, legacy(legacyCall(1, 'work'), session.headers));
    await started.promise;
    request.destroy();
    await ask(url, modern(1, 'server/discover'));
    release.open();
    expect((await session.post(legacyRequest(2, 'ping'))).status).toBe(200);
    expect((await session.post(legacyRequest(1, 'ping'))).status).toBe(200);
    clock.advance(200_000);
    await until('no session', () => served.connections === 0);
  });

  it('can be resumed when it began to be silent for long after the client had gone', async () => {
    const clock = new FakeClock();
    const server = plainServer();
    const started = gate();
    const release = gate();
    server.tool('work', {}, async (_args, ctx) => {
      ctx.progress(1);
      started.open();
      await release.promise;
      return 'done';
    });
    const { url } = await serveHttp(server, { clock, keepAliveMs: 1000 });
    const session = await openSession(url);
    const stream = await session.open(legacyCall(1, 'work', {}, { progressToken: 1 }));
    await stream.next();
    const last = stream.events.at(-1)!.id!;
    stream.hangUp();
    await stream.end();
    await ask(url, modern(1, 'server/discover'));
    clock.advance(5000);
    release.open();
    const resumed = await session.get({ 'last-event-id': last });
    expect((await resumed.next()).result.content[0].text).toBe('done');
    await resumed.end();
  });
});

describe('headers and hooks at the edge', () => {
  it('a session id is not taken from two headers', async () => {
    const { url } = await serveHttp(plainServer());
    const session = await openSession(url);
    const { status } = await ask(url, {
      ...legacy(legacyRequest(1, 'ping')),
      headers: { ...legacy(null).headers, 'mcp-session-id': [session.id, session.id] },
    });
    expect(status).toBe(404);
  });

  it('a name, a method or a version that is said twice is a mismatch', async () => {
    const { url } = await serveHttp(plainServer());
    for (const name of ['mcp-name', 'mcp-method', 'mcp-protocol-version']) {
      const given = modernCall(1, 'echo', { text: 'x' });
      const once = String(given.headers![name]);
      const { status } = await ask(url, { ...given, headers: { ...given.headers, [name]: [once, once] } });
      expect({ name, status }).toEqual({ name, status: 400 });
    }
  });

  it('initialize opens a session of its own also where another is named', async () => {
    const { url } = await serveHttp(plainServer());
    const session = await openSession(url);
    const again = await ask(url, legacy(initialize(1), { 'mcp-session-id': session.id }));
    expect(again.status).toBe(200);
    expect(again.headers['mcp-session-id']).not.toBe(session.id);
    expect((await session.post(legacyRequest(1, 'ping'))).status).toBe(200);
  });

  it('a hook gets no header that was not sent', async () => {
    const seen: unknown[] = [];
    const { url } = await serveHttp(plainServer(), {
      authenticate: (request) => {
        seen.push(request.header('constructor'), request.header('__proto__'), request.header('toString'));
        return 'ada';
      },
    });
    await ask(url, modern(1, 'server/discover'));
    expect(seen).toEqual([undefined, undefined, undefined]);
  });

  it('a refusal in the hook’s words cannot add headers', async () => {
    const { url } = await serveHttp(plainServer(), {
      authenticate: () => ({ status: 401, challenge: 'error="x"\r\nset-cookie: a=b' }),
    });
    const { status, headers } = await ask(url, modern(1, 'server/discover'));
    expect([401, 500]).toContain(status);
    expect(headers).not.toHaveProperty('set-cookie');
  });
});

it('a stalled listen is told of its end when the server stops, or is cut; others get theirs at once', async () => {
  const server = createServer({ name: 'library', version: '1' });
  server.resource('test://a', { name: 'a' }, () => 'a');
  const { url, served } = await serveHttp(server);
  const filter = { notifications: { resourceSubscriptions: ['test://a'] } };
  const stalled = await open(url, modern(1, 'subscriptions/listen', filter));
  await stalled.next();
  stalled.response.pause();
  const reading = await open(url, modern(2, 'subscriptions/listen', filter));
  await reading.next();
  for (let turn = 0; turn < 50_000; turn += 1) {
    server.resourceUpdated('test://a');
    // Changes of one turn are told once.
    await null;
  }
  await within(15_000, 'close', served.close({ graceMs: 500 }));
  await reading.end();
  expect(reading.messages.at(-1)).toMatchObject({ id: 2, result: { resultType: 'complete' } });
});
