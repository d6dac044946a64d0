import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';

describe('row 13: ping', () => {
  it.each(['modern', 'legacy'] as const)(
    'of a legacy client is answered here, before a %s server (PING-001)',
    async (era) => {
      const { near, far } = await bridgeTo(era);
      const client = await near.legacy();
      client.request('p', 'ping');
      expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 'p', result: {} });
      expect(await far.rest()).toEqual([]);
    },
  );

  it('of a legacy server is answered here, whoever calls (PING-001)', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern();
    client.call(1, 'a');
    const call = await far.next();
    call.on.ask('ping-1', 'ping');
    expect(await far.next()).toEqual({ jsonrpc: '2.0', id: 'ping-1', result: {} });
    expect(await client.rest()).toEqual([]);
    call.on.answer(call, { content: [] });
    await client.next();
    call.on.ask(0, 'ping');
    expect(await far.next()).toEqual({ jsonrpc: '2.0', id: 0, result: {} });
  });

  it('of a modern client does not exist (PING-004)', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern();
    client.request(1, 'ping');
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32601 } });
    expect(await far.rest()).toEqual([]);
  });
});
