/** Remote legacy servers: they want a session, never give one out, or have forgotten it. */
import { expect, it } from 'vitest';
import { official } from '../../packages/gateway/test/support/clients.js';
import { urlUnit } from '../../packages/gateway/test/support/server-definitions.js';
import { legacyFaults } from '../../packages/sdk/test/support/fault-server.js';
import { bothEras, call, openWatched, said } from './support/gateway.js';
import { type LegacyHttp, openLegacyHttp } from './support/legacy-http.js';

const times = ({ seen }: LegacyHttp, method: string) => seen.filter((each) => each.method === method).length;

it('D-4 sparfenyuk/mcp-proxy#149, agentgateway/agentgateway#3622: of two servers behind one address, the one that has forgotten its sessions is initialized again, and no client notices', async () => {
  const [a, b] = await Promise.all([
    openLegacyHttp({ sessions: 'required' }),
    openLegacyHttp({ sessions: 'required' }),
  ]);
  const gateway = await openWatched([urlUnit('a', a.url), urlUnit('b', b.url)]);
  const clients = await bothEras(gateway.url);
  for (const near of clients) {
    expect(said(await call(near, 'a__run', { token: `a1 ${near.name}` }))).toBe(`a1 ${near.name}`);
    expect(said(await call(near, 'b__run', { token: `b1 ${near.name}` }))).toBe(`b1 ${near.name}`);
  }
  const before = { ofA: a.sessions, ofB: b.sessions, a: times(a, 'initialize'), b: times(b, 'initialize') };
  a.forget();
  for (const near of clients) {
    expect(said(await call(near, 'a__run', { token: `a2 ${near.name}` }))).toBe(`a2 ${near.name}`);
    expect(said(await call(near, 'b__run', { token: `b2 ${near.name}` }))).toBe(`b2 ${near.name}`);
  }
  // Once for each client, and never with an old id again.
  expect(times(a, 'initialize') - before.a).toBe(2);
  expect([...a.sessions].filter((id) => before.ofA.has(id))).toEqual([]);
  expect(a.seen.filter(({ status, method }) => status === 404 && method === 'tools/call')).toHaveLength(2);
  expect(times(b, 'initialize')).toBe(before.b);
  expect(b.sessions).toEqual(before.ofB);
  expect(a.ran).toEqual(['a1 legacy', 'a1 modern', 'a2 legacy', 'a2 modern']);
});

it('D-4 agentgateway/agentgateway#3622: what may have reached a handler is not made again', async () => {
  let ran = 0;
  const far = await legacyFaults(({ method, params, reply, res }) => {
    if (method === 'tools/list') return reply({ tools: [{ name: 'pay', inputSchema: { type: 'object' } }] });
    if (params.name !== 'pay') return reply({});
    ran += 1;
    // It has begun, and the connection is lost.
    res.destroy();
  });
  const gateway = await openWatched([urlUnit('far', far.url)]);
  for (const [at, near] of (await bothEras(gateway.url)).entries()) {
    const { error } = await call(near, 'pay');
    expect(error).toMatchObject({ code: -32603, data: { reason: 'CONNECTION_CLOSED', sent: 'maybe' } });
    expect(ran).toBe(at + 1);
  }
});

it.each(['v2-modern', 'v2-auto', 'v2-legacy', 'v1'] as const)(
  'D-16 agentgateway/agentgateway#2982: the official client %s calls a server that insists on sessions, and is asked by it',
  async (kind) => {
    const far = await openLegacyHttp({ sessions: 'required' });
    const gateway = await openWatched([urlUnit('far', far.url)]);
    const session = await official(kind, gateway.url);
    expect(session.era).toBe(kind === 'v2-modern' || kind === 'v2-auto' ? 'modern' : 'legacy');
    expect(await session.tools()).toEqual(['run', 'ask']);
    session.answers = {
      ...session.answers,
      elicit: () => ({ action: 'accept', content: { answer: 'Ada' } }),
    };
    expect(await session.call('ask')).toMatchObject({ content: [{ text: 'accept Ada' }] });
    for (let at = 0; at < 5; at += 1) {
      expect(await session.call('run', { token: `${at}` })).toMatchObject({ content: [{ text: `${at}` }] });
    }
    expect(session.complaints).toEqual([]);
    // The only thing that came without a session is what opens one, and the question for the era.
    const bare = far.seen.filter((each) => each.session === undefined).map(({ method }) => method);
    expect(new Set(bare)).toEqual(new Set(['server/discover', 'initialize']));
  },
);

it('D-17 stacklok/toolhive#5796: a server that never gives out a session serves clients of both eras', async () => {
  const far = await openLegacyHttp({ sessions: 'none' });
  const gateway = await openWatched([urlUnit('far', far.url)]);
  for (const kind of ['v1', 'v2-modern'] as const) {
    const session = await official(kind, gateway.url);
    expect(await session.tools()).toEqual(['run', 'ask']);
    for (const token of ['1', '2', '3']) {
      expect(await session.call('run', { token })).toMatchObject({ content: [{ text: token }] });
    }
    expect(session.complaints).toEqual([]);
  }
  expect(far.ran).toEqual(['1', '2', '3', '1', '2', '3']);
  expect(far.seen.filter(({ session }) => session !== undefined)).toEqual([]);
  expect((await gateway.get('/readyz')).status).toBe(200);
});
