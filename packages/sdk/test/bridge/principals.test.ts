import { describe, expect, it } from 'vitest';
import { upstreamAt } from '../../src/client/connect.js';
import { bridgeTo } from '../support/bridge/between.js';
import type { FarConnection } from '../support/bridge/far.js';
import { until } from '../support/bridge/frames.js';
import type { NearClient } from '../support/bridge/near.js';

const DONE = { resultType: 'complete', content: [] };
const everybody: NonNullable<Parameters<typeof bridgeTo>[1]> = {
  upstream: (far, clock) => ({ ...upstreamAt(far, { cache: false, clock }), serves: 'everybody' }),
};

describe.each(['modern', 'legacy'] as const)('row 14: sessions with a %s server', (era) => {
  async function placeOf(
    client: NearClient,
    far: Awaited<ReturnType<typeof bridgeTo>>['far'],
  ): Promise<FarConnection> {
    client.call('c', 'a');
    const call = await far.next();
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe('c');
    return call.on;
  }

  it('are never shared by two principals, whatever they say of themselves (META-012)', async () => {
    const { near, far } = await bridgeTo(era);
    const info = { name: 'same', version: '1' };
    const alice = await placeOf(near.modern({ principal: 'alice', info }), far);
    const bob = await placeOf(near.modern({ principal: 'bob', info }), far);
    const nobody = await placeOf(near.modern({ info }), far);
    const again = await placeOf(
      near.modern({ principal: 'alice', info: { name: 'other', version: '2' } }),
      far,
    );
    expect(new Set([alice, bob, nobody]).size).toBe(3);
    expect(again).toBe(alice);
  });

  it('of legacy clients are their own, also of one principal', async () => {
    const { near, far } = await bridgeTo(era);
    const one = await placeOf(await near.legacy({ principal: 'alice' }), far);
    const two = await placeOf(await near.legacy({ principal: 'alice' }), far);
    const three = await placeOf(near.modern({ principal: 'alice' }), far);
    expect(new Set([one, two, three]).size).toBe(3);
  });

  it('are refused to a second principal where there is one process for everybody', async () => {
    const { near, far } = await bridgeTo(era, everybody);
    await placeOf(near.modern({ principal: 'alice' }), far);
    const before = far.connections.length;
    for (const principal of ['bob', undefined]) {
      const client = near.modern({ ...(principal && { principal }) });
      client.call(1, 'a');
      expect(await client.next()).toMatchObject({ id: 1, error: { code: -32603 } });
      const listening = near.modern({ ...(principal && { principal }) });
      listening.request(1, 'subscriptions/listen', { notifications: {} });
      expect(await listening.next()).toMatchObject({ id: 1, error: { code: -32603 } });
    }
    expect(await far.rest()).toEqual([]);
    expect(far.connections.length).toBe(before);
  });

  it('are shared by all where the server is declared to keep nothing', async () => {
    const { near, far } = await bridgeTo(era, { ...everybody, bridge: { stateless: true } });
    await placeOf(near.modern({ principal: 'alice' }), far);
    await placeOf(near.modern({ principal: 'bob' }), far);
  });

  it('are closed when nobody has used them for a while, and opened again', async () => {
    const { near, far, clock, bridge } = await bridgeTo(era, { bridge: { idleMs: 60_000 } });
    const client = near.modern();
    const first = await placeOf(client, far);
    clock.advance(59_000);
    expect(first.isOpen).toBe(true);
    await placeOf(client, far);
    clock.advance(200_000);
    await until('end of the session', () => !first.isOpen);
    expect(bridge.upstreamSessions).toBe(0);
    const second = await placeOf(client, far);
    expect(second).not.toBe(first);
  });

  it('are not closed while a call runs or somebody listens', async () => {
    const { near, far, clock } = await bridgeTo(era, {
      bridge: { idleMs: 60_000, timeoutMs: 100_000_000 },
      capabilities: { tools: { listChanged: true } },
    });
    const client = near.modern();
    client.call(1, 'a');
    const call = await far.next();
    clock.advance(200_000);
    await far.rest();
    expect(call.on.isOpen).toBe(true);
    call.on.answer(call, DONE);
    await client.next();
    client.request('L', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    if (era === 'modern') {
      const listen = await far.next();
      listen.on.acknowledge(listen);
    }
    await client.next();
    clock.advance(200_000);
    await far.rest();
    expect(call.on.isOpen).toBe(true);
  });

  it('are limited in number, and whoever is too many is told so', async () => {
    const { near, far } = await bridgeTo(era, { bridge: { maxUpstreamSessions: 1 } });
    await placeOf(near.modern({ principal: 'alice' }), far);
    const bob = near.modern({ principal: 'bob' });
    bob.call(1, 'a');
    expect((await bob.next()).error).toMatchObject({ code: -32603, data: { reason: 'BUSY', sent: 'no' } });
    expect(await far.rest()).toEqual([]);
  });
});
