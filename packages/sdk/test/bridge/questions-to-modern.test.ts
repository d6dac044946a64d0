import { describe, expect, it } from 'vitest';
import { type Between, type BetweenOptions, bridgeTo } from '../support/bridge/between.js';
import { CAPABILITIES, type Message, SERVER_INFO, settle } from '../support/bridge/frames.js';
import type { NearClient } from '../support/bridge/near.js';

const FORM = {
  message: 'Where to?',
  requestedSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const SAMPLE = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 10 };
const SAMPLED = {
  role: 'assistant',
  content: { type: 'text', text: 'Hey' },
  model: 'm',
  stopReason: 'endTurn',
};
const ABLE = { elicitation: {}, sampling: {}, roots: {} };
const DONE = { content: [{ type: 'text', text: 'done' }] };

async function calling(options: BetweenOptions = {}, capabilities: object = ABLE) {
  const between: Between = await bridgeTo('legacy', options);
  const client = between.near.modern({ capabilities });
  client.call(1, 'book', { arguments: { n: 1 } });
  const call = await between.far.next();
  return { ...between, client, call };
}

/** The next round of the same call: a new id, the answers, the state of the last round. */
function retry(
  client: NearClient,
  id: number,
  round: Message,
  inputResponses: object,
  meta: object = {},
): void {
  const { requestState } = round.result;
  client.call(id, 'book', { arguments: { n: 1 }, inputResponses, requestState }, meta);
}

describe('row 4: a modern client before a legacy server that asks', () => {
  it('is asked within the answer, and what it answers reaches the server (MRTR-001, MRTR-006)', async () => {
    const { client, call, far } = await calling();
    call.on.ask('q1', 'elicitation/create', { ...FORM, _meta: { progressToken: 'p' } });
    const round = await client.next();
    expect(round).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        resultType: 'input_required',
        inputRequests: { 'elicitation-1': { method: 'elicitation/create', params: FORM } },
        requestState: expect.any(String),
        _meta: { [SERVER_INFO]: { name: 'far', version: '9' } },
      },
    });
    expect(await far.rest()).toEqual([]);
    retry(client, 2, round, { 'elicitation-1': { action: 'accept', content: { city: 'Oslo' } } });
    expect(await far.next()).toEqual({
      jsonrpc: '2.0',
      id: 'q1',
      result: { action: 'accept', content: { city: 'Oslo' } },
    });
    call.on.answer(call, DONE);
    expect(await client.next()).toMatchObject({ id: 2, result: { resultType: 'complete', ...DONE } });
    expect(await far.rest()).toEqual([]);
  });

  it.each([
    ['sampling/createMessage', SAMPLE, SAMPLED],
    ['roots/list', undefined, { roots: [{ uri: 'file:///a', name: 'A' }] }],
  ])('is asked %s in the same way', async (method, params, answer) => {
    const { client, call, far } = await calling();
    call.on.ask(0, method, params);
    const round = await client.next();
    const [[key, question]] = Object.entries(round.result.inputRequests) as [[string, object]];
    expect(question).toMatchObject(params ? { method, params } : { method });
    retry(client, 2, round, { [key]: answer });
    expect(await far.next()).toEqual({ jsonrpc: '2.0', id: 0, result: answer });
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(2);
  });

  it.each([
    ['prompts/get', { name: 'p' }, { messages: [] }],
    ['resources/read', { uri: 'a://b' }, { contents: [] }],
  ])('may be asked about %s as well (MRTR-002)', async (method, params, result) => {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern({ capabilities: ABLE });
    client.request(1, method, params);
    const call = await far.next();
    call.on.ask(5, 'roots/list');
    const { requestState } = (await client.next()).result;
    client.request(2, method, { ...params, requestState, inputResponses: { 'roots-1': { roots: [] } } });
    await far.next();
    call.on.answer(call, result);
    expect(await client.next()).toMatchObject({ id: 2, result: { resultType: 'complete', ...result } });
  });

  it('is asked in one round what the server asks at once (MRTR-005)', async () => {
    const { client, call, far } = await calling();
    call.on.ask('a', 'elicitation/create', FORM);
    call.on.ask('b', 'sampling/createMessage', SAMPLE);
    call.on.ask('c', 'roots/list');
    const round = await client.next();
    expect(Object.keys(round.result.inputRequests)).toEqual(['elicitation-1', 'sampling-2', 'roots-3']);
    retry(client, 2, round, {
      'roots-3': { roots: [] },
      'sampling-2': SAMPLED,
      'elicitation-1': { action: 'decline' },
    });
    const answers = [await far.next(), await far.next(), await far.next()];
    expect(Object.fromEntries(answers.map(({ id, result }) => [id, result]))).toEqual({
      a: { action: 'decline' },
      b: SAMPLED,
      c: { roots: [] },
    });
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(2);
  });

  it('is asked again for what it did not answer (MRTR-027)', async () => {
    const { client, call, far } = await calling();
    call.on.ask('a', 'roots/list');
    call.on.ask('b', 'elicitation/create', FORM);
    const first = await client.next();
    retry(client, 2, first, { 'roots-1': { roots: [] } });
    const second = await client.next();
    expect(Object.keys(second.result.inputRequests)).toEqual(['elicitation-2']);
    expect(second.result.requestState).not.toBe(first.result.requestState);
    expect(await far.next()).toMatchObject({ id: 'a' });
    retry(client, 3, second, { 'elicitation-2': { action: 'cancel' } });
    expect(await far.next()).toMatchObject({ id: 'b', result: { action: 'cancel' } });
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(3);
  });

  it('is asked what comes while it thinks in the next round, and the call goes on meanwhile', async () => {
    const { client, call, far } = await calling();
    call.on.ask('a', 'roots/list');
    const first = await client.next();
    call.on.ask('b', 'elicitation/create', FORM);
    expect(await client.rest()).toEqual([]);
    retry(client, 2, first, { 'roots-1': { roots: [] } });
    const second = await client.next();
    expect(Object.keys(second.result.inputRequests)).toEqual(['elicitation-2']);
    retry(client, 3, second, { 'elicitation-2': { action: 'decline' } });
    expect([(await far.next()).id, (await far.next()).id]).toEqual(['a', 'b']);
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(3);
  });

  it('finds the result when the call has ended meanwhile, and answers nothing', async () => {
    const { client, call, far } = await calling();
    call.on.ask('a', 'elicitation/create', FORM);
    const round = await client.next();
    call.on.notify('notifications/cancelled', { requestId: 'a' });
    call.on.answer(call, DONE);
    await settle();
    retry(client, 2, round, { 'elicitation-1': { action: 'accept', content: { city: 'Oslo' } } });
    expect(await client.next()).toMatchObject({ id: 2, result: { resultType: 'complete', ...DONE } });
    expect(await far.rest()).toEqual([]);
  });

  it('may answer over another connection (STATE-003)', async () => {
    const { near, client, call, far } = await calling();
    call.on.ask('a', 'roots/list');
    const round = await client.next();
    client.end();
    await client.closed;
    const other = near.modern({ capabilities: ABLE });
    retry(other, 1, round, { 'roots-1': { roots: [] } });
    expect(await far.next()).toEqual({ jsonrpc: '2.0', id: 'a', result: { roots: [] } });
    call.on.answer(call, DONE);
    expect((await other.next()).result.content).toEqual(DONE.content);
  });

  it('is not charged for the time that it thinks', async () => {
    const { client, call, far, clock } = await calling({ bridge: { timeoutMs: 1000 } });
    clock.advance(600);
    call.on.ask('a', 'roots/list');
    const round = await client.next();
    clock.advance(60_000);
    expect(await far.rest()).toEqual([]);
    retry(client, 2, round, { 'roots-1': { roots: [] } });
    await far.next();
    clock.advance(399);
    expect(await client.rest()).toEqual([]);
    clock.advance(1);
    expect(await client.next()).toMatchObject({
      id: 2,
      error: { code: -32603, data: { reason: 'TIMED_OUT' } },
    });
    expect(await far.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: call.id },
    });
  });
});

describe('row 7: a modern client that does not answer a legacy server', () => {
  it.each(['decline', 'cancel'])('says "%s", and the server hears just that (ELIC-024)', async (action) => {
    const { client, call, far } = await calling();
    call.on.ask('a', 'elicitation/create', FORM);
    retry(client, 2, await client.next(), { 'elicitation-1': { action } });
    expect(await far.next()).toEqual({ jsonrpc: '2.0', id: 'a', result: { action } });
    call.on.answer(call, DONE);
    await client.next();
  });

  it.each<[string, string, object | undefined, object, object]>([
    ['forms', 'elicitation/create', FORM, {}, { elicitation: { form: {} } }],
    [
      'pages',
      'elicitation/create',
      { mode: 'url', message: 'Sign in', url: 'https://a.b', elicitationId: 'e' },
      { elicitation: {} },
      { elicitation: { url: {} } },
    ],
    ['sampling', 'sampling/createMessage', SAMPLE, { roots: {} }, { sampling: {} }],
    [
      'tools in sampling',
      'sampling/createMessage',
      { ...SAMPLE, tools: [] },
      { sampling: {} },
      { sampling: { tools: {} } },
    ],
  ])(
    'P1: cannot do %s: the server hears it, and when it fails for that the client hears what is missing (META-008)',
    async (_what, method, params, has, needed) => {
      const { client, call, far } = await calling({}, has);
      call.on.ask('a', method, params);
      expect(await far.next()).toMatchObject({ id: 'a', error: { code: -32601 } });
      call.on.answer(call, { ...DONE, isError: true });
      const { id, error } = await client.next();
      const serverAnswer = { result: { ...DONE, isError: true } };
      expect([id, error!.code, error!.data]).toEqual([
        1,
        -32021,
        { requiredCapabilities: needed, serverAnswer },
      ]);
    },
  );

  it('P1: cannot be asked, and the server does without: the client has its result', async () => {
    const { client, call, far } = await calling({}, { sampling: {} });
    call.on.ask('a', 'elicitation/create', FORM);
    expect(await far.next()).toMatchObject({ id: 'a', error: { code: -32601 } });
    call.on.answer(call, DONE);
    expect(await client.next()).toMatchObject({ id: 1, result: DONE });
  });

  it('P1: cannot be asked, and the server fails with an error: the client hears what is missing', async () => {
    const { client, call, far } = await calling({}, {});
    call.on.ask('a', 'elicitation/create', FORM);
    await far.next();
    call.on.refuse(call, -32603, 'I need an answer');
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32021 } });
  });

  it('P1: has no roots: the server is told that there are none, and the call goes on', async () => {
    const { client, call, far } = await calling({}, { sampling: {} });
    call.on.ask('a', 'roots/list');
    expect(await far.next()).toEqual({ jsonrpc: '2.0', id: 'a', result: { roots: [] } });
    call.on.answer(call, DONE);
    expect(await client.next()).toMatchObject({ id: 1, result: DONE });
  });

  it('can no longer do what is still to be answered: it hears so, and may come back (META-007)', async () => {
    const { client, call, far } = await calling();
    call.on.ask('a', 'roots/list');
    const round = await client.next();
    retry(client, 2, round, {}, { [CAPABILITIES]: {} });
    expect(await client.next()).toMatchObject({ id: 2, error: { code: -32021 } });
    retry(client, 3, round, { 'roots-1': { roots: [] } });
    expect(await far.next()).toMatchObject({ id: 'a', result: { roots: [] } });
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(3);
  });

  it('never comes back: when its time is up the server is told, and the call is cancelled (MRTR-014)', async () => {
    const { client, call, far, clock } = await calling({ serving: { roundTtlMs: 5000 } });
    call.on.ask('a', 'elicitation/create', FORM);
    await client.next();
    clock.advance(4999);
    expect(await far.rest()).toEqual([]);
    clock.advance(1);
    const frames = await far.rest();
    expect(frames).toHaveLength(2);
    expect(frames.find(({ method }) => method)).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: call.id },
    });
    expect(frames.find(({ method }) => !method)).toMatchObject({ id: 'a', error: { code: -32603 } });
  });
});

describe('row 5: what a legacy server asks while no call runs', () => {
  it('is answered here: a modern client cannot be asked', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern({ capabilities: ABLE });
    client.request(1, 'tools/list');
    const list = await far.next();
    list.on.ask('a', 'sampling/createMessage', SAMPLE);
    list.on.ask('b', 'elicitation/create', FORM);
    list.on.ask('c', 'roots/list');
    const answers = await far.rest();
    expect(answers.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    for (const { error, result } of answers)
      expect(error?.code ?? result.action).toBeOneOf([-32601, 'cancel']);
    expect(await client.rest()).toEqual([]);
    list.on.answer(list, { tools: [] });
    expect((await client.next()).id).toBe(1);
  });

  it('is answered with the roots that the bridge was given (row 22)', async () => {
    const roots = [{ uri: 'file:///srv', name: 'srv' }];
    const { near, far } = await bridgeTo('legacy', { bridge: { answers: { roots } } });
    const client = near.modern();
    client.request(1, 'tools/list');
    const list = await far.next();
    expect(list.on.opening!.params.capabilities).toEqual({ roots: {} });
    list.on.answer(list, { tools: [] });
    await client.next();
    list.on.ask('r', 'roots/list');
    expect(await far.next()).toEqual({ jsonrpc: '2.0', id: 'r', result: { roots } });
  });
});
