import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import type { LegacyRevision } from '../support/bridge/frames.js';

const DONE = { resultType: 'complete', content: [] };
const TITLED = {
  type: 'string',
  oneOf: [
    { const: 'a', title: 'Alpha' },
    { const: 'b', title: 'Beta' },
  ],
};
const SEVERAL = { type: 'array', items: { type: 'string', enum: ['a', 'b'] } };

async function asked(revision: LegacyRevision, question: object, capabilities: object) {
  const between = await bridgeTo('modern');
  const client = await between.near.legacy({ revision, capabilities });
  client.call(1, 'a');
  const call = await between.far.next();
  call.on.answer(call, { resultType: 'input_required', inputRequests: { q: question }, requestState: 's' });
  return { ...between, client };
}

const form = (properties: object) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message: 'm', requestedSchema: { type: 'object', properties } },
});
const sampling = (...messages: object[]) => ({
  method: 'sampling/createMessage',
  params: { messages, maxTokens: 5 },
});

describe('row 9: what a modern server asks, put to an older client', () => {
  it('a choice with titles is an enum with names in 2025-06-18', async () => {
    const { client, far } = await asked('2025-06-18', form({ pick: TITLED }), { elicitation: {} });
    const question = await client.next();
    expect(question.params).toEqual({
      message: 'm',
      requestedSchema: {
        type: 'object',
        properties: { pick: { type: 'string', enum: ['a', 'b'], enumNames: ['Alpha', 'Beta'] } },
      },
      _meta: expect.anything(),
    });
    client.answer(question, { action: 'accept', content: { pick: 'b' } });
    const retry = await far.next();
    expect(retry.params.inputResponses).toEqual({ q: { action: 'accept', content: { pick: 'b' } } });
    retry.on.answer(retry, DONE);
    await client.next();
  });

  it('a multiple choice does not exist in 2025-06-18: the server hears "cancel", the client nothing', async () => {
    const { client, far } = await asked('2025-06-18', form({ pick: SEVERAL }), { elicitation: {} });
    const retry = await far.next();
    expect(retry.params).toMatchObject({ inputResponses: { q: { action: 'cancel' } }, requestState: 's' });
    retry.on.answer(retry, DONE);
    expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [] } });
  });

  it('both are as they were in 2025-11-25', async () => {
    const { client, far } = await asked('2025-11-25', form({ one: TITLED, some: SEVERAL }), {
      elicitation: {},
    });
    const question = await client.next();
    expect(question.params.requestedSchema.properties).toEqual({ one: TITLED, some: SEVERAL });
    client.answer(question, { action: 'accept', content: { one: 'a', some: ['a', 'b'] } });
    const retry = await far.next();
    expect(retry.params.inputResponses.q.content).toEqual({ one: 'a', some: ['a', 'b'] });
    retry.on.answer(retry, DONE);
    await client.next();
  });

  it('a message of several blocks is several messages before 2025-11-25', async () => {
    const blocks = [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ];
    const message = { role: 'user', content: blocks };
    const { client, far } = await asked('2025-06-18', sampling(message), { sampling: {} });
    const question = await client.next();
    expect(question.params.messages).toEqual([
      { role: 'user', content: blocks[0] },
      { role: 'user', content: blocks[1] },
    ]);
    client.answer(question, { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' });
    const retry = await far.next();
    retry.on.answer(retry, DONE);
    await client.next();
  });

  it('tool use does not exist before 2025-11-25: the call ends, and says so', async () => {
    const use = { role: 'assistant', content: { type: 'tool_use', id: 't', name: 'n', input: {} } };
    const { client, far } = await asked('2025-06-18', sampling(use), { sampling: {} });
    const { id, result } = await client.next();
    expect([id, result.isError]).toEqual([1, true]);
    expect(result.content[0].text).toContain('2025-06-18');
    expect(await far.rest()).toEqual([]);
  });
});

describe('row 9: what a legacy server asks, put to a modern client', () => {
  it.each([
    ['2025-06-18', { pick: { type: 'string', enum: ['a'], enumNames: ['Alpha'] } }],
    ['2025-11-25', { one: TITLED, some: SEVERAL, n: { type: 'integer', minimum: 1, default: 2 } }],
  ] as const)('of %s is handed on as it is', async (revision, properties) => {
    const { near, far } = await bridgeTo('legacy', { revision });
    const client = near.modern({ capabilities: { elicitation: {} } });
    client.call(1, 'a');
    const call = await far.next();
    const params = { message: 'm', requestedSchema: { type: 'object', properties } };
    call.on.ask('q', 'elicitation/create', params);
    const { inputRequests, requestState } = (await client.next()).result;
    expect(inputRequests).toEqual({ 'elicitation-1': { method: 'elicitation/create', params } });
    client.call(2, 'a', { requestState, inputResponses: { 'elicitation-1': { action: 'decline' } } });
    await far.next();
    call.on.answer(call, { content: [] });
    await client.next();
  });
});
