import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import type { Era } from '../support/bridge/frames.js';

const DONE = { resultType: 'complete', content: [] };
const CELLS: [near: Era, far: Era][] = [
  ['legacy', 'modern'],
  ['modern', 'legacy'],
  ['legacy', 'legacy'],
  ['modern', 'modern'],
];

describe.each(CELLS)('row 15: progress for a %s client before a %s server', (near, far) => {
  async function connected() {
    const between = await bridgeTo(far);
    const open = async () => (near === 'legacy' ? between.near.legacy() : between.near.modern());
    return { ...between, open, client: await open() };
  }

  it.each(['p', '', 0, 17])(
    'has the token of the client, %j, and another one over there',
    async (progressToken) => {
      const { client, far: server } = await connected();
      client.call(1, 'a', {}, { progressToken });
      const call = await server.next();
      expect(call.params._meta.progressToken).toEqual(expect.any(Number));
      call.on.progress(call, 0.5, { total: 2, message: 'half way' });
      expect(await client.next()).toEqual({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress: 0.5, total: 2, message: 'half way' },
      });
      call.on.answer(call, DONE);
      await client.next();
    },
  );

  it('is not asked for when the client does not', async () => {
    const { client, far: server } = await connected();
    client.call(1, 'a');
    const call = await server.next();
    expect(call.params._meta ?? {}).not.toHaveProperty('progressToken');
    call.on.answer(call, DONE);
    await client.next();
  });

  it('of calls with the same token, of two clients, is kept apart (PROG-002)', async () => {
    const { open, client, far: server } = await connected();
    const other = await open();
    client.call(1, 'one', {}, { progressToken: 't' });
    other.call(1, 'two', {}, { progressToken: 't' });
    const calls = [await server.next(), await server.next()];
    const [one, two] = ['one', 'two'].map((name) => calls.find(({ params }) => params.name === name)!);
    one!.on.progress(one!, 1);
    two!.on.progress(two!, 2);
    expect((await client.next()).params).toEqual({ progressToken: 't', progress: 1 });
    expect((await other.next()).params).toEqual({ progressToken: 't', progress: 2 });
    for (const call of calls) call.on.answer(call, DONE);
    await Promise.all([client.next(), other.next()]);
  });

  it('that does not rise is dropped (PROG-004)', async () => {
    const { client, far: server } = await connected();
    client.call(1, 'a', {}, { progressToken: 't' });
    const call = await server.next();
    for (const value of [1, 1, 0.5, 3, 2]) call.on.progress(call, value);
    call.on.answer(call, DONE);
    expect((await client.rest()).map(({ id, params }) => params?.progress ?? id)).toEqual([1, 3, 1]);
  });

  it('after the answer leads nowhere (PROG-008)', async () => {
    const { client, far: server } = await connected();
    client.call(1, 'a', {}, { progressToken: 't' });
    const call = await server.next();
    call.on.answer(call, DONE);
    call.on.progress(call, 5);
    expect((await client.rest()).map(({ id }) => id)).toEqual([1]);
  });

  it('of an unknown token is dropped (PROG-007)', async () => {
    const { client, far: server } = await connected();
    client.call(1, 'a', {}, { progressToken: 't' });
    const call = await server.next();
    for (const progressToken of ['t', 't2', 999, 1.5]) {
      call.on.notify('notifications/progress', { progressToken, progress: 1 });
    }
    expect(await client.rest()).toEqual([]);
    call.on.answer(call, DONE);
    await client.next();
  });

  it('gives a call more time', async () => {
    const between = await bridgeTo(far, { bridge: { timeoutMs: 1000, maxTimeoutMs: 2500 } });
    const client = near === 'legacy' ? await between.near.legacy() : between.near.modern();
    client.call(1, 'a', {}, { progressToken: 't' });
    const call = await between.far.next();
    for (const value of [1, 2]) {
      between.clock.advance(900);
      call.on.progress(call, value);
      await client.next();
    }
    between.clock.advance(699);
    expect(await client.rest()).toEqual([]);
    between.clock.advance(1);
    expect(await client.next()).toMatchObject({
      id: 1,
      error: { code: -32603, data: { reason: 'TIMED_OUT' } },
    });
    expect(await between.far.next()).toMatchObject({ params: { requestId: call.id } });
  });
});

describe('row 15: progress through rounds', () => {
  it('of a legacy server goes to the token of the retry, and only rises (PROG-007)', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern({ capabilities: { roots: {} } });
    client.call(1, 'a', {}, { progressToken: 'one' });
    const call = await far.next();
    call.on.progress(call, 10);
    expect((await client.next()).params).toEqual({ progressToken: 'one', progress: 10 });
    call.on.ask('q', 'roots/list');
    const { requestState } = (await client.next()).result;
    call.on.progress(call, 20);
    expect(await client.rest()).toEqual([]);
    client.call(
      2,
      'a',
      { requestState, inputResponses: { 'roots-1': { roots: [] } } },
      { progressToken: 'two' },
    );
    await far.next();
    for (const value of [9, 25, 24, 30]) call.on.progress(call, value);
    call.on.answer(call, { content: [] });
    const rest = await client.rest();
    expect(rest.pop()!.id).toBe(2);
    expect(rest.map(({ params }) => params.progressToken)).toEqual(rest.map(() => 'two'));
    expect(rest.map(({ params }) => params.progress)).toBeOneOf([
      [25, 30],
      [20, 25, 30],
    ]);
  });

  it('of a legacy server is lost where the retry does not ask for it', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern({ capabilities: { roots: {} } });
    client.call(1, 'a', {}, { progressToken: 'one' });
    const call = await far.next();
    call.on.ask('q', 'roots/list');
    const { requestState } = (await client.next()).result;
    client.call(2, 'a', { requestState, inputResponses: { 'roots-1': { roots: [] } } });
    await far.next();
    call.on.progress(call, 1);
    call.on.answer(call, { content: [] });
    expect((await client.rest()).map(({ id }) => id)).toEqual([2]);
  });

  it('of a modern server is one story for a legacy client (PROG-004)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ capabilities: { roots: {} } });
    client.call(1, 'a', {}, { progressToken: 't' });
    const first = await far.next();
    first.on.progress(first, 5);
    expect((await client.next()).params).toEqual({ progressToken: 't', progress: 5 });
    first.on.answer(first, { resultType: 'input_required', inputRequests: { r: { method: 'roots/list' } } });
    client.answer(await client.next(), { roots: [] });
    const second = await far.next();
    expect(second.params._meta.progressToken).not.toBe(first.params._meta.progressToken);
    second.on.progress(second, 1);
    second.on.progress(second, 6);
    expect((await client.next()).params).toEqual({ progressToken: 't', progress: 6 });
    second.on.answer(second, DONE);
    await client.next();
  });
});

describe('row 15: progress in other directions', () => {
  it('has no message for 2024-11-05 (PROG-006)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ revision: '2024-11-05' });
    client.call(1, 'a', {}, { progressToken: 't' });
    const call = await far.next();
    call.on.progress(call, 1, { total: 2, message: 'half way' });
    expect((await client.next()).params).toEqual({ progressToken: 't', progress: 1, total: 2 });
    call.on.answer(call, DONE);
    await client.next();
  });

  it('of a legacy client at its answer is swallowed (PROG-010)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ capabilities: { roots: {} } });
    client.call(1, 'a');
    const first = await far.next();
    first.on.answer(first, { resultType: 'input_required', inputRequests: { r: { method: 'roots/list' } } });
    const asked = await client.next();
    client.notify('notifications/progress', { progressToken: asked.params._meta.progressToken, progress: 1 });
    expect(await far.rest()).toEqual([]);
    client.answer(asked, { roots: [] });
    const second = await far.next();
    second.on.answer(second, DONE);
    await client.next();
  });
});
