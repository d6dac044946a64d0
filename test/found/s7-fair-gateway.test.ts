import { createRateLimit } from '@isthmus/gateway/internal/limits/rate-limit.js';
import { createServer, type Service } from '@isthmus/sdk';
import type { SessionKeeper } from '@isthmus/sdk/internal/exchange/call.js';
import { describe, expect, it } from 'vitest';
import { createWorker, serveLimited } from '../../packages/gateway/test/support/limits.js';
import {
  ask,
  initialize,
  legacy,
  legacyCall,
  modern,
  modernCall,
  open,
  openSession,
  until,
} from '../../packages/sdk/test/support/http-server.js';
import { FakeClock } from '../support/fake-clock.js';

const MALLORY = '127.0.0.66';
const BOB = '127.0.0.2';
const KEEPER: SessionKeeper = {
  begin() {},
  async setLogLevel() {},
  async subscribe() {},
  async unsubscribe() {},
  rootsChanged() {},
  end() {},
};

/** A service that keeps something for each session, as a bridge does. */
function keeping(): Service {
  const server = createServer({ name: 'keeping', version: '1' });
  server.tool('quick', {}, () => 'quick');
  return { ...server, session: () => KEEPER };
}

describe('S7: rate limits count openings', () => {
  it('S7: initialize is refused past the rate, and opens nothing', async () => {
    const rate = createRateLimit({ perMinute: 3, clock: new FakeClock() });
    const { url } = await serveLimited(keeping(), { rate }, {});
    const answers = [];
    for (let id = 1; id <= 5; id += 1) answers.push(await ask(url, legacy(initialize(id))));
    expect(answers.map(({ headers }) => headers['mcp-session-id'] !== undefined)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(answers[4]!.json.error?.data).toMatchObject({ limit: 'rate', status: 429, retryAfterMs: 20_000 });
    expect(answers[4]!.headers['retry-after']).toBe('20');
  });

  it('S7: a new session of the same address brings no new calls, and another address has its own', async () => {
    const rate = createRateLimit({ perMinute: 4, clock: new FakeClock() });
    const { url } = await serveLimited(keeping(), { rate }, {});
    const first = await openSession(url, { from: MALLORY });
    expect((await first.post(legacyCall(1, 'quick'))).json.result).toBeDefined();
    const second = await openSession(url, { from: MALLORY });
    expect((await second.post(legacyCall(1, 'quick'))).json.result).toBeDefined();
    expect((await second.post(legacyCall(2, 'quick'))).json.error?.data).toMatchObject({ limit: 'rate' });
    expect((await ask(url, { ...modernCall(3, 'quick'), from: MALLORY })).status).toBe(429);
    expect((await ask(url, { ...modernCall(3, 'quick'), from: BOB })).status).toBe(200);
  });
});

describe('S7: the queue of a server is shared between addresses, then between sessions', () => {
  it('S7: many sessions of one address have one turn together', async () => {
    const worker = createWorker();
    const { url, load } = await serveLimited(worker.server, { limits: { maxConcurrent: 1 } }, {});
    const work = (label: string) => legacyCall(label, 'work', { label });
    const mallory = await Promise.all([1, 2, 3, 4].map(() => openSession(url, { from: MALLORY })));
    const answers = [mallory[0]!.post(work('m0'))];
    await until('the first', () => worker.begun.length === 1);
    for (const [at, session] of mallory.entries()) {
      answers.push(session.post(work(`m${at + 1}`)));
      await until('its place', () => load().waiting === at + 1);
    }
    const bob = await openSession(url, { from: BOB });
    for (const label of ['b1', 'b2']) {
      answers.push(bob.post(work(label)));
      await until('its place', () => load().waiting === answers.length - 1);
    }
    for (const label of ['m0', 'm1', 'b1', 'm2', 'b2', 'm3', 'm4']) await worker.end(label);
    await Promise.all(answers);
    expect(worker.begun).toEqual(['m0', 'm1', 'b1', 'm2', 'b2', 'm3', 'm4']);
  });

  it('S7: a full queue makes room for the address that has less in it', async () => {
    const worker = createWorker();
    const limits = { maxConcurrent: 1, maxQueue: 4 };
    const { url, load } = await serveLimited(worker.server, { limits }, {});
    const work = (label: string, from: string) => ask(url, { ...modernCall(label, 'work', { label }), from });
    const mallory = ['m0', 'm1', 'm2', 'm3', 'm4'].map((label) => work(label, MALLORY));
    await until('a full queue', () => load().waiting === 4);
    const bob = work('b', BOB);
    const refused = await Promise.race(mallory);
    expect(refused.status).toBe(503);
    worker.endAll();
    expect((await bob).status).toBe(200);
  });
});

describe('S7: subscriptions of a server are shared between clients', () => {
  it('S7: the client that has most gives one up for a client that has none', async () => {
    const server = createServer({ name: 'changing', version: '1', announce: ['tools'] });
    const { url, load } = await serveLimited(server, { limits: { maxListens: 3 } }, {});
    const listen = (id: number, from: string) =>
      open(url, {
        ...modern(id, 'subscriptions/listen', { notifications: { toolsListChanged: true } }),
        from,
      });
    const first = await listen(1, MALLORY);
    await first.next();
    for (const id of [2, 3]) await (await listen(id, MALLORY)).next();
    expect((await listen(4, MALLORY)).status).toBe(503);
    const bob = await listen(5, BOB);
    await bob.next();
    await first.end();
    expect(first.messages.at(-1)).toMatchObject({ id: 1, result: { resultType: 'complete' } });
    await until('three', () => load().listens === 3);
    expect(bob.over).toBe(false);
  });
});
