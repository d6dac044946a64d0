import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';

const ABLE = { roots: { listChanged: true } };

describe('row 22: changes of roots', () => {
  it('are nothing that a modern server hears of; it is given the new ones when it asks', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ capabilities: ABLE });
    for (const uri of ['file:///old', 'file:///new']) {
      client.call(uri, 'a');
      const first = await far.next();
      first.on.answer(first, {
        resultType: 'input_required',
        inputRequests: { r: { method: 'roots/list' } },
      });
      client.answer(await client.next(), { roots: [{ uri }] });
      const second = await far.next();
      expect(second.params.inputResponses.r.roots).toEqual([{ uri }]);
      second.on.answer(second, { resultType: 'complete', content: [] });
      await client.next();
      client.notify('notifications/roots/list_changed');
      expect(await far.rest()).toEqual([]);
    }
  });

  it('of a legacy client reach a legacy server, which was told that they would', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = await near.legacy({ capabilities: ABLE });
    client.call(1, 'a');
    const call = await far.next();
    expect(call.on.opening!.params.capabilities).toEqual(ABLE);
    client.notify('notifications/roots/list_changed');
    expect(await far.next()).toEqual({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
    call.on.answer(call, { content: [] });
    await client.next();
  });
});

describe('row 22: a legacy server that asks for roots as soon as it is connected to', () => {
  it('gets those of a legacy client', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = await near.legacy({ capabilities: ABLE });
    await far.rest();
    const [server] = far.stillOpen;
    server!.ask('r', 'roots/list');
    const asked = await client.next();
    expect(asked.method).toBe('roots/list');
    client.answer(asked, { roots: [{ uri: 'file:///a' }] });
    expect(await far.next()).toEqual({ jsonrpc: '2.0', id: 'r', result: { roots: [{ uri: 'file:///a' }] } });
  });

  it('gets no answer from a modern client, which cannot be asked: -32601 or none', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern({ capabilities: { roots: {} } });
    client.request(1, 'tools/list');
    const list = await far.next();
    list.on.answer(list, { tools: [] });
    await client.next();
    list.on.ask('r', 'roots/list');
    const { id, error, result } = await far.next();
    expect([id, error?.code ?? result.roots]).toBeOneOf([
      ['r', -32601],
      ['r', []],
    ]);
    expect(await client.rest()).toEqual([]);
  });
});
