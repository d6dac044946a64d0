/** What belongs to one caller is not there for another: sessions and their events, of either transport. */
import { describe, expect, it } from 'vitest';
import {
  initialize,
  legacy,
  legacyCall,
  modernCall,
  open,
  openSession,
  type Stream,
} from '../../../sdk/test/support/http-server.js';
import {
  ALICE,
  BOB,
  EACH_ITS_OWN,
  type House,
  KEYS,
  openHouse,
  tellsAll,
  textOf,
} from '../support/secured-gateway.js';
import { commandUnit } from '../support/server-definitions.js';

const PATHS = ['/mcp', '/mcp/a', '/servers/a/mcp'];
const PING = { jsonrpc: '2.0', id: 9, method: 'ping' };

async function opened(): Promise<House> {
  const units = [tellsAll('a', EACH_ITS_OWN), tellsAll('b', EACH_ITS_OWN)];
  return openHouse(units, { keys: KEYS });
}

describe('a session', () => {
  it.each(PATHS)('at %s is not there for another caller, whatever it does with it', async (path) => {
    const house = await opened();
    const session = await openSession(house.at(path), { headers: ALICE });
    const as = (headers: Record<string, string>) => ({ ...session.headers, 'x-api-key': '', ...headers });
    const accept = 'text/event-stream';
    for (const [who, status] of [
      [BOB, 404],
      [{}, 401],
    ] as const) {
      expect((await house.ask(path, legacy(PING, as(who)))).status).toBe(status);
      expect((await house.ask(path, { method: 'GET', headers: { ...as(who), accept } })).status).toBe(status);
      expect((await house.ask(path, { method: 'DELETE', headers: as(who) })).status).toBe(status);
    }
    expect((await session.post(PING)).json).toEqual({ jsonrpc: '2.0', id: 9, result: {} });
    expect((await session.delete()).status).toBe(204);
    expect((await session.post(PING)).status).toBe(404);
  });

  it('of one server is not there at another', async () => {
    const house = await opened();
    const session = await openSession(house.at('/mcp/a'), { headers: ALICE });
    for (const path of ['/mcp', '/mcp/b', '/servers/b/mcp']) {
      expect((await house.ask(path, legacy(PING, session.headers))).status, path).toBe(404);
    }
    expect((await session.post(PING)).status).toBe(200);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', '../a', "' or 1=1"])(
    'is not found by making up an id: %j',
    async (id) => {
      const house = await opened();
      await openSession(house.at('/mcp/a'), { headers: ALICE });
      const headers = { ...ALICE, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
      expect([400, 404]).toContain((await house.ask('/mcp/a', legacy(PING, headers))).status);
      const query = `/mcp/a/message?sessionId=${encodeURIComponent(id)}`;
      expect([400, 404]).toContain((await house.ask(query, legacy(PING, ALICE))).status);
    },
  );
});

describe('what was said on a stream', () => {
  it('is not resumed by another caller, nor in another session', async () => {
    const house = await opened();
    const ofAlice = await openSession(house.at('/mcp/a'), { headers: ALICE });
    const ofBob = await openSession(house.at('/mcp/a'), { headers: BOB });
    const whisper = legacyCall(1, 'whisper', { text: 'a secret' }, { progressToken: 7 });
    const said = await ofAlice.open(whisper);
    await said.end();
    expect(said.messages.map(({ method, id }) => method ?? id)).toEqual(['notifications/progress', 1]);
    const ids = said.events.flatMap(({ id }) => id ?? []);
    expect(ids.length).toBeGreaterThan(1);
    for (const id of ids) {
      const stolen = await house.ask('/mcp/a', {
        method: 'GET',
        headers: { ...ofAlice.headers, ...BOB, accept: 'text/event-stream', 'last-event-id': id },
      });
      expect([stolen.status, stolen.text.includes('secret')]).toEqual([404, false]);
      // An answer that Bob gets afterwards says that nothing else was on its way before.
      const inOwn = await ofBob.get({ 'last-event-id': id });
      await ofBob.post(PING);
      inOwn.hangUp();
      expect(inOwn.text).not.toContain('secret');
    }
    const resumed = await ofAlice.get({ 'last-event-id': ids[0]! });
    await resumed.until('the rest', () => resumed.text.includes('a secret'));
  });
});

describe('a stream of 2024-11-05', () => {
  it('takes no messages of another caller', async () => {
    const house = await opened();
    const stream = await oldStream(house, ALICE);
    const endpoint = new URL(stream.events[0]!.data!, house.at('/mcp/a/sse'));
    const path = endpoint.pathname + endpoint.search;
    expect((await house.ask(path, legacy(PING, BOB))).status).toBe(404);
    expect((await house.ask(path, legacy(PING))).status).toBe(401);
    // The id is good at its own server only.
    expect((await house.ask(path.replace('/mcp/a/', '/mcp/b/'), legacy(PING, ALICE))).status).toBe(404);
    expect((await house.ask(path, legacy(PING, ALICE))).status).toBe(202);
    await stream.until('the answer', () => stream.text.includes('"id":9'));
  });
});

describe('a server that cannot be started', () => {
  it('is nothing that a client could end the gateway with', async () => {
    const never = commandUnit('a', ['-e', 'setTimeout(() => process.exit(1), 100)'], {
      restart: false,
    });
    // A promise that nobody waits for would be the end of the run.
    const house = await openHouse([never, tellsAll('b')]);
    const stream = await oldStream(house, {});
    const { pathname, search } = new URL(stream.events[0]!.data!, house.at('/mcp/a/sse'));
    const post = (message: object) => house.ask(pathname + search, legacy(message));
    const early = { jsonrpc: '2.0', method: 'notifications/early' };
    await Promise.all([post(PING), post(initialize(1)), ...Array.from({ length: 300 }, () => post(early))]);
    await stream.until('both answers', () => stream.text.split('event: message').length > 2);
    stream.hangUp();
    expect((await house.ask('/healthz', { method: 'GET' })).status).toBe(200);
    expect(textOf(await house.ask('/mcp/b', modernCall(1, 'pid')))).toMatch(/^\d+$/);
  });
});

async function oldStream(house: House, headers: Record<string, string>): Promise<Stream> {
  const request = { method: 'GET', headers: { ...headers, accept: 'text/event-stream' } };
  const stream = await open(house.at('/mcp/a/sse'), request);
  await stream.until('the place for messages', () => stream.events.length > 0);
  return stream;
}

it('what a caller noted is not what another one reads', async () => {
  const house = await opened();
  const ofAlice = await openSession(house.at('/mcp'), { headers: ALICE });
  const ofBob = await openSession(house.at('/mcp'), { headers: BOB });
  await ofAlice.post(legacyCall(1, 'a__remember', { text: 'mine' }));
  expect(textOf(await ofBob.post(legacyCall(2, 'a__recall')))).toBe('');
  expect(textOf(await ofAlice.post(legacyCall(3, 'a__recall')))).toBe('mine');
});
