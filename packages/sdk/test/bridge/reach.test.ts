import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import { SERVER_INFO, settle, until } from '../support/bridge/frames.js';

describe('while the server is still starting', () => {
  it('row 28: server/discover is answered as soon as the server can be asked', async () => {
    const { near, far } = await bridgeTo('legacy', { opens: false });
    const client = near.modern();
    client.request('d', 'server/discover');
    const probe = await far.next();
    expect(await client.rest()).toEqual([]);
    probe.on.welcome(probe);
    const initialize = await far.next();
    expect(await client.rest()).toEqual([]);
    initialize.on.welcome(initialize);
    const { id, result } = await client.next();
    expect([id, result.supportedVersions]).toEqual(['d', ['2026-07-28']]);
    await far.rest();
  });

  it('row 28: initialize is answered as soon as the server can be asked', async () => {
    const { near, far } = await bridgeTo('modern', { opens: false });
    const client = near.raw();
    const shaken = client.handshake('2025-11-25');
    const probe = await far.next();
    expect(await client.rest()).toEqual([]);
    probe.on.welcome(probe);
    expect((await shaken).result.serverInfo).toEqual({ name: 'far', version: '9' });
  });

  it('row 13: a legacy ping does not wait (PING-001)', async () => {
    const { near, far } = await bridgeTo('modern', { opens: false });
    const client = near.raw();
    client.send({ jsonrpc: '2.0', id: 7, method: 'ping' });
    expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
    const probe = await far.next();
    probe.on.welcome(probe);
  });

  it('all that came meanwhile is done, in order', async () => {
    const { near, far } = await bridgeTo('legacy', { opens: false });
    const client = near.modern();
    client.request(1, 'server/discover');
    client.call(2, 'a');
    client.request(3, 'server/discover');
    const probe = await far.next();
    far.opens = true;
    probe.on.welcome(probe);
    expect((await client.next()).id).toBe(1);
    expect((await client.next()).id).toBe(3);
    const call = await far.next();
    expect(call.method).toBe('tools/call');
    call.on.answer(call, { content: [] });
    expect((await client.next()).id).toBe(2);
  });

  it('a handshake that did not wait for its answer counts all the same', async () => {
    const { near, far } = await bridgeTo('modern', { opens: false });
    const client = near.raw({ capabilities: { roots: {} } });
    client.revision = '2025-11-25';
    const { capabilities, info: clientInfo } = client;
    client.request(0, 'initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
    client.notify('notifications/initialized');
    client.call(1, 'a');
    const probe = await far.next();
    far.opens = true;
    probe.on.welcome(probe);
    expect((await client.next()).id).toBe(0);
    const call = await far.next();
    const inputRequests = { r: { method: 'roots/list' } };
    call.on.answer(call, { resultType: 'input_required', inputRequests, requestState: 's' });
    const asked = await client.next();
    expect(asked.method).toBe('roots/list');
    client.answer(asked, { roots: [] });
    const retry = await far.next();
    retry.on.answer(retry, { resultType: 'complete', content: [] });
    expect((await client.next()).id).toBe(1);
  });

  it('row 16: a request that is taken back meanwhile is never made', async () => {
    const { near, far } = await bridgeTo('modern', { opens: false });
    const client = near.modern();
    client.call(1, 'a');
    const probe = await far.next();
    client.cancel(1);
    probe.on.welcome(probe);
    expect(await far.rest()).toEqual([]);
    expect(await client.rest()).toEqual([]);
  });
});

describe('a bridge that is closed while the server is still starting', () => {
  it('lets go of the server, and answers who waited', async () => {
    const { near, far, bridge } = await bridgeTo('modern', { opens: false });
    const client = near.modern();
    client.request(1, 'server/discover');
    const probe = await far.next();
    await bridge.close();
    await until('end of the connection', () => !probe.on.isOpen);
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32603 } });
  });
});

describe('while the server cannot be reached', () => {
  it('row 1: initialize fails with the reason, and the next one tries again', async () => {
    const { near, far } = await bridgeTo('modern');
    far.unreachable = 1;
    const client = near.raw();
    client.revision = '2025-11-25';
    const { capabilities, info: clientInfo } = client;
    const opening = { protocolVersion: '2025-11-25', capabilities, clientInfo };
    client.request(1, 'initialize', opening);
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: -32603,
        message: expect.stringContaining('connection refused'),
        data: { reason: 'CONNECTION_CLOSED', sent: 'no' },
      },
    });
    client.request(2, 'initialize', opening);
    const { id, result } = await client.next();
    expect([id, result.serverInfo]).toEqual([2, { name: 'far', version: '9' }]);
  });

  it('row 1: server/discover fails with the reason, and the next one tries again', async () => {
    const { near, far } = await bridgeTo('legacy');
    far.unreachable = 1;
    const client = near.modern();
    client.request(1, 'server/discover');
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: -32603,
        message: expect.stringContaining('connection refused'),
        data: { reason: 'CONNECTION_CLOSED', sent: 'no' },
      },
    });
    client.request(2, 'server/discover');
    const { id, result } = await client.next();
    expect([id, result._meta]).toEqual([2, { [SERVER_INFO]: { name: 'far', version: '9' } }]);
  });

  it('a call that could not leave says so, and the next one is made', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy();
    for (const connection of far.stillOpen) connection.vanish();
    await settle();
    far.unreachable = 1;
    client.call(1, 'a');
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: -32603,
        message: expect.stringContaining('connection refused'),
        data: { reason: 'CONNECTION_CLOSED', sent: 'no' },
      },
    });
    client.call(2, 'a');
    const call = await far.next();
    call.on.answer(call, { resultType: 'complete', content: [] });
    expect((await client.next()).id).toBe(2);
  });
});

describe.each(['modern', 'legacy'] as const)('when a %s server is lost', (era) => {
  it('row 23: a call that may have run fails, and is not made again', async () => {
    const { near, far } = await bridgeTo(era);
    const clients = [await near.legacy(), near.modern()];
    for (const client of clients) {
      client.call(1, 'a');
      const call = await far.next();
      call.on.vanish();
      const { error } = await client.next();
      expect(error).toMatchObject({ code: -32603, data: { reason: 'CONNECTION_CLOSED', sent: 'maybe' } });
      expect(await far.rest()).toEqual([]);
      client.call(2, 'a');
      const next = await far.next();
      expect(next.on).not.toBe(call.on);
      next.on.answer(next, { resultType: 'complete', content: [] });
      expect((await client.next()).result.content).toEqual([]);
    }
  });

  it('a list that was being read is read from the next one', async () => {
    const { near, far } = await bridgeTo(era);
    const client = near.modern();
    client.request(1, 'tools/list');
    (await far.next()).on.vanish();
    const list = await far.next();
    expect(list.method).toBe('tools/list');
    list.on.answer(list, { resultType: 'complete', tools: [] });
    expect((await client.next()).result.tools).toEqual([]);
  });
});
