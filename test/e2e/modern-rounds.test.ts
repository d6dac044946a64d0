import { createServer, inputRequired, type ServeOptions, type Server } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import { envelope, modern, notification, SERVER_INFO } from '../support/eras.js';
import { FakeClock } from '../support/fake-clock.js';
import { type Message, type RawClient, settle } from '../support/raw-client.js';
import { bare, createStarter, gate } from '../support/sessions.js';

const start = createStarter();
const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const META = { [SERVER_INFO]: { name: 's', version: '1' } };
const FORM = { type: 'object' as const, properties: { n: { type: 'string' as const } }, required: ['n'] };
const SAID = { role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } };

type Id = string | number;

interface Retry {
  readonly name?: string;
  readonly args?: object;
  readonly capabilities?: object;
  readonly meta?: object;
  readonly answers?: unknown;
  readonly state?: unknown;
}

function call(id: Id, { name = 'ask', args, capabilities = ALL, meta, answers, state }: Retry = {}): object {
  const params = {
    name,
    ...(args && { arguments: args }),
    ...(answers !== undefined && { inputResponses: answers }),
    ...(state !== undefined && { requestState: state }),
  };
  return modern(id, 'tools/call', params, envelope(capabilities, meta));
}

function accept(n: string) {
  return { action: 'accept', content: { n } };
}

/** The state of an input_required answer. */
function stateOf({ result }: Message): string {
  expect(result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
  return result!['requestState'] as string;
}

function keysOf({ result }: Message): string[] {
  return Object.keys(result!['inputRequests'] as object);
}

/** One question about a name, greeted. */
function asking(): Server {
  const server = bare();
  server.tool('ask', {}, async (_args, ctx) => {
    const answer = await ctx.elicit({ message: 'Name?', requestedSchema: FORM });
    return answer.action === 'accept' ? `Hello ${String(answer.content?.['n'])}` : answer.action;
  });
  return server;
}

async function connect(server: Server, options: ServeOptions = {}): Promise<RawClient> {
  return (await start(server, options)).connect();
}

describe('a parked round', () => {
  it('is a whole answer: the question, a state, no cache hints, no request (MRTR-001, MRTR-004, MRTR-006, CACHE-002)', async () => {
    const client = await connect(asking());
    client.send(call(1));
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        resultType: 'input_required',
        inputRequests: {
          'elicitation-1': {
            method: 'elicitation/create',
            params: { mode: 'form', message: 'Name?', requestedSchema: FORM },
          },
        },
        requestState: expect.stringMatching(/./),
        _meta: META,
      },
    });
    expect(await client.settle()).toEqual([]);
  });

  it('is resumed by a retry under a new id, with the handler just where it was (MRTR-021, MRTR-023)', async () => {
    let runs = 0;
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => {
      runs += 1;
      return JSON.stringify(await ctx.elicit({ message: 'Name?', requestedSchema: FORM }));
    });
    const client = await connect(server);
    client.send(call(1, { args: { a: 1, b: { c: 2, d: 3 } } }));
    const state = stateOf(await client.next());
    // The order of members is no difference.
    client.send(
      call(2, { args: { b: { d: 3, c: 2 }, a: 1 }, state, answers: { 'elicitation-1': accept('Ada') } }),
    );
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 2,
      result: {
        resultType: 'complete',
        content: [{ type: 'text', text: '{"action":"accept","content":{"n":"Ada"}}' }],
        _meta: META,
      },
    });
    expect(runs).toBe(1);
  });

  it.each(['decline', 'cancel'])('hands %s to the handler (ELIC-024)', async (action) => {
    const client = await connect(asking());
    client.send(call(1));
    const state = stateOf(await client.next());
    client.send(call(2, { state, answers: { 'elicitation-1': { action } } }));
    expect(await client.next()).toMatchObject({ id: 2, result: { content: [{ text: action }] } });
  });

  it('is there for prompts/get and resources/read too, and complete reads are cacheable (MRTR-002, RES-009, PROMPT-005)', async () => {
    const server = bare();
    server.prompt('p', {}, async (_args, ctx) => `roots: ${(await ctx.roots()).length}`);
    server.resource(
      'a:b',
      { name: 'r', cache: { ttlMs: 5 } },
      async (_uri, ctx) => `${(await ctx.roots()).length}`,
    );
    const client = await connect(server);
    for (const [method, params, result] of [
      [
        'prompts/get',
        { name: 'p' },
        { messages: [{ role: 'user', content: { type: 'text', text: 'roots: 0' } }] },
      ],
      ['resources/read', { uri: 'a:b' }, { contents: [{ uri: 'a:b', text: '0' }] }],
    ] as const) {
      client.send(modern(1, method, params, envelope(ALL)));
      const round = await client.next();
      expect(round.result).toEqual({
        resultType: 'input_required',
        inputRequests: { 'roots-1': { method: 'roots/list' } },
        requestState: expect.any(String),
        _meta: META,
      });
      client.send(
        modern(
          2,
          method,
          { ...params, requestState: stateOf(round), inputResponses: { 'roots-1': { roots: [] } } },
          envelope(ALL),
        ),
      );
      expect(await client.next(), method).toMatchObject({
        id: 2,
        result: { resultType: 'complete', ...result },
      });
    }
  });

  it('does not exist for other methods: the handler is told so (MRTR-003)', async () => {
    const server = bare();
    server.prompt(
      'p',
      {
        arguments: {
          a: {
            complete: async (_value, _others, ctx) => {
              await ctx.roots();
              return [];
            },
          },
        },
      },
      () => 'x',
    );
    const client = await connect(server);
    client.send(
      modern(
        1,
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } },
        envelope(ALL),
      ),
    );
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32603 } });
  });

  it('does not leak on a method that has none (MRTR-003)', async () => {
    const server = asking();
    server.use(async (each, next) =>
      each.method === 'tools/list' ? inputRequired({ requests: { r: { method: 'roots/list' } } }) : next(),
    );
    const client = await connect(server);
    client.send(modern(1, 'tools/list', {}, envelope(ALL)));
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32603 } });
  });
});

describe('several questions', () => {
  function three(): Server {
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => {
      const [form, said, roots] = await Promise.all([
        ctx.elicit({ message: 'Name?', requestedSchema: FORM }),
        ctx.sample({ messages: [], maxTokens: 1 }),
        ctx.roots(),
      ]);
      return `${form.action} ${said.model} ${roots.length}`;
    });
    return server;
  }
  const ANSWERS = { 'elicitation-1': accept('Ada'), 'sampling-2': SAID, 'roots-3': { roots: [] } };

  it('asked at once travel in one round under keys of their own (MRTR-005)', async () => {
    const client = await connect(three());
    client.send(call(1));
    const round = await client.next();
    expect(round.result?.['inputRequests']).toEqual({
      'elicitation-1': {
        method: 'elicitation/create',
        params: { mode: 'form', message: 'Name?', requestedSchema: FORM },
      },
      'sampling-2': { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
      'roots-3': { method: 'roots/list' },
    });
    client.send(call(2, { state: stateOf(round), answers: ANSWERS }));
    expect(await client.next()).toMatchObject({ id: 2, result: { content: [{ text: 'accept m 0' }] } });
  });

  it('answered in part are asked again for the rest, with a new state (MRTR-027, MRTR-015)', async () => {
    const client = await connect(three());
    client.send(call(1));
    const first = await client.next();
    client.send(call(2, { state: stateOf(first), answers: { 'sampling-2': SAID } }));
    const second = await client.next();
    expect(keysOf(second)).toEqual(['elicitation-1', 'roots-3']);
    expect(stateOf(second)).not.toBe(stateOf(first));
    // Nothing at all is also a part.
    client.send(call(3, { state: stateOf(second) }));
    const third = await client.next();
    expect(keysOf(third)).toEqual(['elicitation-1', 'roots-3']);
    // Only the newest state counts (MRTR-020).
    client.send(call(4, { state: stateOf(first), answers: ANSWERS }));
    expect(await client.next()).toMatchObject({ id: 4, error: { code: -32602 } });
    client.send(call(5, { state: stateOf(third), answers: { ...ANSWERS } }));
    expect(await client.next()).toMatchObject({ id: 5, result: { content: [{ text: 'accept m 0' }] } });
  });

  it('one after the other make several rounds (MRTR-015)', async () => {
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => {
      const names: unknown[] = [];
      for (const message of ['One?', 'Two?', 'Three?']) {
        const answer = await ctx.elicit({ message, requestedSchema: FORM });
        names.push(answer.action === 'accept' && answer.content?.['n']);
      }
      return names.join(' ');
    });
    const client = await connect(server);
    client.send(call(0));
    for (const [index, n] of ['a', 'b', 'c'].entries()) {
      const round = await client.next();
      const key = `elicitation-${index + 1}`;
      expect(keysOf(round)).toEqual([key]);
      client.send(call(index + 1, { state: stateOf(round), answers: { [key]: accept(n) } }));
    }
    expect(await client.next()).toMatchObject({
      id: 3,
      result: { resultType: 'complete', content: [{ text: 'a b c' }] },
    });
  });

  it('ignore surplus answers, also those with inherited names (MRTR-026)', async () => {
    const client = await connect(asking());
    client.send(call(1));
    const round = await client.next();
    client.send(
      call(2, {
        state: stateOf(round),
        answers: {
          'elicitation-1': accept('Ada'),
          'elicitation-2': { whatever: 1 },
          'roots-1': {},
          constructor: {},
          toString: { action: 'accept' },
        },
      }),
    );
    expect(await client.next()).toMatchObject({ id: 2, result: { content: [{ text: 'Hello Ada' }] } });
  });
});

describe('a bad retry', () => {
  it.each([
    ['not an object', 'yes'],
    ['an array', []],
    ['null', null],
    ['with a null entry', { 'elicitation-1': null }],
    ['with a text entry', { 'elicitation-1': 'Ada' }],
    ['without action', { 'elicitation-1': { content: { n: 'Ada' } } }],
    ['with an unknown action', { 'elicitation-1': { action: 'maybe' } }],
    ['with content that is no object', { 'elicitation-1': { action: 'accept', content: 'Ada' } }],
  ])('whose answers are %s gets -32602 and leaves the round usable (MRTR-025)', async (_what, answers) => {
    const client = await connect(asking());
    client.send(call(1));
    const state = stateOf(await client.next());
    client.send(call(2, { state, answers }));
    expect(await client.next()).toMatchObject({ id: 2, error: { code: -32602 } });
    client.send(call(3, { state, answers: { 'elicitation-1': accept('Ada') } }));
    expect(await client.next()).toMatchObject({ id: 3, result: { content: [{ text: 'Hello Ada' }] } });
  });

  it.each([
    ['a sample without a model', 'sampling-1', { role: 'assistant', content: { type: 'text', text: 'x' } }],
    ['roots that are no list', 'roots-2', { roots: {} }],
    ['a root without a uri', 'roots-2', { roots: [{ name: 'x' }] }],
  ])('with %s gets -32602 (MRTR-025)', async (_what, key, answer) => {
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => {
      await Promise.all([ctx.sample({ messages: [], maxTokens: 1 }), ctx.roots()]);
      return 'done';
    });
    const client = await connect(server);
    client.send(call(1));
    const state = stateOf(await client.next());
    const good = { 'sampling-1': SAID, 'roots-2': { roots: [] } };
    client.send(call(2, { state, answers: { ...good, [key]: answer } }));
    expect(await client.next()).toMatchObject({ id: 2, error: { code: -32602 } });
    client.send(call(3, { state, answers: good }));
    expect(await client.next()).toMatchObject({ id: 3, result: { content: [{ text: 'done' }] } });
  });

  const ANSWERS = { 'elicitation-1': accept('Ada') };

  it('that replays a spent state is refused (MRTR-013)', async () => {
    const client = await connect(asking());
    client.send(call(1));
    const state = stateOf(await client.next());
    client.send(call(2, { state, answers: ANSWERS }));
    client.send(call(3, { state, answers: ANSWERS }));
    const both = [await client.next(), await client.next()];
    expect(both.filter(({ result }) => result !== undefined)).toHaveLength(1);
    expect(both.filter(({ error }) => error?.code === -32602)).toHaveLength(1);
    client.send(call(4, { state, answers: ANSWERS }));
    expect(await client.next()).toMatchObject({ id: 4, error: { code: -32602 } });
  });

  it('with a state that was altered, cut, invented or is no text is refused (MRTR-009, MRTR-010)', async () => {
    const client = await connect(asking());
    client.send(call(1));
    const state = stateOf(await client.next());
    const at = Math.floor(state.length * 0.7);
    const flipped = state.slice(0, at) + (state[at] === 'A' ? 'B' : 'A') + state.slice(at + 1);
    for (const [index, bad] of [
      flipped,
      state.slice(0, -4),
      `${state}A`,
      '',
      'x',
      'a.b.c.d.e',
      7,
      null,
      {},
    ].entries()) {
      client.send(call(`bad${index}`, { state: bad, answers: ANSWERS }));
      expect(await client.next(), String(bad)).toMatchObject({ id: `bad${index}`, error: { code: -32602 } });
    }
    client.send(call(2, { state, answers: ANSWERS }));
    expect(await client.next()).toMatchObject({ id: 2, result: { content: [{ text: 'Hello Ada' }] } });
  });

  it('with the state of another request is refused: other arguments, tool, method, server (MRTR-012, MRTR-022)', async () => {
    const server = asking();
    server.tool('other', {}, () => 'other');
    server.prompt('ask', {}, () => 'prompt');
    const client = await connect(server);
    client.send(call(1, { args: { a: 1 } }));
    const state = stateOf(await client.next());
    client.send(call(2, { args: { a: 2 }, state, answers: ANSWERS }));
    expect(await client.next()).toMatchObject({ id: 2, error: { code: -32602 } });
    client.send(call(3, { state, answers: ANSWERS }));
    expect(await client.next()).toMatchObject({ id: 3, error: { code: -32602 } });
    client.send(call(4, { name: 'other', args: { a: 1 }, state, answers: ANSWERS }));
    expect(await client.next()).toMatchObject({ id: 4, error: { code: -32602 } });
    client.send(
      modern(5, 'prompts/get', { name: 'ask', arguments: { a: '1' }, requestState: state }, envelope(ALL)),
    );
    expect(await client.next()).toMatchObject({ id: 5, error: { code: -32602 } });
    const elsewhere = await connect(asking());
    elsewhere.send(call(6, { args: { a: 1 }, state, answers: ANSWERS }));
    expect(await elsewhere.next()).toMatchObject({ id: 6, error: { code: -32602 } });
    client.send(call(7, { args: { a: 1 }, state, answers: ANSWERS }));
    expect(await client.next()).toMatchObject({ id: 7, result: { content: [{ text: 'Hello Ada' }] } });
  });

  it('by another principal is refused, by the same one on another connection it is not (MRTR-012, STATE-003, STATE-006)', async () => {
    const link = await start(asking());
    const alice = link.connect({ principal: 'alice' });
    alice.send(call(1));
    const state = stateOf(await alice.next());
    for (const thief of [link.connect({ principal: 'mallory' }), link.connect()]) {
      thief.send(call(2, { state, answers: ANSWERS }));
      expect(await thief.next()).toMatchObject({ id: 2, error: { code: -32602 } });
    }
    const again = link.connect({ principal: 'alice' });
    again.send(call(3, { state, answers: ANSWERS }));
    expect(await again.next()).toMatchObject({ id: 3, result: { content: [{ text: 'Hello Ada' }] } });
  });

  it('that no longer declares what is asked again gets -32021, not the question (META-006, META-007, MRTR-007)', async () => {
    const client = await connect(asking());
    client.send(call(1));
    const state = stateOf(await client.next());
    client.send(call(2, { state, capabilities: {} }));
    expect(await client.next()).toMatchObject({
      id: 2,
      error: { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } },
    });
    // A client that corrects itself finds the round where it was.
    client.send(call(3, { state, answers: { 'elicitation-1': accept('Ada') } }));
    expect(await client.next()).toMatchObject({ id: 3, result: { content: [{ text: 'Hello Ada' }] } });
  });

  it('with all the answers needs no capability any more (META-006)', async () => {
    const client = await connect(asking());
    client.send(call(1));
    const state = stateOf(await client.next());
    client.send(call(2, { state, capabilities: {}, answers: ANSWERS }));
    expect(await client.next()).toMatchObject({ id: 2, result: { content: [{ text: 'Hello Ada' }] } });
  });
});

describe('an undeclared capability', () => {
  function each(): Server {
    const server = bare();
    server.tool(
      'form',
      {},
      async (_args, ctx) => `${(await ctx.elicit({ message: 'm', requestedSchema: FORM })).action}`,
    );
    server.tool(
      'url',
      {},
      async (_args, ctx) =>
        `${(await ctx.elicit({ mode: 'url', message: 'm', url: 'https://a.example' })).action}`,
    );
    server.tool('sample', {}, async (_args, ctx) => (await ctx.sample({ messages: [], maxTokens: 1 })).model);
    server.tool(
      'tools',
      {},
      async (_args, ctx) => (await ctx.sample({ messages: [], maxTokens: 1, tools: [] })).model,
    );
    server.tool(
      'context',
      {},
      async (_args, ctx) =>
        (await ctx.sample({ messages: [], maxTokens: 1, includeContext: 'thisServer' })).model,
    );
    server.tool('roots', {}, async (_args, ctx) => `${(await ctx.roots()).length}`);
    server.tool('replay', {}, () => inputRequired({ requests: { r: { method: 'roots/list' } }, state: 1 }));
    return server;
  }

  it.each([
    ['form', {}, { elicitation: { form: {} } }],
    ['form', { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    ['url', {}, { elicitation: { url: {} } }],
    ['url', { elicitation: {} }, { elicitation: { url: {} } }],
    ['url', { elicitation: { form: {} } }, { elicitation: { url: {} } }],
    ['sample', { roots: {} }, { sampling: {} }],
    ['tools', { sampling: {} }, { sampling: { tools: {} } }],
    ['context', { sampling: { tools: {} } }, { sampling: { context: {} } }],
    ['roots', { elicitation: {} }, { roots: {} }],
    ['replay', {}, { roots: {} }],
  ])(
    'for %s with %j is -32021 naming it (META-008, ELIC-003, SAMP-003, SAMP-005)',
    async (name, capabilities, requiredCapabilities) => {
      const client = await connect(each());
      client.send(call(1, { name, capabilities }));
      expect(await client.next()).toEqual({
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32021, message: expect.any(String), data: { requiredCapabilities } },
      });
      expect(await client.settle()).toEqual([]);
    },
  );

  it.each([
    ['form', { elicitation: {} }],
    ['form', { elicitation: { form: {} } }],
    ['url', { elicitation: { url: {} } }],
    ['sample', { sampling: {} }],
    ['tools', { sampling: { tools: {} } }],
    ['context', { sampling: { context: {} } }],
    ['roots', { roots: {} }],
    ['replay', { roots: {} }],
  ])('is none for %s with %j (ELIC-002)', async (name, capabilities) => {
    const client = await connect(each());
    client.send(call(1, { name, capabilities }));
    expect((await client.next()).result).toMatchObject({ resultType: 'input_required' });
  });

  it('shows no elicitationId in url mode (ELIC-025)', async () => {
    const client = await connect(each());
    client.send(call(1, { name: 'url' }));
    expect((await client.next()).result?.['inputRequests']).toEqual({
      'elicitation-1': {
        method: 'elicitation/create',
        params: { mode: 'url', message: 'm', url: 'https://a.example' },
      },
    });
  });
});

describe('time and the parked handler', () => {
  it('expires it after roundTtlMs: the handler ends, the state is dead (MRTR-012, MRTR-014)', async () => {
    const clock = new FakeClock();
    const failure = gate<Error>();
    const aborted = gate();
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => aborted.open());
      await ctx.roots().catch((error: Error) => failure.open(error));
      return 'x';
    });
    const client = await connect(server, { clock, roundTtlMs: 1000 });
    client.send(call(1));
    const state = stateOf(await client.next());
    clock.advance(999);
    client.send(call(2, { state }));
    const again = stateOf(await client.next());
    // A new round, a new time.
    clock.advance(999);
    client.send(call(3, { state: again, answers: { 'roots-1': {} } }));
    expect(await client.next()).toMatchObject({ id: 3, error: { code: -32602 } });
    clock.advance(1);
    expect(await failure.passed).toMatchObject({ code: 'TIMED_OUT' });
    await aborted.passed;
    client.send(call(4, { state: again, answers: { 'roots-1': { roots: [] } } }));
    expect(await client.next()).toMatchObject({ id: 4, error: { code: -32602 } });
    expect(clock.waiting).toBe(0);
  });

  it('lets a handler finish while parked and gives its result to the retry', async () => {
    const done = gate();
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => {
      await Promise.race([ctx.roots().catch(() => {}), done.passed]);
      return 'finished without you';
    });
    const client = await connect(server);
    client.send(call(1));
    const state = stateOf(await client.next());
    done.open();
    expect(await client.settle()).toEqual([]);
    client.send(call(2, { state, answers: { 'roots-1': { roots: [] } } }));
    expect(await client.next()).toMatchObject({
      id: 2,
      result: { resultType: 'complete', content: [{ text: 'finished without you' }] },
    });
  });

  it('lets a handler finish instead of asking when it does both in one turn', async () => {
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => {
      ctx.roots().catch(() => {});
      return 'never mind';
    });
    const client = await connect(server);
    client.send(call(1));
    expect(await client.next()).toMatchObject({ id: 1, result: { content: [{ text: 'never mind' }] } });
    expect(await client.settle()).toEqual([]);
  });

  it('does not turn an abandoned question into an unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', (reason) => unhandled.push(reason));
    try {
      const server = bare();
      server.tool('elicit', {}, async (_args, ctx) => {
        void ctx.elicit({ message: 'm', requestedSchema: FORM });
        return 'x';
      });
      server.tool('sample', {}, async (_args, ctx) => {
        void ctx.sample({ messages: [], maxTokens: 1 });
        return 'x';
      });
      server.tool('roots', {}, async (_args, ctx) => {
        void ctx.roots();
        return 'x';
      });
      const client = await connect(server);
      for (const name of ['elicit', 'sample', 'roots']) {
        client.send(call(name, { name }));
        expect(await client.next()).toMatchObject({ id: name, result: { resultType: 'complete' } });
      }
      await settle();
      expect(unhandled).toEqual([]);
    } finally {
      process.removeAllListeners('unhandledRejection');
      for (const listener of others) process.on('unhandledRejection', listener);
    }
  });

  it('ends it when the server closes, without waiting for anybody (MRTR-014)', async () => {
    const failure = gate<Error>();
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => {
      await ctx.roots().catch((error: Error) => failure.open(error));
      return 'x';
    });
    const clock = new FakeClock();
    const link = await start(server, { clock });
    const client = link.connect();
    client.send(call(1));
    stateOf(await client.next());
    await link.served.close();
    expect(await failure.passed).toMatchObject({ code: 'CONNECTION_CLOSED' });
    await client.closed;
    expect(clock.waiting).toBe(0);
  });

  it('keeps it when its connection goes: the retry may come on another one (STATE-003)', async () => {
    const link = await start(asking());
    const first = link.connect();
    first.send(call(1));
    const state = stateOf(await first.next());
    first.vanish();
    await first.closed;
    const second = link.connect();
    second.send(call(1, { state, answers: { 'elicitation-1': accept('Ada') } }));
    expect(await second.next()).toMatchObject({ id: 1, result: { content: [{ text: 'Hello Ada' }] } });
  });

  it('R1: ends the oldest round of the client that has most of them when maxParked wait already', async () => {
    const client = await connect(asking(), { maxParked: 1 });
    client.send(call(1));
    const state = stateOf(await client.next());
    client.send(call(2));
    const newer = stateOf(await client.next());
    client.send(call(3, { state, answers: { 'elicitation-1': accept('Ada') } }));
    expect(await client.next()).toMatchObject({
      id: 3,
      error: {
        code: -32602,
        message:
          'requestState is no longer valid: 1 calls wait for input, which is the limit; this was the oldest call of the client that has most of them. Answer its rounds, then call again',
      },
    });
    client.send(call(4, { state: newer, answers: { 'elicitation-1': accept('Bob') } }));
    expect(await client.next()).toMatchObject({ id: 4, result: { content: [{ text: 'Hello Bob' }] } });
  });
});

describe('cancellation around rounds', () => {
  it('of the request that was already answered with a round is ignored (CANC-008)', async () => {
    const client = await connect(asking());
    client.send(call(1));
    const state = stateOf(await client.next());
    client.send(notification('notifications/cancelled', { requestId: 1 }));
    client.send(call(2, { state, answers: { 'elicitation-1': accept('Ada') } }));
    expect(await client.next()).toMatchObject({ id: 2, result: { content: [{ text: 'Hello Ada' }] } });
  });

  it('of a resumed request aborts the handler and gets no answer (CANC-007, STDIO-014)', async () => {
    const resumed = gate();
    const aborted = gate<Error>();
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => {
      await ctx.roots();
      resumed.open();
      await new Promise((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => {
          aborted.open(ctx.signal.reason as Error);
          reject(ctx.signal.reason);
        });
      });
      return 'x';
    });
    const client = await connect(server);
    client.send(call(1));
    const state = stateOf(await client.next());
    client.send(call(2, { state, answers: { 'roots-1': { roots: [] } } }));
    await resumed.passed;
    client.send(notification('notifications/cancelled', { requestId: 2, reason: 'no more' }));
    expect((await aborted.passed).message).toBe('no more');
    expect(await client.settle()).toEqual([]);
  });

  it('right behind the request leaves no parked handler (CANC-010)', async () => {
    const clock = new FakeClock();
    const failure = gate<Error>();
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => {
      await ctx.roots().catch((error: Error) => failure.open(error));
      return 'x';
    });
    const client = await connect(server, { clock });
    client.send(call(1));
    client.send(notification('notifications/cancelled', { requestId: 1 }));
    expect(await failure.passed).toMatchObject({ code: 'CANCELLED' });
    // The fence: a later round of another request comes first and alone.
    client.send(modern(2, 'server/discover'));
    expect(await client.next()).toMatchObject({ id: 2 });
    expect(await client.settle()).toEqual([]);
    expect(clock.waiting).toBe(0);
  });

  it('right behind the retry loses nothing that the client could still use, and answers nothing (CANC-010)', async () => {
    const client = await connect(asking());
    client.send(call(1));
    const state = stateOf(await client.next());
    client.send(call(2, { state, answers: { 'elicitation-1': accept('Ada') } }));
    client.send(notification('notifications/cancelled', { requestId: 2 }));
    client.send(call(3, { state: 'x' }));
    expect(await client.next()).toMatchObject({ id: 3, error: { code: -32602 } });
    expect((await client.settle()).filter(({ id }) => id === 2)).toEqual([]);
  });
});

describe('progress across rounds', () => {
  it('uses the token of the request in hand, keeps rising, and is silent in between (PROG-004, PROG-007)', async () => {
    const tick = gate();
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => {
      ctx.progress(1, 3);
      const question = ctx.roots();
      await tick.passed;
      ctx.progress(1.5, 3);
      await question;
      ctx.progress(1, 3);
      ctx.progress(2, 3);
      return 'x';
    });
    const client = await connect(server);
    client.send(call(1, { meta: { progressToken: 'a' } }));
    expect((await client.next()).params).toEqual({ progressToken: 'a', progress: 1, total: 3 });
    const state = stateOf(await client.next());
    tick.open();
    expect(await client.settle()).toEqual([]);
    client.send(call(2, { state, answers: { 'roots-1': { roots: [] } }, meta: { progressToken: 'b' } }));
    expect((await client.next()).params).toEqual({ progressToken: 'b', progress: 2, total: 3 });
    expect(await client.next()).toMatchObject({ id: 2, result: { resultType: 'complete' } });
  });
});

describe('replayed rounds', () => {
  interface Seen {
    readonly answers: unknown;
    readonly state: unknown;
  }

  function replaying(seen: Seen[] = []): Server {
    const server = bare();
    server.tool('ask', {}, (_args, ctx) => {
      seen.push({ answers: ctx.answers, state: ctx.state });
      const step = (ctx.state as { step?: number } | undefined)?.step ?? 0;
      if (step === 2) return 'done';
      return inputRequired({
        requests: { [`q${step}`]: { method: 'roots/list' } },
        state: { step: step + 1 },
      });
    });
    server.tool('stateless', {}, (_args, ctx) =>
      ctx.answers?.['q'] ? 'thanks' : inputRequired({ requests: { q: { method: 'roots/list' } } }),
    );
    server.tool('later', {}, (_args, ctx) => (ctx.state ? 'now' : inputRequired({ state: 'x' })));
    server.tool('empty', {}, () => inputRequired({}));
    return server;
  }

  it('run the handler again with answers and state, which only the server can read (MRTR-008, MRTR-010, MRTR-015)', async () => {
    const seen: Seen[] = [];
    const client = await connect(replaying(seen));
    client.send(call(1));
    const first = await client.next();
    expect(first.result).toEqual({
      resultType: 'input_required',
      inputRequests: { q0: { method: 'roots/list' } },
      requestState: expect.any(String),
      _meta: META,
    });
    const hidden = stateOf(first)
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString('latin1'))
      .join();
    expect(hidden).not.toContain('step');
    client.send(call(2, { state: stateOf(first), answers: { q0: { roots: [] } } }));
    const second = await client.next();
    expect(keysOf(second)).toEqual(['q1']);
    client.send(call(3, { state: stateOf(second), answers: { q1: { roots: [{ uri: 'file:///a' }] } } }));
    expect(await client.next()).toMatchObject({ id: 3, result: { content: [{ text: 'done' }] } });
    expect(seen).toEqual([
      { answers: undefined, state: undefined },
      { answers: { q0: { roots: [] } }, state: { step: 1 } },
      { answers: { q1: { roots: [{ uri: 'file:///a' }] } }, state: { step: 2 } },
    ]);
  });

  it('need no state (MRTR-004, MRTR-020)', async () => {
    const client = await connect(replaying());
    client.send(call(1, { name: 'stateless' }));
    expect((await client.next()).result).toEqual({
      resultType: 'input_required',
      inputRequests: { q: { method: 'roots/list' } },
      _meta: META,
    });
    client.send(call(2, { name: 'stateless', answers: { q: { roots: [] } } }));
    expect(await client.next()).toMatchObject({ id: 2, result: { content: [{ text: 'thanks' }] } });
  });

  it('need no question, but one of the two (MRTR-004, MRTR-017)', async () => {
    const client = await connect(replaying());
    client.send(call(1, { name: 'later' }));
    const round = await client.next();
    expect(round.result).toEqual({
      resultType: 'input_required',
      requestState: expect.any(String),
      _meta: META,
    });
    client.send(call(2, { name: 'later', state: stateOf(round) }));
    expect(await client.next()).toMatchObject({ id: 2, result: { content: [{ text: 'now' }] } });
    client.send(call(3, { name: 'empty' }));
    expect(await client.next()).toMatchObject({ id: 3, error: { code: -32603 } });
  });

  it('are bound to their request, to the principal and to their time (MRTR-012)', async () => {
    const clock = new FakeClock();
    const link = await start(replaying(), { clock, roundTtlMs: 1000 });
    const client = link.connect({ principal: 'alice' });
    client.send(call(1, { args: { a: 1 } }));
    const state = stateOf(await client.next());
    const answers = { q0: { roots: [] } };
    client.send(call(2, { args: { a: 2 }, state, answers }));
    expect(await client.next()).toMatchObject({ id: 2, error: { code: -32602 } });
    client.send(call(3, { name: 'later', args: { a: 1 }, state, answers }));
    expect(await client.next()).toMatchObject({ id: 3, error: { code: -32602 } });
    const mallory = link.connect({ principal: 'mallory' });
    mallory.send(call(4, { args: { a: 1 }, state, answers }));
    expect(await mallory.next()).toMatchObject({ id: 4, error: { code: -32602 } });
    clock.advance(999);
    client.send(call(5, { args: { a: 1 }, state, answers }));
    expect(await client.next()).toMatchObject({ id: 5, result: { resultType: 'input_required' } });
    clock.advance(1);
    client.send(call(6, { args: { a: 1 }, state, answers }));
    expect(await client.next()).toMatchObject({ id: 6, error: { code: -32602 } });
  });

  it('survive on another server that has the same key, and on none that has not (STATE-003)', async () => {
    const stateKey = new Uint8Array(32).fill(7);
    const [one, twin, stranger] = [
      await connect(replaying(), { stateKey }),
      await connect(replaying(), { stateKey: Buffer.from(stateKey).toString('base64url') }),
      await connect(replaying()),
    ];
    one.send(call(1));
    const retry = call(2, { state: stateOf(await one.next()), answers: { q0: { roots: [] } } });
    stranger.send(retry);
    expect(await stranger.next()).toMatchObject({ id: 2, error: { code: -32602 } });
    twin.send(retry);
    expect(await twin.next()).toMatchObject({ id: 2, result: { resultType: 'input_required' } });
  });

  it('keep answers without a state from waking a parked handler: it starts anew (MRTR-009, MRTR-026)', async () => {
    const client = await connect(asking());
    client.send(call(1, { answers: { 'elicitation-1': accept('Eve') } }));
    expect(keysOf(await client.next())).toEqual(['elicitation-1']);
  });
});

describe('options of rounds', () => {
  it('refuse a state key that is too short', async () => {
    const server = createServer({ name: 's', version: '1' });
    await expect(start(server, { stateKey: 'c2hvcnQ' })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });
});
