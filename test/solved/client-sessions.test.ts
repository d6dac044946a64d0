/** Sessions of legacy clients: they close, come twice, are forgotten, or are never closed by anybody. */

import { readStat } from '@isthmus/sdk/internal/process/proc-stat.js';
import { expect, it } from 'vitest';
import { client } from '../../packages/gateway/test/support/clients.js';
import { childrenOf, until } from '../../packages/sdk/test/support/host-lifetime.js';
import {
  ask,
  initialize,
  legacy,
  legacyCall,
  open,
  openSession,
} from '../../packages/sdk/test/support/http-server.js';
import { FakeClock } from '../support/fake-clock.js';
import { textOf } from '../support/messages.js';
import { connectV1 } from '../support/official-v1.js';
import { settle } from '../support/raw-client.js';
import { bothEras, call, linesUnit, openWatched, pidsOf, said } from './support/gateway.js';

const perClient = { processes: 'per-conversation', maxProcesses: 4 } as const;
const STREAM = { method: 'GET', headers: { accept: 'text/event-stream' } };

it('D-6 supercorp-ai/supergateway#141: the child of a client ends with its session, and not with a timeout', async () => {
  const gateway = await openWatched([linesUnit('far', perClient)]);
  const session = await openSession(gateway.url);
  const pid = Number(textOf((await session.post(legacyCall(1, 'pid'))).messages[0]!));
  expect(pidsOf(await gateway.status(), 'far')).toEqual([pid]);
  expect((await session.delete()).status).toBe(204);
  await until('the child has ended', () => readStat(pid) === undefined, 5000);

  const { client: sse } = await connectV1({ url: gateway.at('/sse'), transport: 'sse' });
  await sse.callTool({ name: 'echo', arguments: { text: 'hi' } });
  const [other] = pidsOf(await gateway.status(), 'far');
  expect(readStat(other!)).toBeDefined();
  // It hangs up, and says nothing.
  await sse.close();
  await until('the child has ended', () => readStat(other!) === undefined, 5000);
});

it('D-6 supercorp-ai/supergateway#141: a shared child is there for the next client when one has closed', async () => {
  const gateway = await openWatched([linesUnit('far')]);
  const pids = [];
  for (let times = 0; times < 3; times += 1) {
    const session = await openSession(gateway.url);
    pids.push(Number(textOf((await session.post(legacyCall(1, 'pid'))).messages[0]!)));
    await session.delete();
  }
  expect(pids).toEqual([pids[0], pids[0], pids[0]]);
  expect(pidsOf(await gateway.status(), 'far')).toEqual([pids[0]]);
});

it('D-9 supercorp-ai/supergateway#126: a second standing stream of a session does not touch the child', async () => {
  const gateway = await openWatched([linesUnit('far')]);
  const session = await openSession(gateway.url);
  const pid = async () => said((await session.post(legacyCall(1, 'pid'))).messages[0]!);
  const before = await pid();
  const first = await session.get();
  const statuses = [];
  for (let times = 0; times < 20; times += 1) {
    const again = await session.get();
    statuses.push(again.status);
    again.hangUp();
  }
  // Either the second is refused, or it takes the place of the first.
  expect(statuses.filter((status) => status !== 409 && status !== 200)).toEqual([]);
  expect(await pid()).toBe(before);
  first.hangUp();
  expect((await session.get()).status).toBe(200);
  expect(await pid()).toBe(before);
  expect(gateway.seen.kinds()).toEqual(['start', 'ready', 'receipt']);
});

it('D-9 supercorp-ai/supergateway#126: 20 reconnects at /sse leave one child, and it is the same', async () => {
  const gateway = await openWatched([linesUnit('far')]);
  for (let times = 0; times < 20; times += 1) {
    const stream = await open(gateway.at('/sse'), STREAM);
    await stream.until('the place for messages', () => stream.events.length > 0);
    const messages = new URL(stream.events[0]!.data!, gateway.origin).href;
    await ask(messages, legacy(initialize(1, '2024-11-05')));
    await stream.until('the answer', () => stream.events.length > 1);
    expect(JSON.parse(stream.events[1]!.data!).result.protocolVersion).toBe('2024-11-05');
    stream.hangUp();
  }
  expect(gateway.seen.kinds()).toEqual(['start', 'ready', 'receipt']);
});

it('D-11 supercorp-ai/supergateway#123: an unknown session is 404 for POST, GET and DELETE, and a new one can be opened', async () => {
  const gateway = await openWatched([linesUnit('far')]);
  const session = await openSession(gateway.url);
  await session.delete();
  for (const id of [session.id, '00000000-0000-4000-8000-000000000000']) {
    const headers = { ...session.headers, 'mcp-session-id': id };
    const post = await ask(gateway.url, legacy(legacyCall(1, 'pid'), headers));
    const get = await ask(gateway.url, { ...STREAM, headers: { ...STREAM.headers, ...headers } });
    const gone = await ask(gateway.url, { method: 'DELETE', headers });
    expect([post.status, get.status, gone.status]).toEqual([404, 404, 404]);
    expect(post.json).toMatchObject({ id: 1, error: { message: expect.stringMatching(/session/i) } });
  }
  const message = gateway.at('/message?sessionId=00000000-0000-4000-8000-000000000000');
  expect((await ask(message, legacy(legacyCall(1, 'pid')))).status).toBe(404);
  const next = await openSession(gateway.url);
  expect((await next.post(legacyCall(1, 'echo', { text: 'back' }))).messages[0]!.result.content).toEqual([
    { type: 'text', text: 'back' },
  ]);
});

it('D-11 supercorp-ai/supergateway#123: a client goes on by itself when the gateway was started again', async () => {
  const first = await openWatched([linesUnit('far')]);
  const near = await client(first.url, 'legacy');
  expect(await near.callTool('echo', { text: 'a' })).toMatchObject({ content: [{ text: 'a' }] });
  await first.gateway.close({ graceMs: 0 });
  await openWatched([linesUnit('far')], { addresses: [first.url] });
  // All of them are in one process, and the client should have heard of it.
  await settle();
  expect(await near.callTool('echo', { text: 'b' })).toMatchObject({ content: [{ text: 'b' }] });
});

it('D-20 metatool-ai/metamcp#162: 1,000 sessions that nobody closes have four children, and then none', async () => {
  const clock = new FakeClock();
  const gateway = await openWatched([linesUnit('far', perClient)], {
    endpoint: { clock, maxSessions: 1000, sessionIdleMs: 60_000 },
  });
  const { bridge } = gateway.gateway.unit('far');
  const forgotten = async () => {
    clock.advance(60_000);
    await until('all are forgotten', () => bridge.upstreamSessions === 0);
    await until('the children have ended', () => gateway.seen.all('exit').length === starts());
  };
  const starts = () => gateway.seen.all('start').length;
  await openSession(gateway.url);
  await forgotten();
  const baseline = childrenOf(process.pid).length;

  const request = legacy(initialize('init'));
  for (let at = 0; at < 20; at += 1) {
    await Promise.all(Array.from({ length: 49 }, () => ask(gateway.url, request)));
    const session = await openSession(gateway.url);
    // The first four of these have all the children that there may be.
    if (at < 4)
      expect(textOf((await session.post(legacyCall(1, 'echo', { text: 'a' }))).messages[0]!)).toBe('a');
    expect(childrenOf(process.pid).length - baseline).toBeLessThanOrEqual(4);
  }
  expect(bridge.upstreamSessions).toBe(1000);
  expect(childrenOf(process.pid).length - baseline).toBe(4);
  await forgotten();
  await until('the baseline', () => childrenOf(process.pid).length === baseline);
  for (const near of await bothEras(gateway.url)) {
    expect(said(await call(near, 'echo', { text: 'next' }))).toBe('next');
  }
});
