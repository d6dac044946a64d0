import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import type { Heard } from '../support/bridge/far.js';
import { settle } from '../support/bridge/frames.js';

const PAGE = { mode: 'url', message: 'Sign in', url: 'https://a.example/sign-in?x=1' };
const ABLE = { elicitation: { form: {}, url: {} } };
const DONE = { content: [{ type: 'text', text: 'done' }] };

describe('row 8: a modern server sends a legacy client to a page', () => {
  async function asked() {
    const between = await bridgeTo('modern');
    const client = await between.near.legacy({ capabilities: ABLE });
    client.call(1, 'a');
    const call = await between.far.next();
    const round = (inputRequests: object, state: string) => ({
      resultType: 'input_required',
      inputRequests,
      requestState: state,
    });
    const page = { method: 'elicitation/create', params: PAGE };
    call.on.answer(call, round({ p: page }, 's1'));
    return { ...between, client, round, page };
  }

  it('with an elicitationId that the revision demands (ELIC-007)', async () => {
    const { client, far } = await asked();
    const question = await client.next();
    expect(question).toEqual({
      jsonrpc: '2.0',
      id: question.id,
      method: 'elicitation/create',
      params: { ...PAGE, elicitationId: expect.stringMatching(/.{8}/), _meta: expect.anything() },
    });
    client.answer(question, { action: 'accept' });
    const retry = await far.next();
    expect(retry.params).toMatchObject({ inputResponses: { p: { action: 'accept' } }, requestState: 's1' });
    retry.on.answer(retry, { resultType: 'complete', ...DONE });
    expect((await client.next()).id).toBe(1);
  });

  it('and while it waits for the user it asks again, less and less often, but the user is not (ELIC-019)', async () => {
    const { client, far, clock, round, page } = await asked();
    client.answer(await client.next(), { action: 'accept' });
    const waits: number[] = [];
    let retry = await far.next();
    for (const state of ['s2', 's3', 's4']) {
      retry.on.answer(retry, round({ p: page }, state));
      await settle();
      const began = clock.now();
      let heard: Heard[] = [];
      while (heard.length === 0 && clock.now() - began < 60_000) {
        clock.advance(100);
        heard = await far.rest();
      }
      waits.push(clock.now() - began);
      [retry] = heard as [Heard];
      expect(retry.params).toMatchObject({
        inputResponses: { p: { action: 'accept' } },
        requestState: state,
      });
      expect(await client.rest()).toEqual([]);
    }
    expect(waits).toEqual([400, 800, 1600]);
    retry.on.answer(retry, { resultType: 'complete', ...DONE });
    expect((await client.next()).result).toEqual(DONE);
  });

  it('and another page is another question', async () => {
    const { client, far, round } = await asked();
    client.answer(await client.next(), { action: 'accept' });
    const retry = await far.next();
    const other = { method: 'elicitation/create', params: { ...PAGE, url: 'https://b.example/' } };
    retry.on.answer(retry, round({ q: other }, 's2'));
    const question = await client.next();
    expect(question.params.url).toBe('https://b.example/');
    client.answer(question, { action: 'decline' });
    const last = await far.next();
    expect(last.params.inputResponses).toEqual({ q: { action: 'decline' } });
    last.on.answer(last, { resultType: 'complete', ...DONE });
    await client.next();
  });

  it('unless the user says no, which is asked again if the server does', async () => {
    const { client, far, round, page } = await asked();
    client.answer(await client.next(), { action: 'decline' });
    const retry = await far.next();
    expect(retry.params.inputResponses).toEqual({ p: { action: 'decline' } });
    retry.on.answer(retry, round({ p: page }, 's2'));
    const again = await client.next();
    expect(again.params.url).toBe(PAGE.url);
    client.answer(again, { action: 'accept' });
    const last = await far.next();
    last.on.answer(last, { resultType: 'complete', ...DONE });
    await client.next();
  });
});

describe('row 8: a legacy server sends a modern client to a page', () => {
  async function calling(capabilities: object = ABLE) {
    const between = await bridgeTo('legacy');
    const client = between.near.modern({ capabilities });
    client.call(1, 'a');
    const call = await between.far.next();
    return { ...between, client, call };
  }
  const required = (...urls: string[]) => ({
    elicitations: urls.map((url) => ({ ...PAGE, url, elicitationId: `id of ${url}` })),
  });

  it('without the elicitationId, which no longer exists (ELIC-025)', async () => {
    const { client, call, far } = await calling();
    call.on.ask('q', 'elicitation/create', { ...PAGE, elicitationId: 'e1' });
    const { inputRequests, requestState } = (await client.next()).result;
    expect(inputRequests).toEqual({ 'elicitation-1': { method: 'elicitation/create', params: PAGE } });
    client.call(2, 'a', { requestState, inputResponses: { 'elicitation-1': { action: 'accept' } } });
    expect(await far.next()).toEqual({ jsonrpc: '2.0', id: 'q', result: { action: 'accept' } });
    call.on.notify('notifications/elicitation/complete', { elicitationId: 'e1' });
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(2);
    expect(await client.rest()).toEqual([]);
  });

  it('by -32042: that is a round, and the call is made again when the user agrees (ERR-008)', async () => {
    const { client, call, far } = await calling();
    call.on.refuse(call, -32042, 'Sign in first', required('https://a.b/1', 'https://a.b/2'));
    const { resultType, inputRequests, requestState } = (await client.next()).result;
    expect(resultType).toBe('input_required');
    expect(inputRequests).toEqual({
      'elicitation-1': { method: 'elicitation/create', params: { ...PAGE, url: 'https://a.b/1' } },
      'elicitation-2': { method: 'elicitation/create', params: { ...PAGE, url: 'https://a.b/2' } },
    });
    const accepted = { 'elicitation-1': { action: 'accept' }, 'elicitation-2': { action: 'accept' } };
    client.call(2, 'a', { requestState, inputResponses: accepted });
    const again = await far.next();
    expect([again.method, again.params]).toEqual(['tools/call', { name: 'a', arguments: {} }]);
    expect(again.id).not.toBe(call.id);
    again.on.answer(again, DONE);
    expect(await client.next()).toMatchObject({ id: 2, result: { resultType: 'complete', ...DONE } });
  });

  it('by -32042 once more: then there is another round', async () => {
    const { client, call, far } = await calling();
    call.on.refuse(call, -32042, 'Sign in first', required('https://a.b/1'));
    const first = (await client.next()).result;
    const [key] = Object.keys(first.inputRequests) as [string];
    client.call(2, 'a', {
      requestState: first.requestState,
      inputResponses: { [key]: { action: 'accept' } },
    });
    const again = await far.next();
    again.on.refuse(again, -32042, 'And now there', required('https://a.b/2'));
    const second = (await client.next()).result;
    expect(Object.values(second.inputRequests)).toEqual([
      { method: 'elicitation/create', params: { ...PAGE, url: 'https://a.b/2' } },
    ]);
    const [other] = Object.keys(second.inputRequests) as [string];
    client.call(3, 'a', {
      requestState: second.requestState,
      inputResponses: { [other]: { action: 'accept' } },
    });
    const last = await far.next();
    last.on.answer(last, DONE);
    expect((await client.next()).id).toBe(3);
  });

  it.each(['decline', 'cancel'])(
    'by -32042, and the user says "%s": the refusal stands, and nothing is run',
    async (action) => {
      const { client, call, far } = await calling();
      call.on.refuse(call, -32042, 'Sign in first', required('https://a.b/1'));
      const { requestState } = (await client.next()).result;
      client.call(2, 'a', { requestState, inputResponses: { 'elicitation-1': { action } } });
      const { id, error } = await client.next();
      expect([id, error!.code, error!.message]).toEqual([2, -32603, 'Sign in first']);
      expect(await far.rest()).toEqual([]);
    },
  );

  it('by -32042, which the client cannot do: it hears what is missing (META-008)', async () => {
    const { client, call, far } = await calling({ elicitation: {} });
    call.on.refuse(call, -32042, 'Sign in first', required('https://a.b/1'));
    const { id, error } = await client.next();
    expect([id, error!.code, error!.data]).toEqual([
      1,
      -32021,
      { requiredCapabilities: { elicitation: { url: {} } } },
    ]);
    expect(await far.rest()).toEqual([]);
  });

  it('by -32042 without a page: that is an error', async () => {
    const { client, call } = await calling();
    call.on.refuse(call, -32042, 'Sign in first', { elicitations: [] });
    const { id, error } = await client.next();
    expect([id, error!.code]).toEqual([1, -32603]);
  });
});

describe('row 8: a legacy client before a legacy server', () => {
  it('gets -32042 as it is, and hears when the user is through (ELIC-027)', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = await near.legacy({ capabilities: ABLE });
    client.call(1, 'a');
    const call = await far.next();
    const data = { elicitations: [{ ...PAGE, elicitationId: 'e1' }] };
    call.on.refuse(call, -32042, 'Sign in first', data);
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32042, message: 'Sign in first', data },
    });
    call.on.notify('notifications/elicitation/complete', { elicitationId: 'e1' });
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/elicitation/complete',
      params: { elicitationId: 'e1' },
    });
  });

  it('is sent to a page under the id of the server, and hears when the user is through', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = await near.legacy({ capabilities: ABLE });
    client.call(1, 'a');
    const call = await far.next();
    call.on.ask('q', 'elicitation/create', { ...PAGE, elicitationId: 'e1' });
    const asked = await client.next();
    expect(asked.params).toMatchObject({ ...PAGE, elicitationId: 'e1' });
    client.answer(asked, { action: 'accept' });
    expect(await far.next()).toEqual({ jsonrpc: '2.0', id: 'q', result: { action: 'accept' } });
    call.on.notify('notifications/elicitation/complete', { elicitationId: 'e1' });
    expect((await client.next()).params).toEqual({ elicitationId: 'e1' });
    call.on.answer(call, DONE);
    expect((await client.next()).id).toBe(1);
  });
});
