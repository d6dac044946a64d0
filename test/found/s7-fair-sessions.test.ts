import { createServer } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import {
  ask,
  gate,
  initialize,
  type LegacySession,
  legacy,
  legacyCall,
  legacyRequest,
  modern,
  modernCall,
  open,
  openSession,
  plainServer,
  serveHttp,
  until,
} from '../../packages/sdk/test/support/http-server.js';
import { FakeClock } from '../support/fake-clock.js';

const ping = (session: LegacySession) => session.post(legacyRequest(99, 'ping'));
const MALLORY = '127.0.0.66';

/** Opens sessions and leaves them alone. */
async function abandon(url: string, count: number, from: string): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let at = 0; at < count; at += 20) {
    const some = Array.from({ length: Math.min(20, count - at) }, () =>
      ask(url, { ...legacy(initialize(1)), from }),
    );
    for (const { status } of await Promise.all(some)) statuses.push(status);
  }
  return statuses;
}

describe('S7: sessions are shared fairly', () => {
  it('S7: a client that opens more than there may be loses its own, and others keep theirs', async () => {
    const clock = new FakeClock();
    const { url, served } = await serveHttp(plainServer(), { clock, maxSessions: 50 });
    const bob = await openSession(url, { from: '127.0.0.2' });
    clock.advance(60_000);
    const statuses = await abandon(url, 200, MALLORY);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(49);
    expect(served.connections).toBe(50);
    expect((await ping(bob)).status).toBe(200);
    const carol = await openSession(url, { from: '127.0.0.3' });
    expect((await ping(carol)).status).toBe(200);
    expect((await ping(bob)).status).toBe(200);
    expect(served.connections).toBe(50);
  });

  it('S7: of sessions that were never used the one opened first goes, though it sends notifications', async () => {
    const clock = new FakeClock();
    const { url } = await serveHttp(plainServer(), { clock, maxSessions: 2 });
    const first = await openSession(url, { from: MALLORY });
    clock.advance(1000);
    const second = await openSession(url, { from: MALLORY });
    clock.advance(1000);
    await first.post({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
    const third = await openSession(url, { from: MALLORY });
    expect((await ping(first)).status).toBe(404);
    expect((await ping(second)).status).toBe(200);
    expect((await ping(third)).status).toBe(200);
  });

  it('S7: a client that listens in all its sessions makes room for one that has none', async () => {
    const { url } = await serveHttp(plainServer(), { maxSessions: 4 });
    for (let at = 0; at < 4; at += 1) await (await openSession(url, { from: MALLORY })).get();
    const bob = await openSession(url, { from: '127.0.0.2' });
    expect((await ping(bob)).status).toBe(200);
  });

  it('S7: a handshake that is refused costs nobody a session', async () => {
    const { url } = await serveHttp(plainServer(), { maxSessions: 4 });
    const sessions = [];
    for (let at = 0; at < 4; at += 1) sessions.push(await openSession(url, { from: '127.0.0.2' }));
    for (let at = 0; at < 10; at += 1) {
      const refused = await ask(url, { ...legacy(legacyRequest(at, 'initialize', {})), from: MALLORY });
      expect(refused.json).toMatchObject({ error: { code: -32602 } });
    }
    for (const session of sessions) expect((await ping(session)).status).toBe(200);
  });

  it('S7: authenticated principals share sessions whatever their address is', async () => {
    const { url } = await serveHttp(plainServer(), {
      maxSessions: 10,
      authenticate: ({ header }) => header('authorization')?.slice('Bearer '.length),
    });
    const as = (name: string) => ({ headers: { authorization: `Bearer ${name}` } });
    const bob = await openSession(url, as('bob'));
    for (let at = 0; at < 30; at += 1) {
      await ask(url, legacy(initialize(at), as('mallory').headers));
    }
    expect((await ping(bob)).status).toBe(200);
    expect((await ping(await openSession(url, as('carol')))).status).toBe(200);
  });

  it('S7: a connection of 2024-11-05 makes room in the same way', async () => {
    const { url } = await serveHttp(plainServer(), { maxSessions: 3, sse: true });
    const sse = new URL('/sse', url).href;
    const get = (from: string) =>
      open(sse, { method: 'GET', headers: { accept: 'text/event-stream' }, from });
    const first = await get(MALLORY);
    for (let at = 0; at < 2; at += 1) await get(MALLORY);
    expect((await get(MALLORY)).status).toBe(503);
    expect((await get('127.0.0.2')).status).toBe(200);
    await first.end();
    expect((await get(MALLORY)).status).toBe(503);
  });
});

describe('R4: abandoned sessions do not lock out others', () => {
  it('R4: the longest idle session of the same address goes, one that was never used before one that was', async () => {
    const clock = new FakeClock();
    const { url, served } = await serveHttp(plainServer(), { clock, maxSessions: 30 });
    const used = await openSession(url);
    expect((await ping(used)).status).toBe(200);
    clock.advance(100);
    expect(await abandon(url, 29, '127.0.0.1')).not.toContain(503);
    clock.advance(1000);
    for (let at = 0; at < 29; at += 1) await openSession(url);
    expect((await ping(used)).status).toBe(200);
    expect(served.connections).toBe(30);
  });

  it('R4: maxSessions above 1,000 takes effect', async () => {
    const { url, served } = await serveHttp(plainServer(), { maxSessions: 1100 });
    expect(await abandon(url, 1100, '127.0.0.1')).not.toContain(503);
    expect(served.connections).toBe(1100);
  });
});

describe('S7: calls at work are shared fairly', () => {
  function slow() {
    const server = plainServer();
    const release = gate();
    const running = { count: 0 };
    server.tool('hold', {}, async () => {
      running.count += 1;
      await release.promise;
      return 'done';
    });
    return { server, release, running };
  }

  it('S7: slow calls of one client leave room for another, and for another session of the same client', async () => {
    const { server, release, running } = slow();
    const { url } = await serveHttp(server, { maxRequests: 100 });
    const session = await openSession(url, { from: MALLORY });
    const held = Array.from({ length: 100 }, (_, id) => session.post(legacyCall(id, 'hold')));
    await until('a share of them', () => running.count === 57);
    const other = await openSession(url, { from: MALLORY });
    expect((await other.post(legacyCall(1, 'echo', { text: 'other session' }))).status).toBe(200);
    expect((await ask(url, { ...modernCall(1, 'echo', { text: 'bob' }), from: '127.0.0.2' })).status).toBe(
      200,
    );
    const bob = await openSession(url, { from: '127.0.0.2' });
    expect((await bob.post(legacyCall(2, 'echo', { text: 'bob' }))).status).toBe(200);
    release.open();
    const answers = await Promise.all(held);
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(57);
    expect(refused).toHaveLength(43);
    expect(refused[0]!.headers['retry-after']).toBe('1');
    expect(refused[0]!.json.error).toEqual({
      code: -32603,
      message: '57 requests of this client are running, its share of 100; try again later',
    });
  });

  it('S7: initialize counts as a call', async () => {
    const { server, release, running } = slow();
    const { url } = await serveHttp(server, { maxRequests: 2 });
    const held = [1, 2].map((id) => ask(url, { ...modernCall(id, 'hold'), from: MALLORY }));
    await until('both', () => running.count === 2);
    expect((await ask(url, legacy(initialize(3)))).status).toBe(503);
    release.open();
    await Promise.all(held);
    expect((await ask(url, legacy(initialize(3)))).status).toBe(200);
  });

  it('S7: calls over the transport of 2024-11-05 count, too', async () => {
    const { server, release, running } = slow();
    const { url } = await serveHttp(server, { maxRequests: 3, sse: true });
    const sse = new URL('/sse', url).href;
    const stream = await open(sse, { method: 'GET', headers: { accept: 'text/event-stream' } });
    await stream.until('the endpoint', () => stream.events.length > 0);
    const to = new URL(stream.events[0]!.data!, sse).href;
    const post = (message: object) => ask(to, legacy(message));
    await post(initialize(0, '2024-11-05'));
    await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    for (const id of [1, 2, 3]) expect((await post(legacyCall(id, 'hold'))).status).toBe(202);
    await until('three', () => running.count === 3);
    expect((await post(legacyCall(4, 'hold'))).status).toBe(503);
    expect(
      (await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } })).status,
    ).toBe(202);
    expect((await post(legacyCall(5, 'hold'))).status).toBe(202);
    release.open();
    await stream.until('the answers', () => stream.text.split('"done"').length === 4);
    expect((await post(legacyCall(6, 'echo', { text: 'x' }))).status).toBe(202);
  });
});

describe('S7: subscriptions are shared fairly', () => {
  it('S7: the oldest one of the client that has most ends for one of a client that has none', async () => {
    const server = createServer({ name: 'watched', version: '1' });
    server.tool('none', {}, () => 'x');
    const { url } = await serveHttp(server, { maxStreams: 3 });
    const listen = (id: number, from: string) =>
      open(url, {
        ...modern(id, 'subscriptions/listen', { notifications: { toolsListChanged: true } }),
        from,
      });
    const first = await listen(1, MALLORY);
    await first.next();
    for (const id of [2, 3]) await (await listen(id, MALLORY)).next();
    expect((await listen(4, MALLORY)).status).toBe(503);
    const bob = await listen(5, '127.0.0.2');
    expect((await bob.next()).method).toBe('notifications/subscriptions/acknowledged');
    await first.end();
    expect((await listen(6, MALLORY)).status).toBe(503);
    expect(bob.over).toBe(false);
  });
});
