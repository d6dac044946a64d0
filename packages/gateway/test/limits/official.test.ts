import { connect } from '@isthmus/sdk';
import { http } from '@isthmus/sdk/http';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { until } from '../../../sdk/test/support/http-server.js';
import { createRateLimit } from '../../src/limits/rate-limit.js';
import { as, createWorker, serveLimited, work } from '../support/limits.js';
import { connectV1, connectV2 } from '../support/official-clients.js';

describe('the official v2 client (modern)', () => {
  it('is told with 429 and Retry-After when it calls too often', async () => {
    const rate = createRateLimit({ perMinute: 1, clock: new FakeClock() });
    const { url } = await serveLimited(createWorker().server, { rate });
    const client = await connectV2(url, as('ada'));
    expect(await client.call('quick')).toBe('quick');
    await expect(client.call('quick')).rejects.toThrow(/You call too often: a caller has 1 calls a minute/);
    expect(client.putOff).toEqual([[429, '60']]);
  });
});

describe('the official v1 client (legacy)', () => {
  it('is told with an error and data.retryAfterMs when it calls too often, and its session goes on', async () => {
    const clock = new FakeClock();
    const rate = createRateLimit({ perMinute: 1, clock });
    const { url } = await serveLimited(createWorker().server, { rate });
    const client = await connectV1(url, as('ada'));
    expect(await client.call('quick')).toBe('quick');
    const refused = await client.call('quick').catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: -32603,
      message: expect.stringContaining('You call too often'),
      data: { status: 429, limit: 'rate', retryAfterMs: 60_000 },
    });
    clock.advance(60_000);
    expect(await client.call('quick')).toBe('quick');
  });
});

it('clients of both eras are served while one caller floods', async () => {
  const { server, endAll } = createWorker();
  const limits = { maxConcurrent: 4, maxConcurrentPerCaller: 2, maxQueue: 10 };
  const { url, load, refusals } = await serveLimited(server, { limits });
  const flood = Array.from({ length: 40 }, (_, n) => work(url, 'ada', `a${n}`));
  await until('flood', () => load().waiting === 10 && refusals.length === 28);
  const v1 = await connectV1(url, as('bob'));
  const v2 = await connectV2(url, as('eve'));
  for (let n = 0; n < 10; n += 1) {
    expect(await Promise.all([v1.call('quick'), v2.call('quick')])).toEqual(['quick', 'quick']);
  }
  expect([v1.putOff, v2.putOff]).toEqual([[], []]);
  endAll();
  const outcomes = await Promise.all(flood);
  const done = outcomes.filter((outcome) => typeof outcome === 'string');
  const refused = outcomes.filter((outcome) => typeof outcome !== 'string');
  expect(refused.every(({ status }) => status === 429)).toBe(true);
  expect([done.length, refused.length]).toEqual([12, 28]);
});

it('our own client waits as it is told, and the call is made', async () => {
  const rate = createRateLimit({ perMinute: 60, burst: 1 });
  const { url, refusals } = await serveLimited(createWorker().server, { rate });
  const client = await connect(http(url, { headers: as('ada') }));
  await client.callTool('quick');
  const { content } = await client.callTool('quick');
  expect(content).toEqual([{ type: 'text', text: 'quick' }]);
  expect(refusals).toHaveLength(1);
  await client.close();
});
