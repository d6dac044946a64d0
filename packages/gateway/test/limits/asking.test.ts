import { type Context, createServer, inputRequired } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../test/support/messages.js';
import { ask, legacyCall, modernCall, openSession, until } from '../../../sdk/test/support/http-server.js';
import { as, createWorker, serveLimited, type Worker, work } from '../support/limits.js';

const CAPABILITIES = { elicitation: { form: {} } };
const QUESTION = { message: 'Sure?', schema: { type: 'object', properties: {} } } as const;
const YES = { action: 'accept', content: {} };

/** A worker that can also ask first. */
function createAsker(): Worker {
  const worker = createWorker();
  worker.server.tool('ask', {}, async (_args, ctx: Context) => {
    const { action } = await ctx.elicit(QUESTION);
    return `the answer was ${action}`;
  });
  worker.server.tool('ask twice', {}, async (_args, ctx: Context) => {
    const answers = await Promise.all([ctx.elicit(QUESTION), ctx.elicit(QUESTION)]);
    return answers.map(({ action }) => action).join(' and ');
  });
  worker.server.tool('replay', {}, (_args, ctx: Context) => {
    if (ctx.answers) return 'answered';
    const params = { message: 'Sure?', requestedSchema: { type: 'object' as const, properties: {} } };
    return inputRequired({ requests: { sure: { method: 'elicitation/create', params } }, state: 1 });
  });
  return worker;
}

const asking = (url: string, tool: string, name?: string, round?: Message) => {
  const params = round && {
    requestState: round.result?.requestState,
    inputResponses: Object.fromEntries(Object.keys(round.result?.inputRequests).map((key) => [key, YES])),
  };
  const headers = name === undefined ? {} : as(name);
  return ask(
    url,
    modernCall(1, tool, {}, { headers, capabilities: CAPABILITIES, ...(params && { params }) }),
  );
};

describe('a call whose client is being asked', () => {
  it('takes up no place: others go on, and so does it when the answer comes, however full it is', async () => {
    const { server, end } = createAsker();
    const { url, load } = await serveLimited(server, { limits: { maxConcurrent: 1, maxQueue: 1 } });
    const round = await asking(url, 'ask', 'ada');
    expect(round.json.result?.resultType).toBe('input_required');
    expect(load()).toMatchObject({ running: 0, waiting: 0, asking: 1 });
    const bob = work(url, 'bob', 'b1');
    await until('call of bob', () => load().running === 1);
    const eve = work(url, 'eve', 'e1');
    await until('call of eve', () => load().waiting === 1);
    const answered = await asking(url, 'ask', 'ada', round.json);
    expect(answered.json.result?.content[0].text).toBe('the answer was accept');
    // That was no reason to let somebody else in.
    expect(load()).toMatchObject({ running: 1, waiting: 1, asking: 0 });
    await end('b1');
    await end('e1');
    expect([await bob, await eve]).toEqual(['b1 done', 'e1 done']);
  });

  it('counts as one with several questions', async () => {
    const { server } = createAsker();
    const { url, load } = await serveLimited(server, { limits: { maxConcurrent: 1, maxQueue: 0 } });
    const round = await asking(url, 'ask twice', 'ada');
    expect(Object.keys(round.json.result?.inputRequests)).toHaveLength(2);
    expect(load()).toMatchObject({ running: 0, asking: 1 });
    const answered = await asking(url, 'ask twice', 'ada', round.json);
    expect(answered.json.result?.content[0].text).toBe('accept and accept');
    expect(load()).toMatchObject({ running: 0, asking: 0 });
  });

  it('takes up a place of its caller, so that nobody can leave questions open without end', async () => {
    const { server } = createAsker();
    const limits = { maxConcurrentPerCaller: 2, maxQueue: 0 };
    const { url } = await serveLimited(server, { limits });
    const rounds = [await asking(url, 'ask', 'ada'), await asking(url, 'ask', 'ada')];
    expect((await asking(url, 'ask', 'ada')).status).toBe(429);
    expect((await asking(url, 'ask', 'bob')).status).toBe(200);
    expect((await asking(url, 'ask', 'ada', rounds[0]!.json)).status).toBe(200);
    expect((await asking(url, 'ask', 'ada')).json.result?.resultType).toBe('input_required');
  });

  it('takes up none of nobody in particular: it may be anybody who does not answer', async () => {
    const { server } = createAsker();
    const limits = { maxConcurrentPerCaller: 1, maxQueue: 0 };
    const { url, load } = await serveLimited(server, { limits }, {});
    for (let n = 1; n <= 3; n += 1) {
      expect((await asking(url, 'ask')).json.result?.resultType).toBe('input_required');
      expect(load()).toMatchObject({ running: 0, asking: n });
    }
  });

  it('in a legacy session waits without a place, too', async () => {
    const { server, end } = createAsker();
    const { url, load } = await serveLimited(server, { limits: { maxConcurrent: 1, maxQueue: 0 } });
    const session = await openSession(url, { capabilities: { elicitation: {} }, headers: as('ada') });
    const stream = await session.open(legacyCall(1, 'ask'));
    const question = await stream.next();
    expect(question.method).toBe('elicitation/create');
    expect(load()).toMatchObject({ running: 0, asking: 1 });
    const bob = work(url, 'bob', 'b1');
    await end('b1');
    expect(await bob).toBe('b1 done');
    await session.post({ jsonrpc: '2.0', id: question.id, result: YES });
    expect((await stream.next()).result?.content[0].text).toBe('the answer was accept');
    expect(load()).toMatchObject({ running: 0, asking: 0 });
  });

  it('and that is called off meanwhile leaves nothing behind', async () => {
    const { server } = createAsker();
    const { url, load } = await serveLimited(server, { limits: { maxConcurrent: 1, maxQueue: 0 } });
    const session = await openSession(url, { capabilities: { elicitation: {} }, headers: as('ada') });
    const stream = await session.open(legacyCall(1, 'ask'));
    await stream.next();
    await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await until('end of the call', () => load().asking === 0);
    expect(load()).toEqual({ running: 0, waiting: 0, asking: 0, listens: 0 });
  });
});

it('a call that ends with questions and is made again with the answers takes two turns', async () => {
  const { server, end } = createAsker();
  const { url, load } = await serveLimited(server, { limits: { maxConcurrent: 1, maxQueue: 0 } });
  const round = await asking(url, 'replay', 'ada');
  expect(round.json.result?.resultType).toBe('input_required');
  expect(load()).toMatchObject({ running: 0, asking: 0 });
  const bob = work(url, 'bob', 'b1');
  await until('call of bob', () => load().running === 1);
  // Its state is still good when there is room again.
  expect((await asking(url, 'replay', 'ada', round.json)).status).toBe(503);
  await end('b1');
  await bob;
  const answered = await asking(url, 'replay', 'ada', round.json);
  expect(answered.json.result?.content[0].text).toBe('answered');
});

it('a question that cannot be asked gives the place back for no longer than that', async () => {
  const server = createServer({ name: 'asker', version: '1' });
  server.tool('ask', {}, async (_args, ctx: Context) => (await ctx.elicit(QUESTION)).action);
  const { url, load } = await serveLimited(server, { limits: { maxConcurrent: 1 } });
  expect((await ask(url, modernCall(1, 'ask', {}, { headers: as('ada') }))).json.error?.code).toBe(-32021);
  expect(load()).toEqual({ running: 0, waiting: 0, asking: 0, listens: 0 });
});
