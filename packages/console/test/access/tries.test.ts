import { proxyTrust } from '@isthmus/sdk/internal/transport/http-server/admission/trust-proxy.js';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { AccessControl } from '../../src/access/access.js';
import { sourceOf } from '../../src/access/try-limit.js';

const trusts = proxyTrust(['loopback', '10.0.0.0/8']);
const from = (remote: string, forwarded?: string) => ({
  remote,
  header: (name: string) => (name === 'x-forwarded-for' ? forwarded : undefined),
});
const one = (address: string) => ({ address, isShared: false });
const many = (address: string) => ({ address, isShared: true });

function accessFor(clock: FakeClock): AccessControl {
  return new AccessControl({
    clock,
    authenticate: async ({ apiKey }) =>
      apiKey === 'right' ? { who: 'key:ada', levels: ['look'] } : undefined,
  });
}

describe('wrong keys', () => {
  it('are five in a minute from one address, and others are not held up', async () => {
    const clock = new FakeClock();
    const access = accessFor(clock);
    for (let tries = 0; tries < 5; tries += 1)
      await expect(access.enter({ apiKey: 'wrong' }, one('10.0.0.1'))).rejects.toMatchObject({ status: 401 });
    await expect(access.enter({ apiKey: 'right' }, one('10.0.0.1'))).rejects.toMatchObject({ status: 429 });
    expect((await access.enter({ apiKey: 'right' }, one('10.0.0.2'))).who).toBe('key:ada');
    clock.advance(60_001);
    expect((await access.enter({ apiKey: 'right' }, one('10.0.0.1'))).who).toBe('key:ada');
  });

  it('are 600 in a minute from an address of many people', async () => {
    const access = accessFor(new FakeClock());
    const proxy = many('127.0.0.1');
    for (let tries = 0; tries < 599; tries += 1)
      await expect(access.enter({ apiKey: 'wrong' }, proxy)).rejects.toMatchObject({ status: 401 });
    expect((await access.enter({ apiKey: 'right' }, proxy)).who).toBe('key:ada');
    await expect(access.enter({ apiKey: 'wrong' }, proxy)).rejects.toMatchObject({ status: 401 });
    await expect(access.enter({ apiKey: 'right' }, proxy)).rejects.toMatchObject({ status: 429 });
  });
});

describe('where a request comes from', () => {
  it.each([
    // The proxy wrote the last one. The client invented the one before.
    ['127.0.0.1', '203.0.113.9, 198.51.100.7', one('198.51.100.7')],
    ['::ffff:127.0.0.1', '198.51.100.7, 10.1.2.3', one('198.51.100.7')],
    ['10.1.2.3', '198.51.100.7:4711', one('198.51.100.7')],
    ['10.1.2.3', '[2001:db8:1:2:3:4:5:6]:80', one('2001:db8:1:2::/64')],
    ['10.1.2.3', '2001:0db8::9', one('2001:db8:0:0::/64')],
    ['10.1.2.3', undefined, many('10.1.2.3')],
    ['10.1.2.3', 'unknown', many('10.1.2.3')],
    ['10.1.2.3', '10.9.9.9', many('10.1.2.3')],
    // A client that is not a proxy invents all of it.
    ['198.51.100.7', '203.0.113.9', one('198.51.100.7')],
  ])('%s with %s', (remote, forwarded, source) => {
    expect(sourceOf(from(remote, forwarded), trusts)).toEqual(source);
  });

  it('is an address of many people where no proxy is trusted', () => {
    expect(sourceOf(from('127.0.0.1', '203.0.113.9'), undefined)).toEqual(many('127.0.0.1'));
    expect(sourceOf(from('127.0.0.1'), proxyTrust(['10.0.0.0/8']))).toEqual(many('127.0.0.1'));
  });
});
