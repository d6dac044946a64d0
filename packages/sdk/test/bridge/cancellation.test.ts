import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import { type Era, LOG_LEVEL, until } from '../support/bridge/frames.js';

const DONE = { resultType: 'complete', content: [] };
const ROUND = {
  resultType: 'input_required',
  inputRequests: { r: { method: 'roots/list' } },
  requestState: 's',
};
const CELLS: [near: Era, far: Era][] = [
  ['legacy', 'modern'],
  ['modern', 'legacy'],
  ['legacy', 'legacy'],
  ['modern', 'modern'],
];

describe.each(CELLS)('row 16: a %s client before a %s server', (era, farEra) => {
  async function calling() {
    const between = await bridgeTo(farEra);
    const { near, far } = between;
    const client = era === 'legacy' ? await near.legacy() : near.modern();
    client.call('c', 'a');
    const call = await far.next();
    return { ...between, client, call };
  }

  it('takes a call back: the server hears so, and nobody hears of it any more (CANC-006, STDIO-014)', async () => {
    const { client, call, far } = await calling();
    client.cancel('c', 'too slow');
    const cancelled = await far.next();
    expect(cancelled).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: call.id, reason: expect.any(String) },
    });
    call.on.answer(call, DONE);
    expect(await client.rest()).toEqual([]);
    expect(await far.rest()).toEqual([]);
  });

  it('takes back one call of two', async () => {
    const { client, call, far } = await calling();
    client.call('d', 'b');
    const other = await far.next();
    client.cancel('c');
    expect((await far.next()).params.requestId).toBe(call.id);
    other.on.answer(other, DONE);
    expect((await client.next()).id).toBe('d');
    expect(await far.rest()).toEqual([]);
  });

  it('takes back what is over, unknown or malformed: that means nothing (CANC-008, CANC-011)', async () => {
    const { client, call, far } = await calling();
    client.cancel('x');
    client.notify('notifications/cancelled', {});
    client.notify('notifications/cancelled', { requestId: null });
    client.notify('notifications/cancelled');
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe('c');
    client.cancel('c');
    expect(await far.rest()).toEqual([]);
  });

  it('goes away without a word, and its calls are cancelled over there', async () => {
    const { client, call, far } = await calling();
    client.vanish();
    await until('end of the call', () => {
      const { frames, isOpen } = call.on;
      return !isOpen || frames.some(({ message }) => message.method === 'notifications/cancelled');
    });
    await far.rest();
    call.on.answer(call, DONE);
  });
});

describe('row 16: a legacy client that is being asked for a modern server', () => {
  async function asked() {
    const between = await bridgeTo('modern');
    const client = await between.near.legacy({ capabilities: { roots: {}, elicitation: {} } });
    client.call(1, 'a');
    const call = await between.far.next();
    call.on.answer(call, ROUND);
    return { ...between, client, call, question: await client.next() };
  }

  it('takes its call back: the question is taken back, too, and no retry is made', async () => {
    const { client, far, question } = await asked();
    client.cancel(1);
    expect(await client.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: question.id },
    });
    client.answer(question, { roots: [] });
    expect(await far.rest()).toEqual([]);
    expect(await client.rest()).toEqual([]);
  });

  it('ends its input before it has answered: no retry is made', async () => {
    const { client, far, clock } = await asked();
    client.end();
    await client.rest();
    clock.advance(60_000);
    expect(await far.rest()).toEqual([]);
    await client.rest();
  });
});

describe('row 16: a modern client that is being asked for a legacy server', () => {
  async function asked() {
    const between = await bridgeTo('legacy');
    const client = between.near.modern({ capabilities: { roots: {}, elicitation: {} } });
    client.call(1, 'a');
    const call = await between.far.next();
    call.on.ask('q', 'roots/list');
    const { requestState } = (await client.next()).result;
    return { ...between, client, call, requestState };
  }
  const ANSWERED = { inputResponses: { 'roots-1': { roots: [] } } };

  it('is not taken for gone because a round has ended its request', async () => {
    const { client, far, call, requestState } = await asked();
    client.cancel(1);
    expect(await far.rest()).toEqual([]);
    client.call(2, 'a', { ...ANSWERED, requestState });
    expect(await far.next()).toMatchObject({ id: 'q', result: { roots: [] } });
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(2);
  });

  it('takes the retry back: the call is cancelled over there, and not by its new id', async () => {
    const { client, far, call, requestState } = await asked();
    client.call(2, 'a', { ...ANSWERED, requestState });
    await far.next();
    client.cancel(2);
    expect(await far.next()).toMatchObject({ params: { requestId: call.id } });
    call.on.answer(call, DONE);
    expect(await client.rest()).toEqual([]);
  });

  it('is asked what the server then takes back: the answer to it is surplus (CANC-016)', async () => {
    const { client, far, call, requestState } = await asked();
    call.on.notify('notifications/cancelled', { requestId: 'q', reason: 'found them' });
    client.call(2, 'a', { ...ANSWERED, requestState });
    await until('retry to be taken', () => client.frames.length === 3);
    call.on.answer(call, DONE);
    expect(await client.next()).toMatchObject({ id: 2, result: { content: [] } });
    expect(await far.rest()).toEqual([]);
  });

  it('is asked twice, and the server takes one back: the next round asks only the other', async () => {
    const { client, far, call, requestState } = await asked();
    const form = { message: 'm', requestedSchema: { type: 'object', properties: {} } };
    call.on.ask('q2', 'elicitation/create', form);
    call.on.ask('q3', 'elicitation/create', { ...form, message: 'n' });
    await far.rest();
    call.on.notify('notifications/cancelled', { requestId: 'q2' });
    await far.rest();
    client.call(2, 'a', { ...ANSWERED, requestState });
    const round = await client.next();
    const [[key, { params }]] = Object.entries(round.result.inputRequests) as [[string, { params: object }]];
    expect(params).toEqual({ ...form, message: 'n' });
    expect(Object.keys(round.result.inputRequests)).toHaveLength(1);
    expect(await far.next()).toMatchObject({ id: 'q' });
    client.call(3, 'a', {
      inputResponses: { [key]: { action: 'decline' } },
      requestState: round.result.requestState,
    });
    expect(await far.next()).toMatchObject({ id: 'q3', result: { action: 'decline' } });
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(3);
  });
});

describe('row 16: a call that has not left yet', () => {
  it('is taken back while it waits for its turn: it is never made', async () => {
    const { near, far } = await bridgeTo('legacy');
    const one = near.modern({ capabilities: { roots: {} } });
    const two = near.modern({ capabilities: { roots: {} } });
    one.call(1, 'a');
    const first = await far.next();
    first.on.ask('q', 'roots/list');
    const { requestState } = (await one.next()).result;
    two.call(1, 'a');
    expect(await far.rest()).toEqual([]);
    two.cancel(1);
    one.call(2, 'a', { requestState, inputResponses: { 'roots-1': { roots: [] } } });
    expect(await far.next()).toMatchObject({ id: 'q' });
    first.on.answer(first, DONE);
    expect((await one.next()).id).toBe(2);
    expect(await far.rest()).toEqual([]);
  });

  it('is taken back while the server is told of a log level: it is never made', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: { tools: {}, logging: {} } });
    const client = near.modern();
    client.call(1, 'a', {}, { [LOG_LEVEL]: 'debug' });
    const level = await far.next();
    client.cancel(1);
    await far.rest();
    level.on.answer(level, {});
    expect((await far.rest()).map(({ method }) => method)).not.toContain('tools/call');
    expect(await client.rest()).toEqual([]);
  });

  it('is taken back with its subscription: nobody is answered', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: { resources: { subscribe: true } } });
    const client = await near.legacy();
    client.request(1, 'resources/subscribe', { uri: 'a://1' });
    const listen = await far.next();
    client.cancel(1);
    listen.on.acknowledge(listen);
    expect(await client.rest()).toEqual([]);
  });
});

describe('row 16: a legacy client that is being asked for a legacy server', () => {
  it('has the question taken back when the server does', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = await near.legacy({ capabilities: { roots: {} } });
    client.call(1, 'a');
    const call = await far.next();
    call.on.ask('q', 'roots/list');
    const question = await client.next();
    call.on.notify('notifications/cancelled', { requestId: 'q', reason: 'found them' });
    expect(await client.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: question.id },
    });
    client.answer(question, { roots: [] });
    expect(await far.rest()).toEqual([]);
    call.on.answer(call, { content: [] });
    expect((await client.next()).id).toBe(1);
  });
});
