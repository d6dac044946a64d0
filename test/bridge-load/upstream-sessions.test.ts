/** How many may have a place at the far side, and what becomes of those who do not use it. */

import { CONVERSATION } from '@isthmus/sdk/bridge';
import { expect, it } from 'vitest';
import { type Seen, until } from '../../packages/sdk/test/support/host-lifetime.js';
import { ask, initialize, legacy, openSession } from '../../packages/sdk/test/support/http-server.js';
import { FakeClock } from '../support/fake-clock.js';
import { dial } from '../support/line-socket.js';
import { call, outcome } from './near/near.js';
import { keepFar, program } from './support/far.js';
import { stage } from './support/stage.js';

const lines = { args: [program('legacy-lines.mjs')] };

const busy = (seats: number) => ({
  code: -32603,
  message: `far is busy: ${seats} sessions are open, which is the limit; try again later`,
  data: { reason: 'BUSY', sent: 'no' },
});

it('a client that finds no seat is told so, and gets one when somebody has left', async () => {
  const { host } = keepFar('legacy', lines);
  const { enter, url, socket, bridge } = await stage(host.upstream('far'), {
    bridge: { maxUpstreamSessions: 2 },
  });
  const first = await enter('legacy HTTP', 'first');
  const second = await enter('legacy socket', 'second');

  const third = await dial(socket);
  third.send(initialize('again'));
  expect(await third.answer('again')).toEqual({ jsonrpc: '2.0', id: 'again', error: busy(2) });
  const session = await ask(url, legacy(initialize('init')));
  expect(session.json).toEqual({ jsonrpc: '2.0', id: 'init', error: busy(2) });
  expect(session.headers['mcp-session-id']).toBeUndefined();
  const modern = await enter('modern HTTP', 'modern');
  expect((await call(modern, 0, 'echo', { text: 'a' })).error).toEqual(busy(2));
  expect(bridge.upstreamSessions).toBe(2);

  await first.leave();
  await until('a seat is free', () => bridge.upstreamSessions === 1);
  third.send(initialize('and again'));
  expect((await third.answer('and again')).result.protocolVersion).toBe('2025-11-25');
  await second.leave();
  await until('a seat is free', () => bridge.upstreamSessions === 1);
  expect(outcome(await call(modern, 1, 'echo', { text: 'a' }))).toEqual([1, 'a']);
});

it('clients that come before it is known what the server is are refused in the same way', async () => {
  const { host } = keepFar('legacy', lines);
  const { socket, bridge } = await stage(host.upstream('far'), { bridge: { maxUpstreamSessions: 2 } });
  const clients = await Promise.all(Array.from({ length: 5 }, () => dial(socket)));
  for (const client of clients) client.send(initialize(0));
  const answers = await Promise.all(clients.map((client) => client.answer(0)));
  expect(answers.filter(({ result }) => result)).toHaveLength(2);
  expect(answers.flatMap(({ error }) => error ?? [])).toEqual([busy(2), busy(2), busy(2)]);
  expect(bridge.upstreamSessions).toBe(2);
});

it('500 sessions that are opened and left alone take no more seats than there may be sessions, and one process', {
  timeout: 120_000,
}, async () => {
  const clock = new FakeClock();
  const { host, seen } = keepFar('legacy', lines);
  const limits = { clock, maxSessions: 50, sessionIdleMs: 60_000 };
  const { url, bridge, enter } = await stage(host.upstream('far'), { http: limits });
  let most = 0;
  for (let at = 0; at < 10; at += 1) {
    await Promise.all(Array.from({ length: 50 }, () => openSession(url)));
    most = Math.max(most, bridge.upstreamSessions);
    // Old enough to make room for the next.
    clock.advance(20_000);
  }
  expect(most).toBe(50);
  expect(seen.all('start')).toHaveLength(1);
  clock.advance(60_000);
  await until('all seats are free', () => bridge.upstreamSessions === 0);
  expect(outcome(await call(await enter('legacy HTTP', 'next'), 0, 'echo', { text: 'a' }))).toEqual([0, 'a']);
});

it('500 sessions with a process each have four processes, and are forgotten with their seats', async () => {
  const clock = new FakeClock();
  const { host, seen } = keepFar('legacy', { ...lines, processes: 'per-conversation', maxProcesses: 4 });
  const limits = { clock, sessionIdleMs: 60_000 };
  const { url, bridge, enter } = await stage(host.upstream('far'), { http: limits });
  for (let at = 0; at < 10; at += 1) {
    await Promise.all(Array.from({ length: 50 }, () => openSession(url)));
  }
  expect(bridge.upstreamSessions).toBe(500);
  await until('four run', () => alive(seen).at(-1) === 4);
  clock.advance(60_000);
  await until('all seats are free', () => bridge.upstreamSessions === 0);
  await until('all processes have ended', () => alive(seen).at(-1) === 0, 20_000);
  expect(Math.max(...alive(seen))).toBe(4);
  // Whoever had waited for a place was not given one any more.
  expect(seen.all('start').length).toBeLessThan(20);
  expect(outcome(await call(await enter('legacy HTTP', 'next'), 0, 'echo', { text: 'a' }))).toEqual([0, 'a']);
});

it('a modern client that invents conversations gets as many as there are seats, until they are swept', async () => {
  const clock = new FakeClock();
  const { host, seen } = keepFar('legacy', lines);
  const limits = { clock, maxUpstreamSessions: 50, idleMs: 60_000 };
  const { enter, bridge } = await stage(host.upstream('far'), { bridge: limits });
  const near = await enter('modern socket', 'near');
  const echo = (name: string) => call(near, name, 'echo', { text: name }, { [CONVERSATION]: name });
  const answers = await Promise.all(Array.from({ length: 500 }, (_, at) => echo(`c${at}`)));
  expect(answers.filter(({ result }) => result)).toHaveLength(50);
  expect(answers.flatMap(({ error }) => error ?? [])).toEqual(Array.from({ length: 450 }, () => busy(50)));
  expect(bridge.upstreamSessions).toBe(50);
  clock.advance(120_000);
  await until('they are swept', () => bridge.upstreamSessions === 0);
  expect(outcome(await echo('later'))).toEqual(['later', 'later']);
  expect(seen.all('start')).toHaveLength(1);
});

/** How many processes there were, after each start and each end. */
function alive({ events }: Seen): number[] {
  let now = 0;
  return events.map(({ kind }) => {
    now += kind === 'start' ? 1 : kind === 'exit' ? -1 : 0;
    return now;
  });
}
