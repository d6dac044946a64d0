import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import { CAPABILITIES, CLIENT_INFO, type Message, VERSION } from '../support/bridge/frames.js';
import type { NearClient } from '../support/bridge/near.js';

const FORM = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Where to?',
    requestedSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const SAMPLE = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 10 },
};
const ROOTS = { method: 'roots/list' };
const ABLE = { elicitation: {}, sampling: {}, roots: {} };
const DONE = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };

describe('row 4: a legacy client before a modern server that asks', () => {
  it('is sent a real request, and the call is made again with its answer (MRTR-016, MRTR-018, MRTR-021, MRTR-023)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ capabilities: { elicitation: {} } });
    client.call(7, 'book', { arguments: { n: 1 } });
    const first = await far.next();
    const requestState = 'opaque "{}" ünïcode == \\n';
    first.on.answer(first, { resultType: 'input_required', inputRequests: { where: FORM }, requestState });
    const asked = await client.next();
    expect(asked).toEqual({
      jsonrpc: '2.0',
      id: expect.anything(),
      method: 'elicitation/create',
      params: { ...FORM.params, _meta: { progressToken: asked.id } },
    });
    client.answer(asked, { action: 'accept', content: { city: 'Oslo' } });
    expect(await far.next()).toEqual({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: {
        name: 'book',
        arguments: { n: 1 },
        inputResponses: { where: { action: 'accept', content: { city: 'Oslo' } } },
        requestState,
        _meta: {
          [VERSION]: '2026-07-28',
          [CLIENT_INFO]: { name: 'near', version: '1' },
          [CAPABILITIES]: { elicitation: {} },
        },
      },
    });
    first.on.answer({ id: 2 }, DONE);
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: { content: [{ type: 'text', text: 'done' }] },
    });
  });

  it.each([
    ['prompts/get', { name: 'p' }, { messages: [] }, { messages: [] }],
    ['resources/read', { uri: 'a://b' }, { contents: [], ttlMs: 5, cacheScope: 'public' }, { contents: [] }],
  ])('may be asked about %s as well (MRTR-002)', async (method, params, result, seen) => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ capabilities: { roots: {} } });
    client.request(1, method, params);
    const first = await far.next();
    first.on.answer(first, { resultType: 'input_required', inputRequests: { r: ROOTS } });
    client.answer(await client.next(), { roots: [{ uri: 'file:///a' }] });
    const second = await far.next();
    expect(second.params).toMatchObject({
      ...params,
      inputResponses: { r: { roots: [{ uri: 'file:///a' }] } },
    });
    expect(second.params).not.toHaveProperty('requestState');
    second.on.answer(second, { resultType: 'complete', ...result });
    expect((await client.next()).result).toEqual(seen);
  });

  it('is asked all questions of a round at once, and each answer gets its key (MRTR-005)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ capabilities: ABLE });
    client.call(1, 'a');
    const first = await far.next();
    const inputRequests = { a: FORM, b: SAMPLE, c: ROOTS };
    first.on.answer(first, { resultType: 'input_required', inputRequests });
    const asked = [await client.next(), await client.next(), await client.next()];
    expect(asked.map(({ method }) => method)).toEqual([FORM.method, SAMPLE.method, ROOTS.method]);
    expect(new Set(asked.map(({ id }) => id)).size).toBe(3);
    expect(await far.rest()).toEqual([]);
    const sampled = {
      role: 'assistant',
      content: { type: 'text', text: 'Hey' },
      model: 'm',
      stopReason: 'endTurn',
    };
    client.answer(asked[2]!, { roots: [] });
    client.answer(asked[1]!, sampled);
    client.answer(asked[0]!, { action: 'decline' });
    const retry = await far.next();
    expect(retry.params.inputResponses).toEqual({ a: { action: 'decline' }, b: sampled, c: { roots: [] } });
    retry.on.answer(retry, DONE);
    await client.next();
  });

  it('is asked round after round; a state is echoed only while the last round had one (MRTR-015, MRTR-020)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ capabilities: { roots: {} } });
    client.call(1, 'a');
    let call = await far.next();
    for (const [round, requestState] of (['one', undefined, '', 'two'] as const).entries()) {
      const state = requestState !== undefined && { requestState };
      call.on.answer(call, {
        resultType: 'input_required',
        inputRequests: { [`r${round}`]: ROOTS },
        ...state,
      });
      client.answer(await client.next(), { roots: [] });
      call = await far.next();
      expect(call.params.inputResponses).toEqual({ [`r${round}`]: { roots: [] } });
      expect(call.params.requestState).toBe(requestState);
    }
    call.on.answer(call, DONE);
    expect((await client.next()).result.content).toEqual(DONE.content);
  });

  it('sees nothing of a round that only has a state: the call waits and is made again (MRTR-017)', async () => {
    const { near, far, clock } = await bridgeTo('modern');
    const client = await near.legacy();
    client.call(1, 'a');
    const first = await far.next();
    first.on.answer(first, { resultType: 'input_required', requestState: 'later' });
    expect(await far.rest()).toEqual([]);
    clock.advance(1000);
    const retry = await far.next();
    expect(retry.params.requestState).toBe('later');
    expect(retry.params).not.toHaveProperty('inputResponses');
    retry.on.answer(retry, DONE);
    expect((await client.next()).result.content).toEqual(DONE.content);
  });

  it('has its concurrent calls asked apart (MRTR-022)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ capabilities: { elicitation: {} } });
    for (const id of [1, 2]) client.call(id, `t${id}`);
    const calls = [await far.next(), await far.next()];
    for (const call of calls) {
      const question = { ...FORM, params: { ...FORM.params, message: call.params.name } };
      const inputRequests = { q: question };
      call.on.answer(call, { resultType: 'input_required', inputRequests, requestState: call.params.name });
    }
    const asked = [await client.next(), await client.next()];
    for (const question of asked.reverse()) {
      client.answer(question, { action: 'accept', content: { city: question.params.message } });
    }
    for (const _ of calls) {
      const retry = await far.next();
      expect(retry.params.requestState).toBe(retry.params.name);
      expect(retry.params.inputResponses.q.content).toEqual({ city: retry.params.name });
      retry.on.answer(retry, DONE);
    }
    expect([(await client.next()).id, (await client.next()).id].sort()).toEqual([1, 2]);
  });

  it('may answer after the connection to the server was replaced: the state is all that counts (STATE-003)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ capabilities: { roots: {} } });
    client.call(1, 'a');
    const first = await far.next();
    first.on.answer(first, { resultType: 'input_required', inputRequests: { r: ROOTS }, requestState: 's' });
    const asked = await client.next();
    first.on.vanish();
    client.answer(asked, { roots: [] });
    const retry = await far.next();
    expect(retry.on).not.toBe(first.on);
    expect(retry.params).toMatchObject({ inputResponses: { r: { roots: [] } }, requestState: 's' });
    retry.on.answer(retry, DONE);
    expect((await client.next()).result.content).toEqual(DONE.content);
  });

  it('is not asked without end', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ capabilities: { roots: {} } });
    client.call(1, 'a');
    let answer: Message | undefined;
    for (let rounds = 0; answer === undefined && rounds < 200; rounds += 1) {
      const call = await far.next();
      call.on.answer(call, { resultType: 'input_required', inputRequests: { r: ROOTS } });
      const message = await client.next();
      if (message.method) client.answer(message, { roots: [] });
      else answer = message;
    }
    expect(answer).toMatchObject({ id: 1, error: { code: -32603 } });
  });
});

describe('row 5: a modern server may ask within three methods only', () => {
  it('so a round elsewhere is an error, and the client sees no trace of it (MRTR-003)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ capabilities: { roots: {} } });
    client.request(1, 'tools/list');
    const list = await far.next();
    list.on.answer(list, { resultType: 'input_required', inputRequests: { r: ROOTS } });
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32603 } });
  });

  it('and a request of its own, which it may not send, reaches nobody (JRPC-013, JRPC-014)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ capabilities: { roots: {} } });
    client.call(1, 'a');
    const call = await far.next();
    call.on.ask(99, 'roots/list');
    call.on.ask(98, 'ping');
    expect(await client.rest()).toEqual([]);
    expect(await far.rest()).toEqual([]);
    call.on.answer(call, DONE);
    await client.next();
  });
});

describe('row 7: a legacy client that does not answer a modern server', () => {
  async function asked(question: object, capabilities: object = ABLE) {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ capabilities });
    client.call(1, 'a');
    const call = await far.next();
    call.on.answer(call, { resultType: 'input_required', inputRequests: { q: question }, requestState: 's' });
    return { client, far, call };
  }

  it.each(['decline', 'cancel'])('says "%s", and the server hears just that (ELIC-024)', async (action) => {
    const { client, far } = await asked(FORM);
    client.answer(await client.next(), { action });
    const retry = await far.next();
    expect(retry.params.inputResponses).toEqual({ q: { action } });
    retry.on.answer(retry, DONE);
    await client.next();
  });

  it('refuses a form with an error, which the server hears as "cancel" (MRTR-028)', async () => {
    const { client, far } = await asked(FORM);
    client.refuse(await client.next(), -32603, 'no window open');
    const retry = await far.next();
    expect(retry.params.inputResponses).toEqual({ q: { action: 'cancel' } });
    expect(retry.params.requestState).toBe('s');
    retry.on.answer(retry, DONE);
    await client.next();
  });

  it.each([
    ['sampling', SAMPLE, -1],
    ['roots', ROOTS, -32601],
  ])('refuses %s with an error: the call ends, and says why (MRTR-028)', async (_what, question, code) => {
    const { client, far } = await asked(question);
    client.refuse(await client.next(), code, 'the user said no');
    const { id, result } = await client.next();
    expect([id, result.isError]).toEqual([1, true]);
    expect(result.content[0].text).toContain('the user said no');
    expect(await far.rest()).toEqual([]);
  });

  it('does not declare it and is not asked; the call ends, and says why (INIT-018)', async () => {
    const { client, far } = await asked(SAMPLE, { elicitation: {} });
    const { id, result } = await client.next();
    expect([id, result.isError]).toEqual([1, true]);
    expect(result.content[0].text).toContain('sampling');
    expect(await far.rest()).toEqual([]);
  });

  it('refuses about a prompt, which has no other way to say it than an error', async () => {
    const { near, far } = await bridgeTo('modern');
    const client: NearClient = await near.legacy({ capabilities: { roots: {} } });
    client.request(1, 'prompts/get', { name: 'p' });
    const get = await far.next();
    get.on.answer(get, { resultType: 'input_required', inputRequests: { r: ROOTS } });
    client.refuse(await client.next(), -32601, 'no roots here');
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32603 } });
    expect(await far.rest()).toEqual([]);
  });
});
