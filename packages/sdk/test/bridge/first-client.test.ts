import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import { settle, until } from '../support/bridge/frames.js';

const DONE = { resultType: 'complete', content: [] };
const ONE = { name: 'one', version: '1' };
const TWO = { name: 'two', version: '2' };
const ABLE = { roots: {}, elicitation: {} };
const FORM = { message: 'm', requestedSchema: { type: 'object', properties: {} } };

describe('row 1: the session in which a bridge learns what the server is', () => {
  it.each(['modern', 'legacy'] as const)(
    'with a %s server is opened once, for the first client',
    async (era) => {
      const { near, far } = await bridgeTo(era);
      const client = await near.legacy({ info: ONE });
      client.call(1, 'a');
      const call = await far.next();
      call.on.answer(call, DONE);
      await client.next();
      expect(far.connections.length).toBe(1);
    },
  );

  it("is nobody else's, when the first client has gone before it was there", async () => {
    const { near, far } = await bridgeTo('legacy', { opens: false });
    const first = near.raw({ info: ONE });
    first.request(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: ONE });
    const probe = await far.next();
    first.vanish();
    await settle();
    const second = near.raw({ info: TWO });
    const shaken = second.handshake('2025-11-25');
    far.opens = true;
    probe.on.welcome(probe);
    await shaken;
    second.call(1, 'a');
    const call = await far.next();
    expect(call.on.opening!.params.clientInfo).toEqual(TWO);
    call.on.answer(call, DONE);
    await second.next();
  });

  it('of a modern client is not given to a legacy one, who would be known by another name and could not be asked', async () => {
    const { near, far } = await bridgeTo('legacy');
    const modern = near.modern({ info: ONE, capabilities: ABLE });
    modern.request(1, 'server/discover');
    await modern.next();
    const legacy = await near.legacy({ info: TWO, capabilities: ABLE });
    legacy.request(1, 'tools/list');
    const list = await far.next();
    expect(list.on.opening!.params.clientInfo).toEqual(TWO);
    list.on.answer(list, { tools: [] });
    await legacy.next();
    list.on.ask('q', 'elicitation/create', FORM);
    const asked = await legacy.next();
    expect(asked.method).toBe('elicitation/create');
    legacy.answer(asked, { action: 'decline' });
    expect(await far.next()).toMatchObject({ id: 'q', result: { action: 'decline' } });
  });

  it('of a legacy client is not given to a modern one, and the legacy one can still be asked', async () => {
    const { near, far } = await bridgeTo('legacy', { opens: false });
    const legacy = near.raw({ info: ONE, capabilities: ABLE });
    const shaken = legacy.handshake('2025-11-25');
    const probe = await far.next();
    const modern = near.modern({ info: TWO, capabilities: ABLE });
    modern.call(1, 'b');
    far.opens = true;
    probe.on.welcome(probe);
    await shaken;
    const theirs = await far.next();
    expect(theirs.on.opening!.params.clientInfo).not.toEqual(ONE);
    theirs.on.answer(theirs, DONE);
    await modern.next();
    legacy.request(1, 'tools/list');
    const list = await far.next();
    expect(list.on.opening!.params.clientInfo).toEqual(ONE);
    list.on.answer(list, { tools: [] });
    await legacy.next();
    list.on.ask('q', 'elicitation/create', FORM);
    legacy.answer(await legacy.next(), { action: 'decline' });
    expect(await far.next()).toMatchObject({ id: 'q', result: { action: 'decline' } });
  });

  it.each(['modern', 'legacy'] as const)(
    'of one principal is not given to another (%s server)',
    async (era) => {
      const { near, far } = await bridgeTo(era);
      const alice = near.modern({ principal: 'alice' });
      alice.request(1, 'server/discover');
      await alice.next();
      const [first] = far.stillOpen;
      for (const principal of ['bob', undefined]) {
        const other = near.modern({ ...(principal && { principal }) });
        other.call(1, 'a');
        const call = await far.next();
        expect(call.on).not.toBe(first);
        call.on.answer(call, DONE);
        await other.next();
      }
      alice.call(2, 'a');
      const own = await far.next();
      own.on.answer(own, DONE);
      await alice.next();
    },
  );

  it('is let go when its client does not come back', async () => {
    const { near, far, clock } = await bridgeTo('legacy');
    const client = near.modern();
    client.request(1, 'server/discover');
    await client.next();
    const [first] = far.stillOpen;
    clock.advance(60_000);
    await until('end of the session', () => !first!.isOpen);
    client.call(2, 'a');
    const call = await far.next();
    expect(call.on).not.toBe(first);
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(2);
  });

  it('may be asked in at once: the question waits until the client is ready for it (INIT-006)', async () => {
    const { near, far } = await bridgeTo('legacy', { opens: false });
    const client = near.raw({ info: ONE, capabilities: ABLE });
    const clientInfo = ONE;
    client.revision = '2025-11-25';
    client.request(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: ABLE, clientInfo });
    const probe = await far.next();
    probe.on.welcome(probe);
    const initialize = await far.next();
    initialize.on.welcome(initialize);
    expect((await far.next()).method).toBe('notifications/initialized');
    initialize.on.ask('r', 'roots/list');
    expect((await client.next()).id).toBe(0);
    expect(await client.rest()).toEqual([]);
    client.notify('notifications/initialized');
    const asked = await client.next();
    expect(asked.method).toBe('roots/list');
    client.answer(asked, { roots: [{ uri: 'file:///a' }] });
    expect(await far.next()).toEqual({ jsonrpc: '2.0', id: 'r', result: { roots: [{ uri: 'file:///a' }] } });
  });

  it('is opened for a server that never answers: the client hears so in time, and the next may try', async () => {
    const { near, far, clock } = await bridgeTo('legacy', { opens: false });
    const client = near.modern();
    client.request(1, 'server/discover');
    await far.next();
    for (let passed = 0; passed < 60 && client.frames.length < 2; passed += 1) {
      clock.advance(1000);
      await settle();
    }
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32603, data: { sent: 'no' } } });
    await far.rest();
    far.opens = true;
    client.request(2, 'server/discover');
    expect((await client.next()).result.supportedVersions).toEqual(['2026-07-28']);
  });

  it('tells of a server without a name: it has one all the same (INIT-003)', async () => {
    const { near, far } = await bridgeTo('modern', { opens: false });
    const client = near.raw();
    const shaken = client.handshake('2025-11-25');
    const probe = await far.next();
    probe.on.answer(probe, {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: {},
      ttlMs: 0,
      cacheScope: 'public',
    });
    expect((await shaken).result).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: { name: 'far', version: expect.any(String) },
    });
  });
});
