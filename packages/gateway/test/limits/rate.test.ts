import type { Peer } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { ask, legacyCall, modern, modernCall, openSession } from '../../../sdk/test/support/http-server.js';
import { createRateLimit } from '../../src/limits/rate-limit.js';
import { as, createWorker, serveLimited } from '../support/limits.js';

const peer = (principal: string | undefined, era: Peer['era'] = 'modern'): Peer => ({
  era,
  revision: era === 'modern' ? '2026-07-28' : '2025-11-25',
  info: undefined,
  capabilities: {},
  principal,
});
const ADA = peer('ada');

describe('a rate', () => {
  it('allows what a minute has, then one at a time as they come back', () => {
    const clock = new FakeClock();
    const rate = createRateLimit({ perMinute: 3, clock });
    expect([rate.take(ADA), rate.take(ADA), rate.take(ADA)]).toEqual([0, 0, 0]);
    expect(rate.take(ADA)).toBe(20_000);
    clock.advance(15_000);
    expect(rate.take(ADA)).toBe(5000);
    clock.advance(5000);
    expect([rate.take(ADA), rate.take(ADA)]).toEqual([0, 20_000]);
    clock.advance(3_600_000);
    expect([rate.take(ADA), rate.take(ADA), rate.take(ADA), rate.take(ADA)]).toEqual([0, 0, 0, 20_000]);
  });

  it('is kept in small steps where a burst is not wanted', () => {
    const clock = new FakeClock();
    const rate = createRateLimit({ perMinute: 600, burst: 1, clock });
    expect([rate.take(ADA), rate.take(ADA)]).toEqual([0, 100]);
    clock.advance(99);
    expect(rate.take(ADA)).toBe(1);
    clock.advance(1);
    expect(rate.take(ADA)).toBe(0);
  });

  it('is each principal’s own, each legacy session’s, and one of all modern clients that nobody knows', () => {
    const rate = createRateLimit({ perMinute: 1, clock: new FakeClock() });
    const session = peer(undefined, 'legacy');
    const other = peer(undefined, 'legacy');
    const takes = [ADA, peer('bob'), session, other, peer(undefined), peer(undefined), session, peer('ada')];
    expect(takes.map((each) => rate.take(each))).toEqual([0, 0, 0, 0, 0, 60_000, 60_000, 60_000]);
  });

  it('is kept to the millisecond, however odd: whoever waits as told is let in', () => {
    const clock = new FakeClock();
    const rate = createRateLimit({ perMinute: 7, clock });
    for (let n = 0; n < 7; n += 1) expect(rate.take(ADA)).toBe(0);
    for (let n = 0; n < 1000; n += 1) {
      const wait = rate.take(ADA);
      expect([8571, 8572]).toContain(wait);
      clock.advance(wait);
      expect(rate.take(ADA)).toBe(0);
    }
  });

  it('survives a clock that is set back: nobody waits longer than for a call', () => {
    let now = 10_000_000;
    const rate = createRateLimit({ perMinute: 1, clock: { now: () => now, after: () => () => {} } });
    expect(rate.take(ADA)).toBe(0);
    now -= 3_600_000;
    expect(rate.take(ADA)).toBe(60_000);
  });

  it('forgets whoever is idle, and cannot be made to remember everybody', () => {
    const clock = new FakeClock();
    const rate = createRateLimit({ perMinute: 60, clock, maxCallers: 100 });
    for (let n = 0; n < 1000; n += 1) rate.take(peer(`caller ${n}`));
    expect(rate.size).toBe(100);
    clock.advance(60_000);
    rate.take(ADA);
    expect(rate.size).toBe(1);
  });

  it.each([
    [{ perMinute: 0 }, 'rate.perMinute must be a positive number, got 0'],
    [{ perMinute: Number.NaN }, 'rate.perMinute must be a positive number, got NaN'],
    [{ perMinute: 1, burst: 0 }, 'rate.burst must be a positive whole number, got 0'],
  ])('that makes no sense is refused: %j', (options, message) => {
    expect(() => createRateLimit(options)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message }),
    );
  });
});

describe('past the rate', () => {
  it('a caller is told when to come back, in all services that share it; others are not affected', async () => {
    const clock = new FakeClock();
    const rate = createRateLimit({ perMinute: 2, clock });
    const one = await serveLimited(createWorker().server, { rate, clock });
    const two = await serveLimited(createWorker().server, { rate, clock, server: 'files' });
    const quick = (url: string, name: string) => ask(url, modernCall(1, 'quick', {}, { headers: as(name) }));
    expect((await quick(one.url, 'ada')).status).toBe(200);
    expect((await quick(two.url, 'ada')).status).toBe(200);
    const refused = await quick(two.url, 'ada');
    expect([refused.status, refused.headers['retry-after'], refused.json.error]).toEqual([
      429,
      '30',
      {
        code: -32603,
        message:
          'You call too often: a caller has 2 calls a minute (rate), and files was not asked; try again in 30 s',
        data: {
          reason: 'BUSY',
          sent: 'no',
          status: 429,
          server: 'files',
          limit: 'rate',
          retryAfterMs: 30_000,
        },
      },
    ]);
    expect((await quick(one.url, 'bob')).status).toBe(200);
    clock.advance(30_000);
    expect((await quick(one.url, 'ada')).status).toBe(200);
    // Finding out what it is costs nothing.
    expect((await ask(one.url, modern(1, 'server/discover', {}, { headers: as('ada') }))).status).toBe(200);
  });

  it('a legacy session hears it in the error', async () => {
    const clock = new FakeClock();
    const rate = createRateLimit({ perMinute: 1, clock });
    const { url } = await serveLimited(createWorker().server, { rate, clock });
    const session = await openSession(url, { headers: as('ada') });
    expect((await session.post(legacyCall(1, 'quick'))).json.result?.content[0].text).toBe('quick');
    const refused = await session.post(legacyCall(2, 'quick'));
    expect([refused.status, refused.json.error?.data]).toEqual([
      200,
      { reason: 'BUSY', sent: 'no', status: 429, server: 'weather', limit: 'rate', retryAfterMs: 60_000 },
    ]);
  });

  it('no subscription is opened, either', async () => {
    const clock = new FakeClock();
    const rate = createRateLimit({ perMinute: 1, clock });
    const limits = { maxListens: 10 };
    const { url } = await serveLimited(createWorker().server, { rate, clock, limits });
    await ask(url, modernCall(1, 'quick', {}, { headers: as('ada') }));
    const notifications = { toolsListChanged: true };
    const listen = modern(2, 'subscriptions/listen', { notifications }, { headers: as('ada') });
    expect((await ask(url, listen)).status).toBe(429);
  });
});
