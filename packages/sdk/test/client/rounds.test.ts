import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import type { Message } from '../../../../test/support/raw-client.js';
import { gate } from '../../../../test/support/sessions.js';
import {
  type Answers,
  type ConnectOptions,
  type CreateMessageResult,
  connect,
  createServer,
  type ElicitResult,
  type InputRequiredResult,
  memory,
  ProtocolError,
} from '../../src/index.js';
import {
  FIRST,
  failure,
  META,
  meet,
  PlayedServer,
  settle,
  welcome,
} from '../support/client/played-server.js';

const ask = (message: string) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties: {} } },
});
const SAMPLE = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 9 },
};
const ROOTS = { method: 'roots/list' };
const ACCEPT: ElicitResult = { action: 'accept', content: { ok: true } };
const SAID: CreateMessageResult = {
  role: 'assistant',
  content: { type: 'text', text: 'Hello' },
  model: 'm',
  stopReason: 'endTurn',
};
const ALL: Answers = {
  elicit: () => ACCEPT,
  sample: () => SAID,
  roots: [{ uri: 'file:///home', name: 'home' }],
};
const DONE = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };

const round = (inputRequests?: object, requestState?: string) => ({
  resultType: 'input_required',
  ...(inputRequests && { inputRequests }),
  ...(requestState !== undefined && { requestState }),
});

describe('the capabilities a client declares', () => {
  const cases: [string, Answers, object][] = [
    ['nothing', {}, {}],
    ['forms', { elicit: () => ACCEPT }, { elicitation: { form: {} } }],
    ['forms and URLs', { elicit: () => ACCEPT, urls: true }, { elicitation: { form: {}, url: {} } }],
    ['sampling', { sample: () => SAID }, { sampling: {} }],
    ['sampling with tools', { sample: () => SAID, tools: true }, { sampling: { tools: {} } }],
    ['roots', { roots: [] }, { roots: {} }],
    ['roots that are looked up', { roots: () => [] }, { roots: {} }],
    ['all', ALL, { elicitation: { form: {} }, sampling: {}, roots: {} }],
    ['URLs without anybody to ask', { urls: true, tools: true }, {}],
  ];

  it.each(cases)('follow from its answers: %s', async (_name, answers, capabilities) => {
    const modern = new PlayedServer();
    const connecting = connect(modern, { mode: 'modern', cache: false, answers, info: INFO });
    const server = await modern.accept();
    const discover = await welcome('modern', server);
    const expected = { ...META, 'io.modelcontextprotocol/clientCapabilities': capabilities };
    expect(discover.params).toEqual({ _meta: expected });
    await using client = await connecting;
    void client.callTool('t').catch(() => {});
    expect((await server.next()).params).toEqual({ name: 't', _meta: expected });

    const legacy = new PlayedServer();
    const opening = connect(legacy, { mode: 'legacy', cache: false, answers, info: INFO });
    const initialize = await welcome('legacy', await legacy.accept());
    expect(initialize.params).toEqual({
      protocolVersion: '2025-11-25',
      capabilities,
      clientInfo: { name: 'tester', version: '1' },
    });
    await (await opening).close();
  });
});

describe('rounds of a modern server', () => {
  it('repeats the request with the answers, the state and a new id (MRTR-016 … MRTR-024)', async () => {
    const { client, server } = await meetAll();
    const calling = client.callTool('t', { x: 1 });
    const first = await server.next();
    expect(first).toEqual(call(1, { name: 't', arguments: { x: 1 } }));
    const state = ' {"a":"\\u0000é\u2028"} ';
    server.answer(first, round({ q: ask('Sure?'), 'any key': SAMPLE, '': ROOTS }, state));
    const second = await server.next();
    expect(second).toEqual(
      call(2, {
        name: 't',
        arguments: { x: 1 },
        inputResponses: {
          q: { action: 'accept', content: { ok: true } },
          'any key': {
            role: 'assistant',
            content: { type: 'text', text: 'Hello' },
            model: 'm',
            stopReason: 'endTurn',
          },
          '': { roots: [{ uri: 'file:///home', name: 'home' }] },
        },
        requestState: state,
      }),
    );
    server.answer(second, DONE);
    expect(await calling).toEqual(DONE);
  });

  it('sends only what the last round gave: no old state, no old answers (MRTR-020)', async () => {
    const { client, server } = await meetAll();
    const calling = client.callTool('t');
    server.answer(await server.next(), round({ one: ask('1?') }, 'state 1'));
    server.answer(await server.next(), round({ two: ask('2?') }));
    const third = await server.next();
    expect(third).toEqual(call(3, { name: 't', inputResponses: { two: ACCEPT } }));
    server.answer(third, round(undefined, ''));
    const fourth = await server.next();
    expect(fourth).toEqual(call(4, { name: 't', requestState: '' }));
    server.answer(fourth, DONE);
    expect(await calling).toEqual(DONE);
  });

  it('asks the questions of one round at the same time', async () => {
    const both = gate();
    let asked = 0;
    const { client, server } = await meetAll({
      answers: {
        elicit: async ({ message }) => {
          asked += 1;
          if (asked === 2) both.open();
          await both.passed;
          return { action: 'accept', content: { message } };
        },
      },
    });
    const calling = client.callTool('t');
    server.answer(await server.next(), round({ a: ask('A'), b: ask('B') }));
    const second = await server.next();
    expect(second.params?.['inputResponses']).toEqual({
      a: { action: 'accept', content: { message: 'A' } },
      b: { action: 'accept', content: { message: 'B' } },
    });
    server.answer(second, DONE);
    await calling;
  });

  it('never mixes the rounds of calls that run at the same time (MRTR-022)', async () => {
    const { client, server } = await meetAll({
      answers: { elicit: ({ message }) => ({ action: 'accept', content: { message } }) },
    });
    const calls = ['x', 'y'].map((name) => client.callTool(name));
    const [x, y] = [await server.next(), await server.next()];
    server.answer(y, round({ q: ask('of y') }, 'state y'));
    server.answer(x, round({ q: ask('of x') }, 'state x'));
    for (const retry of [await server.next(), await server.next()]) {
      const name = retry.params?.['name'] as string;
      expect(retry.params).toMatchObject({
        requestState: `state ${name}`,
        inputResponses: { q: { content: { message: `of ${name}` } } },
      });
      server.answer(retry, { content: [{ type: 'text', text: name }] });
    }
    expect((await Promise.all(calls)).map(({ content }) => content)).toMatchObject([
      [{ text: 'x' }],
      [{ text: 'y' }],
    ]);
  });

  it('serves prompts and resources too', async () => {
    const { client, server } = await meetAll();
    const getting = client.getPrompt('p', { a: '1' });
    server.answer(await server.next(), round({ r: ROOTS }));
    const prompt = await server.next();
    expect(prompt.params).toMatchObject({
      name: 'p',
      arguments: { a: '1' },
      inputResponses: { r: { roots: [{ uri: 'file:///home', name: 'home' }] } },
    });
    server.answer(prompt, { messages: [] });
    await getting;
    const reading = client.readResource('a://b');
    server.answer(await server.next(), round(undefined, 's'));
    const read = await server.next();
    expect(read.params).toEqual({ uri: 'a://b', requestState: 's', _meta: expect.anything() });
    server.answer(read, { contents: [] });
    await reading;
  });

  it('keeps options for every round: a token of its own, the level', async () => {
    const { client, server } = await meetAll();
    const seen: number[] = [];
    const calling = client.callTool(
      't',
      {},
      { onProgress: ({ progress }) => seen.push(progress), logLevel: 'info' },
    );
    const first = await server.next();
    server.answer(first, round({ q: ask('?') }));
    const second = await server.next();
    expect(second.params?.['_meta']).toMatchObject({
      progressToken: second.id,
      'io.modelcontextprotocol/logLevel': 'info',
    });
    server.send({
      method: 'notifications/progress',
      params: { progressToken: second.id, progress: 2 },
    });
    server.answer(second, DONE);
    await calling;
    expect(seen).toEqual([2]);
  });

  it('ends after maxRounds', async () => {
    const { client, server } = await meetAll({ maxRounds: 2 });
    const calling = failure(client.callTool('t'));
    for (let count = 0; count < 3; count += 1) server.answer(await server.next(), round({ q: ask('?') }));
    expect(await calling).toMatchObject({ code: 'TOO_MANY_ROUNDS', sent: 'maybe' });
    expect(await server.rest()).toEqual([]);
  });

  it('rejects a round that asks for nothing and gives no state', async () => {
    const { client, server } = await meetAll();
    const calling = failure(client.callTool('t'));
    server.answer(await server.next(), round());
    expect(await Promise.race([calling, settle().then(() => 'still going')])).toMatchObject({
      code: 'INVALID_RESULT',
    });
    expect(await server.rest()).toEqual([]);
  });

  it.each([
    ['null', { q: null }],
    ['a string', { q: 'what?' }],
    ['no method', { q: { params: {} } }],
    ['an elicitation without params', { q: { method: 'elicitation/create' } }],
    ['a list of requests', [ask('?')]],
  ])('rejects a malformed question as the fault of the server: %s', async (_name, requests) => {
    const { client, server } = await meetAll();
    const calling = failure(client.callTool('t'));
    server.answer(await server.next(), round(requests));
    expect(await Promise.race([calling, settle().then(() => 'still going')])).toMatchObject({
      name: 'IsthmusError',
      code: 'INVALID_RESULT',
    });
  });

  it.each([
    ['an undeclared question', { q: SAMPLE }],
    ['an unknown question', { q: { method: 'example/ask', params: {} } }],
    [
      'a page, when only forms were declared',
      { q: { method: 'elicitation/create', params: { mode: 'url', message: 'Go', url: 'https://x.test' } } },
    ],
  ])('does not call again for %s (MRTR-028)', async (_name, requests) => {
    const { client, server } = await meet('modern', { answers: { elicit: () => ACCEPT } });
    const calling = failure(client.callTool('t'));
    server.answer(await server.next(), round(requests, 's'));
    expect(await calling).toMatchObject({ code: 'CANNOT_ANSWER' });
    expect(await server.rest()).toEqual([]);
  });

  it('does not let a server have tools sampled that the client did not declare (SAMP-004)', async () => {
    let sampled = 0;
    const { client, server } = await meet('modern', {
      answers: {
        sample: () => {
          sampled += 1;
          return SAID;
        },
      },
    });
    const calling = failure(client.callTool('t'));
    const tools = [{ name: 'rm', inputSchema: { type: 'object' } }];
    server.answer(await server.next(), round({ q: { ...SAMPLE, params: { ...SAMPLE.params, tools } } }));
    expect(await Promise.race([calling, settle().then(() => 'sampled')])).toMatchObject({
      code: 'CANNOT_ANSWER',
    });
    expect(sampled).toBe(0);
  });

  it('fails the call with what the answer threw, and tells the other answers to stop', async () => {
    const boom = new Error('the user is gone');
    let stopped = false;
    const { client, server } = await meetAll({
      answers: {
        elicit: () => Promise.reject(boom),
        sample: (_question, { signal }) =>
          new Promise(() => {
            signal.addEventListener('abort', () => {
              stopped = true;
            });
          }),
      },
    });
    const calling = client.callTool('t');
    calling.catch(() => {});
    server.answer(await server.next(), round({ s: SAMPLE, e: ask('?') }));
    await expect(calling).rejects.toBe(boom);
    expect(stopped).toBe(true);
    expect(await server.rest()).toEqual([]);
  });

  it('stops asking when the call is aborted', async () => {
    const asked = gate<AbortSignal>();
    const { client, server } = await meetAll({
      answers: {
        elicit: (_question, { signal }) => {
          asked.open(signal);
          return new Promise(() => {});
        },
      },
    });
    const abort = new AbortController();
    const calling = failure(client.callTool('t', {}, { signal: abort.signal }));
    server.answer(await server.next(), round({ q: ask('?') }));
    const signal = await asked.passed;
    const reason = new Error('enough');
    abort.abort(reason);
    const error = await calling;
    expect(error).toMatchObject({ code: 'CANCELLED', sent: 'maybe' });
    expect(error.cause).toBe(reason);
    expect(signal.aborted).toBe(true);
    expect(await server.rest()).toEqual([]);
  });

  it('stops asking when the client is closed', async () => {
    const asked = gate<AbortSignal>();
    const { client, server } = await meetAll({
      answers: {
        elicit: (_question, { signal }) => {
          asked.open(signal);
          return new Promise(() => {});
        },
      },
    });
    const calling = failure(client.callTool('t'));
    server.answer(await server.next(), round({ q: ask('?') }));
    const signal = await asked.passed;
    await client.close();
    expect(await Promise.race([calling, settle().then(() => 'still waiting')])).toMatchObject({
      code: 'CONNECTION_CLOSED',
    });
    expect(signal.aborted).toBe(true);
  });

  it('does not count the time of the user as that of the server', async () => {
    const clock = new FakeClock();
    const answered = gate<ElicitResult>();
    const { client, server } = await meetAll({ clock, answers: { elicit: () => answered.passed } });
    const calling = client.callTool('t', {}, { timeoutMs: 100 });
    server.answer(await server.next(), round({ q: ask('?') }));
    await settle();
    clock.advance(5000);
    answered.open(ACCEPT);
    server.answer(await server.next(), DONE);
    expect(await calling).toEqual(DONE);
  });

  it('hands the round to the caller in manual mode and calls no answer function', async () => {
    const { client, server } = await meetAll({
      answers: {
        elicit: () => {
          throw new Error('must not be asked');
        },
      },
    });
    const calling = client.callTool('t', { x: 1 }, { manual: true });
    const first = await server.next();
    expect(first.params).toEqual({ name: 't', arguments: { x: 1 }, _meta: expect.anything() });
    server.answer(first, round({ q: ask('?') }, 's'));
    const given = (await calling) as InputRequiredResult;
    expect(given).toEqual(round({ q: ask('?') }, 's'));

    const going = client.callTool(
      't',
      { x: 1 },
      { manual: true, inputResponses: { q: { action: 'decline' } }, requestState: 's' },
    );
    const second = await server.next();
    expect(second).toMatchObject({
      id: 2,
      params: {
        name: 't',
        arguments: { x: 1 },
        inputResponses: { q: { action: 'decline' } },
        requestState: 's',
      },
    });
    server.answer(second, DONE);
    expect(await going).toEqual(DONE);
  });

  it('hands rounds of prompts and resources to the caller too', async () => {
    const { client, server } = await meetAll();
    const getting = client.getPrompt('p', undefined, { manual: true });
    server.answer(await server.next(), round({ r: ROOTS }));
    expect(await getting).toEqual(round({ r: ROOTS }));
    const reading = client.readResource('a://b', { manual: true, requestState: 'x' });
    const read = await server.next();
    expect(read.params).toEqual({ uri: 'a://b', requestState: 'x', _meta: expect.anything() });
    server.answer(read, round({ r: ROOTS }));
    expect(await reading).toEqual(round({ r: ROOTS }));
  });
});

describe('questions of a legacy server', () => {
  it('are answered on the line, at the same time, with their own ids', async () => {
    const { server } = await meet('legacy', { answers: ALL });
    server.send(
      { id: 0, ...ask('?') },
      { id: 'two', ...SAMPLE },
      { id: '', method: 'roots/list', params: { _meta: {} } },
    );
    const answers = [await server.next(), await server.next(), await server.next()];
    expect(byId(answers)).toEqual({
      '0': { jsonrpc: '2.0', id: 0, result: ACCEPT },
      two: { jsonrpc: '2.0', id: 'two', result: SAID },
      '': { jsonrpc: '2.0', id: '', result: { roots: [{ uri: 'file:///home', name: 'home' }] } },
    });
  });

  it('are refused when no answer was declared: -32601 (ROOT-008)', async () => {
    const { server } = await meet('legacy');
    server.send({ id: 1, ...ask('?') }, { id: 2, ...SAMPLE }, { id: 3, ...ROOTS });
    const answers = [await server.next(), await server.next(), await server.next()];
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [1, -32601],
      [2, -32601],
      [3, -32601],
    ]);
  });

  it('are refused with -32602 in a mode that was not declared (ELIC-026, SAMP-004)', async () => {
    const { server } = await meet('legacy', { answers: { elicit: () => ACCEPT, sample: () => SAID } });
    server.send(
      {
        id: 1,
        method: 'elicitation/create',
        params: { mode: 'url', message: 'Go', url: 'https://x.test', elicitationId: 'e' },
      },
      {
        id: 2,
        ...SAMPLE,
        params: { ...SAMPLE.params, tools: [{ name: 't', inputSchema: { type: 'object' } }] },
      },
    );
    const answers = [await server.next(), await server.next()];
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [1, -32602],
      [2, -32602],
    ]);
  });

  it('take the error that the answer throws', async () => {
    const { server } = await meet('legacy', {
      answers: {
        sample: () => {
          throw new ProtocolError(-1, 'User rejected sampling request');
        },
        elicit: () => Promise.reject(new Error('no screen')),
      },
    });
    server.send({ id: 1, ...SAMPLE }, { id: 2, ...ask('?') });
    const answers = byId([await server.next(), await server.next()]);
    expect(answers['1']!.error).toEqual({ code: -1, message: 'User rejected sampling request' });
    expect(answers['2']!.error).toEqual({ code: -32603, message: 'no screen' });
  });

  it('are not answered after the server took them back', async () => {
    const asked = gate<AbortSignal>();
    const answered = gate<ElicitResult>();
    const { server } = await meet('legacy', {
      answers: {
        elicit: (_question, { signal }) => {
          asked.open(signal);
          return answered.passed;
        },
      },
    });
    server.send({ id: 7, ...ask('?') });
    const signal = await asked.passed;
    server.send({ method: 'notifications/cancelled', params: { requestId: 7 } });
    await settle();
    expect(signal.aborted).toBe(true);
    answered.open(ACCEPT);
    expect(await server.rest()).toEqual([]);
  });

  it('tell the answer when the connection is gone', async () => {
    const asked = gate<AbortSignal>();
    const { client, server } = await meet('legacy', {
      answers: {
        elicit: (_question, { signal }) => {
          asked.open(signal);
          return new Promise(() => {});
        },
      },
    });
    server.send({ id: 7, ...ask('?') });
    const signal = await asked.passed;
    await client.close();
    expect(signal.aborted).toBe(true);
  });

  it('do not cost the call the time of the user', async () => {
    const clock = new FakeClock();
    const answered = gate<ElicitResult>();
    const { client, server } = await meet('legacy', { clock, answers: { elicit: () => answered.passed } });
    const calling = client.callTool('t', {}, { timeoutMs: 100 });
    calling.catch(() => {});
    const sent = await server.next();
    server.send({ id: 1, ...ask('?') });
    await settle();
    clock.advance(5000);
    answered.open(ACCEPT);
    expect(await server.next()).toMatchObject({ id: 1, result: ACCEPT });
    server.answer(sent, { content: [] });
    expect(await calling).toEqual({ content: [] });
  });

  it('leave manual calls alone: there are no rounds to hand over', async () => {
    const { client, server } = await meet('legacy', { answers: ALL });
    const calling = client.callTool('t', {}, { manual: true });
    const sent = await server.next();
    expect(sent).toEqual({
      jsonrpc: '2.0',
      id: FIRST,
      method: 'tools/call',
      params: { name: 't', arguments: {} },
    });
    server.send({ id: 1, ...ROOTS });
    expect(await server.next()).toMatchObject({ id: 1, result: { roots: [{ name: 'home' }] } });
    server.answer(sent, { content: [] });
    expect(await calling).toEqual({ content: [] });
  });
});

describe.each(['modern', 'legacy'] as const)('the same answers for our own %s server', (era) => {
  it('serve elicitation, sampling and roots of one handler', async () => {
    const server = createServer({ name: 'own', version: '1' });
    server.tool('ask', {}, async (_args, ctx) => {
      const [answer, said, roots] = await Promise.all([
        ctx.elicit({ message: 'Sure?', requestedSchema: { type: 'object', properties: {} } }),
        ctx.sample({ messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 }),
        ctx.roots(),
      ]);
      return JSON.stringify([answer.action, said.model, roots.length]);
    });
    await using client = await connect(memory(server), { mode: era, cache: false, answers: ALL });
    expect((await client.callTool('ask')).content).toEqual([{ type: 'text', text: '["accept","m",1]' }]);
  });
});

const INFO = { name: 'tester', version: '1' };

function meetAll(options: ConnectOptions = {}) {
  return meet('modern', { ...options, answers: { ...ALL, ...options.answers } });
}

/** A tool call of a client that declares everything. */
function call(id: number, params: object) {
  const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
  const _meta = { ...META, 'io.modelcontextprotocol/clientCapabilities': capabilities };
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { ...params, _meta } };
}

function byId(messages: Message[]): Record<string, Message> {
  return Object.fromEntries(messages.map((message) => [String(message.id), message]));
}
