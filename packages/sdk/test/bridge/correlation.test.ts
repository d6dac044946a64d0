import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import { settle } from '../support/bridge/frames.js';

const ABLE = { roots: {}, elicitation: {} };
const DONE = { content: [] };
const form = (message: string) => ({ message, requestedSchema: { type: 'object', properties: {} } });

describe('row 6: a legacy server on one stream does not say which call it asks about', () => {
  it('so with one call in flight it is that one, whatever else is being listed', async () => {
    const { near, far } = await bridgeTo('legacy');
    const asked = near.modern({ capabilities: ABLE });
    const other = near.modern({ capabilities: ABLE });
    other.request(1, 'tools/list');
    const list = await far.next();
    asked.call(1, 'a');
    const call = await far.next();
    expect(call.on).toBe(list.on);
    call.on.ask('q', 'elicitation/create', form('Sure?'));
    const { inputRequests, requestState } = (await asked.next()).result;
    expect(Object.values(inputRequests)).toEqual([{ method: 'elicitation/create', params: form('Sure?') }]);
    expect(await other.rest()).toEqual([]);
    asked.call(2, 'a', { requestState, inputResponses: { 'elicitation-1': { action: 'decline' } } });
    expect(await far.next()).toMatchObject({ id: 'q', result: { action: 'decline' } });
    call.on.answer(call, DONE);
    list.on.answer(list, { tools: [] });
    expect([(await asked.next()).id, (await other.next()).id]).toEqual([2, 1]);
  });

  it('so with calls of two clients in flight nobody is asked by guess: it waits until one is left', async () => {
    const { near, far } = await bridgeTo('legacy');
    const one = near.modern({ capabilities: ABLE });
    const two = near.modern({ capabilities: ABLE });
    one.call(1, 'a');
    const first = await far.next();
    two.call(1, 'b');
    const second = await far.next();
    expect(second.on).toBe(first.on);
    first.on.ask('q', 'roots/list');
    expect([await one.rest(), await two.rest()]).toEqual([[], []]);
    first.on.answer(first, DONE);
    expect((await one.next()).result.resultType).toBe('complete');
    const { requestState } = (await two.next()).result;
    two.call(2, 'b', { requestState, inputResponses: { 'roots-1': { roots: [] } } });
    expect(await far.next()).toMatchObject({ id: 'q', result: { roots: [] } });
    second.on.answer(second, DONE);
    expect((await two.next()).id).toBe(2);
  });

  it('and where that does not become clear it is refused, and both calls go on', async () => {
    const { near, far, clock } = await bridgeTo('legacy');
    const one = near.modern({ capabilities: ABLE });
    const two = near.modern({ capabilities: ABLE });
    one.call(1, 'a');
    const first = await far.next();
    two.call(1, 'b');
    const second = await far.next();
    first.on.ask('q', 'roots/list');
    await settle();
    clock.advance(60_000);
    expect(await far.next()).toMatchObject({ id: 'q', error: { code: -32603 } });
    first.on.answer(first, DONE);
    second.on.answer(second, DONE);
    expect([(await one.next()).result.content, (await two.next()).result.content]).toEqual([[], []]);
  });

  it('R2: so the question of what has asked once is understood as soon as the calls beside it have ended', async () => {
    const { near, far } = await bridgeTo('legacy');
    const one = near.modern({ capabilities: ABLE });
    const two = near.modern({ capabilities: ABLE });
    one.call(1, 'a');
    const first = await far.next();
    first.on.ask('q1', 'roots/list');
    const round = (await one.next()).result;
    one.call(2, 'a', { requestState: round.requestState, inputResponses: { 'roots-1': { roots: [] } } });
    await far.next();
    first.on.answer(first, DONE);
    await one.next();
    one.call(3, 'a');
    const second = await far.next();
    two.call('t', 'b');
    const other = await far.next();
    expect(other.params.name).toBe('b');
    second.on.ask('q2', 'roots/list');
    other.on.answer(other, DONE);
    expect((await two.next()).id).toBe('t');
    const { requestState } = (await one.next()).result;
    one.call(4, 'a', { requestState, inputResponses: { 'roots-1': { roots: [{ uri: 'file:///1' }] } } });
    expect(await far.next()).toMatchObject({ id: 'q2', result: { roots: [{ uri: 'file:///1' }] } });
    second.on.answer(second, DONE);
    expect((await one.next()).id).toBe(4);
  });

  it('so two calls of one legacy client need no telling apart: it is the same user', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = await near.legacy({ capabilities: ABLE });
    client.call(1, 'a');
    client.call(2, 'b');
    const calls = [await far.next(), await far.next()];
    calls[0]!.on.ask('q', 'elicitation/create', form('Sure?'));
    const asked = await client.next();
    expect(asked.params.message).toBe('Sure?');
    client.answer(asked, { action: 'cancel' });
    expect(await far.next()).toEqual({ jsonrpc: '2.0', id: 'q', result: { action: 'cancel' } });
    for (const call of calls) call.on.answer(call, DONE);
    expect([(await client.next()).id, (await client.next()).id]).toEqual([1, 2]);
  });

  it('so two legacy clients have a session each, and never hear of each other', async () => {
    const { near, far } = await bridgeTo('legacy');
    const clients = [await near.legacy({ capabilities: ABLE }), await near.legacy({ capabilities: ABLE })];
    const calls = [];
    for (const client of clients) {
      client.call(1, 'a');
      calls.push(await far.next());
    }
    expect(calls[0]!.on).not.toBe(calls[1]!.on);
    for (const [index, call] of calls.entries()) call.on.ask('q', 'elicitation/create', form(`for ${index}`));
    for (const [index, client] of clients.entries()) {
      const asked = await client.next();
      expect(asked.params.message).toBe(`for ${index}`);
      client.answer(asked, { action: 'accept', content: {} });
      await far.next();
    }
    for (const call of calls) call.on.answer(call, DONE);
    for (const client of clients) expect((await client.next()).id).toBe(1);
  });
});
