import { describe, expect, it } from 'vitest';
import { type BetweenOptions, bridgeTo } from '../support/bridge/between.js';
import type { Message } from '../support/bridge/frames.js';
import type { ClientOptions } from '../support/bridge/near.js';

const ROOTS = { 'roots-1': { roots: [] } };
const DONE = { content: [{ type: 'text', text: 'done' }] };
const ABLE = { roots: {}, elicitation: {} };

/** A call that sleeps while its client is asked for roots. */
async function parked(options: BetweenOptions = {}, who: ClientOptions = {}) {
  const between = await bridgeTo('legacy', options);
  const client = between.near.modern({ capabilities: ABLE, ...who });
  client.call(1, 'pay', { arguments: { sum: 5 } });
  const call = await between.far.next();
  call.on.ask('q', 'roots/list');
  const { requestState } = (await client.next()).result as { requestState: string };
  return { ...between, client, call, requestState };
}

const BOOKED = { arguments: { sum: 5 }, inputResponses: ROOTS };

/** -32602 with one short sentence. */
function refused(id: number): Message {
  return {
    jsonrpc: '2.0',
    id,
    error: { code: -32602, message: expect.stringMatching(/^requestState /) },
  };
}

describe('row 4: the state of a call that sleeps', () => {
  it('wakes the call once; a second use is an error and runs nothing (MRTR-013)', async () => {
    const { client, call, far, requestState } = await parked();
    client.call(2, 'pay', { ...BOOKED, requestState });
    expect(await far.next()).toMatchObject({ id: 'q', result: { roots: [] } });
    client.call(3, 'pay', { ...BOOKED, requestState });
    expect(await client.next()).toEqual(refused(3));
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(2);
    client.call(4, 'pay', { ...BOOKED, requestState });
    expect(await client.next()).toEqual(refused(4));
    expect(await far.rest()).toEqual([]);
  });

  it('used twice at once wakes the call for one of the two', async () => {
    const { client, call, far, requestState } = await parked();
    client.call(2, 'pay', { ...BOOKED, requestState });
    client.call(3, 'pay', { ...BOOKED, requestState });
    expect(await far.next()).toMatchObject({ id: 'q', result: { roots: [] } });
    const error = await client.next();
    expect(error).toEqual(refused(error.id as number));
    call.on.answer(call, DONE);
    const answered = await client.next();
    expect([error.id, answered.id].sort()).toEqual([2, 3]);
    expect(await far.rest()).toEqual([]);
  });

  it('of an earlier round is worth nothing in the next (MRTR-020)', async () => {
    const { client, call, far, requestState } = await parked();
    client.call(2, 'pay', { ...BOOKED, requestState });
    await far.next();
    call.on.ask('q2', 'roots/list');
    const second = await client.next();
    client.call(3, 'pay', { ...BOOKED, requestState, inputResponses: { 'roots-2': { roots: [] } } });
    expect(await client.next()).toEqual(refused(3));
    client.call(4, 'pay', {
      ...BOOKED,
      requestState: second.result.requestState,
      inputResponses: { 'roots-2': { roots: [] } },
    });
    expect(await far.next()).toMatchObject({ id: 'q2' });
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(4);
  });

  it.each<[string, (state: string) => unknown]>([
    ['altered in its text', (state) => `${state.slice(0, -6)}AAAAAA`],
    ['cut short', (state) => state.slice(0, 40)],
    ['made up', () => 'parked-1'],
    ['empty', () => ''],
    ['no string', () => ({ id: 1 })],
  ])('that is %s is an error, and the call sleeps on (MRTR-009, MRTR-010)', async (_what, alter) => {
    const { client, call, far, requestState } = await parked();
    client.call(2, 'pay', { ...BOOKED, requestState: alter(requestState) });
    expect(await client.next()).toEqual(refused(2));
    expect(await far.rest()).toEqual([]);
    client.call(3, 'pay', { ...BOOKED, requestState });
    await far.next();
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(3);
  });

  it('cannot be read by the client', async () => {
    const { requestState } = await parked();
    const parts = requestState.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'));
    expect(parts.join()).not.toMatch(/pay|sum|near|far/);
  });

  it.each<[string, string, object]>([
    ['other arguments', 'tools/call', { name: 'pay', arguments: { sum: 500 } }],
    ['another tool', 'tools/call', { name: 'refund', arguments: { sum: 5 } }],
    ['another method', 'prompts/get', { name: 'pay', arguments: { sum: 5 } }],
  ])('is of no use for %s (MRTR-012, MRTR-022)', async (_what, method, params) => {
    const { client, call, far, requestState } = await parked();
    client.request(2, method, { ...params, inputResponses: ROOTS, requestState });
    expect(await client.next()).toEqual(refused(2));
    expect(await far.rest()).toEqual([]);
    client.call(3, 'pay', { ...BOOKED, requestState });
    await far.next();
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(3);
  });

  it('is of no use to another principal (MRTR-012)', async () => {
    const { near, client, call, far, requestState } = await parked({}, { principal: 'alice' });
    for (const who of [{ principal: 'bob' }, {}]) {
      const other = near.modern({ capabilities: ABLE, ...who });
      other.call(2, 'pay', { ...BOOKED, requestState });
      expect(await other.next()).toEqual(refused(2));
    }
    expect(await far.rest()).toEqual([]);
    client.call(3, 'pay', { ...BOOKED, requestState });
    await far.next();
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(3);
  });

  it('is worth nothing when its time is up, and the call is not made again (MRTR-012)', async () => {
    const { client, call, far, clock, requestState } = await parked({ serving: { roundTtlMs: 5000 } });
    clock.advance(5000);
    await far.rest();
    client.call(2, 'pay', { ...BOOKED, requestState });
    expect(await client.next()).toEqual(refused(2));
    expect(await far.rest()).toEqual([]);
    call.on.answer(call, DONE);
    expect(await client.rest()).toEqual([]);
  });

  it('is worth nothing after the call was taken back while it ran on', async () => {
    const { client, call, far, requestState } = await parked();
    client.call(2, 'pay', { ...BOOKED, requestState });
    await far.next();
    client.cancel(2);
    expect(await far.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: call.id },
    });
    client.call(3, 'pay', { ...BOOKED, requestState });
    expect(await client.next()).toEqual(refused(3));
    expect(await far.rest()).toEqual([]);
  });

  it('finds nothing when the server is gone: the call failed, and is not made again', async () => {
    const { client, call, far, requestState } = await parked();
    call.on.vanish();
    client.call(2, 'pay', { ...BOOKED, requestState });
    const { id, error } = await client.next();
    expect([id, error!.code, error!.data]).toEqual([
      2,
      -32603,
      { reason: 'CONNECTION_CLOSED', sent: 'maybe' },
    ]);
    client.call(3, 'pay', { ...BOOKED, requestState });
    expect(await client.next()).toEqual(refused(3));
    expect(await far.rest()).toEqual([]);
  });

  it('is missing: then it is another call, and answers nobody asked it for wake no sleeper (MRTR-026)', async () => {
    const { client, call, far, clock, requestState } = await parked();
    clock.advance(1000);
    client.call(2, 'pay', BOOKED);
    const other = await far.next();
    expect(other.params).toEqual({ name: 'pay', arguments: { sum: 5 } });
    other.on.answer(other, DONE);
    expect((await client.next()).id).toBe(2);
    client.call(3, 'pay', { ...BOOKED, requestState });
    expect(await far.next()).toMatchObject({ id: 'q', result: { roots: [] } });
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(3);
  });

  it.each<[string, unknown]>([
    ['is no object', 'yes'],
    ['has an answer that is no object', { 'roots-1': true }],
    ['has an answer of the wrong kind', { 'roots-1': { action: 'accept' } }],
  ])('survives a retry whose inputResponses %s (MRTR-025)', async (_what, inputResponses) => {
    const { client, call, far, requestState } = await parked();
    client.call(2, 'pay', { ...BOOKED, requestState, inputResponses });
    expect(await client.next()).toMatchObject({ id: 2, error: { code: -32602 } });
    expect(await far.rest()).toEqual([]);
    client.call(3, 'pay', { ...BOOKED, requestState });
    await far.next();
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(3);
  });

  it('takes surplus answers in its stride (MRTR-026)', async () => {
    const { client, call, far, requestState } = await parked();
    const inputResponses = { ...ROOTS, 'roots-7': { roots: [] }, other: { action: 'accept' } };
    client.call(2, 'pay', { ...BOOKED, requestState, inputResponses });
    expect(await far.next()).toEqual({ jsonrpc: '2.0', id: 'q', result: { roots: [] } });
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(2);
  });

  it('R1: keeps its place while others sleep, too; beyond the limit a call of a client that has as many is refused', async () => {
    const { near, far, client, call, clock, requestState } = await parked({ serving: { maxParked: 1 } });
    const other = near.modern({ capabilities: ABLE, principal: 'bob' });
    clock.advance(1000);
    other.call(1, 'refund');
    const second = await far.next();
    second.on.ask('q2', 'elicitation/create', {
      message: 'Sure?',
      requestedSchema: { type: 'object', properties: {} },
    });
    const refusal = await far.next();
    expect(refusal).toMatchObject({ id: 'q2', error: { code: -32603 } });
    second.on.answer(second, { ...DONE, isError: true });
    expect((await other.next()).id).toBe(1);
    client.call(2, 'pay', { ...BOOKED, requestState });
    await far.next();
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(2);
  });
});

describe('row 4: the state of a modern server', () => {
  it('reaches a modern client sealed and comes back exactly, of the same request only (MRTR-018)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = near.modern({ capabilities: ABLE });
    client.call(1, 'pay');
    const call = await far.next();
    const inputRequests = { r: { method: 'roots/list' } };
    call.on.answer(call, { resultType: 'input_required', inputRequests, requestState: 'its own' });
    const round = await client.next();
    expect(round.result).toMatchObject({ resultType: 'input_required', inputRequests });
    const { requestState } = round.result;
    client.call(2, 'pay', { arguments: { sum: 9 }, inputResponses: { r: { roots: [] } }, requestState });
    expect(await client.next()).toMatchObject({ id: 2, error: { code: -32602 } });
    client.call(3, 'pay', { inputResponses: { r: { roots: [] } }, requestState });
    const retry = await far.next();
    expect(retry.params).toMatchObject({ requestState: 'its own', inputResponses: { r: { roots: [] } } });
    retry.on.answer(retry, { resultType: 'complete', ...DONE });
    expect((await client.next()).id).toBe(3);
  });

  it('is worth nothing when its time is up, or to another principal (MRTR-012)', async () => {
    const { near, far, clock } = await bridgeTo('modern', { serving: { roundTtlMs: 5000 } });
    const client = near.modern({ capabilities: ABLE, principal: 'alice' });
    client.call(1, 'pay');
    const call = await far.next();
    const inputRequests = { r: { method: 'roots/list' } };
    call.on.answer(call, { resultType: 'input_required', inputRequests, requestState: 'its own' });
    const { requestState } = (await client.next()).result;
    const retry = { inputResponses: { r: { roots: [] } }, requestState };
    const other = near.modern({ capabilities: ABLE, principal: 'bob' });
    other.call(1, 'pay', retry);
    expect(await other.next()).toEqual(refused(1));
    clock.advance(5000);
    client.call(2, 'pay', retry);
    expect(await client.next()).toEqual(refused(2));
    expect(await far.rest()).toEqual([]);
  });
});
