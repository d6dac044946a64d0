import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createServer, ErrorCode, inputRequired, jsonSchema, ProtocolError } from '../../src/index.js';
import { callTool, connectTo, ERAS, payload, text, toolError } from '../support/server.js';

/** A tool that does what it is told, tried by a client of the given era. */
async function outcomeOf(era: (typeof ERAS)[number], handler: () => unknown, revision?: string) {
  const server = createServer({ name: 'tools', version: '1' });
  server.tool('it', {}, handler as () => string);
  await using peer = await connectTo(server, era, { ...(revision !== undefined && { revision }) });
  const answer = await peer.request('tools/call', { name: 'it' });
  return answer.kind === 'result' ? payload(answer.result) : answer.kind === 'error' ? answer.error : answer;
}

describe.each(ERAS)('what a tool may return, %s era', (era) => {
  const image = { type: 'image', data: 'AA==', mimeType: 'image/png' };
  const link = { type: 'resource_link', uri: 'x:a', name: 'a' };

  it.each([
    ['a string', () => 'hello', text('hello')],
    ['an empty string', () => '', text('')],
    ['a promise of a string', async () => 'later', text('later')],
    [
      'a thenable that is no promise',
      () => ({ then: (ok: (v: string) => void) => ok('then') }),
      text('then'),
    ],
    ['nothing', () => undefined, { content: [] }],
    ['one block', () => image, { content: [image] }],
    ['several blocks', () => [image, link], { content: [image, link] }],
    ['a whole result', () => ({ ...text('all'), isError: false }), { ...text('all'), isError: false }],
    [
      'a whole result that is an error',
      () => ({ ...text('no'), isError: true }),
      { ...text('no'), isError: true },
    ],
    ['data', () => ({ a: 1 }), { ...text('{"a":1}'), structuredContent: { a: 1 } }],
    [
      'data without a prototype',
      () => Object.assign(Object.create(null), { a: 1 }),
      { ...text('{"a":1}'), structuredContent: { a: 1 } },
    ],
  ])('%s', async (_what, handler, expected) => {
    expect(await outcomeOf(era, handler)).toEqual(expected);
  });

  it('a whole result with only structured content also says it as text (TOOL-014)', async () => {
    expect(await outcomeOf(era, () => ({ structuredContent: { a: 1 } }))).toEqual({
      ...text('{"a":1}'),
      structuredContent: { a: 1 },
    });
  });

  it.each([
    ['a resource of the domain', { type: 'resource', id: 7 }],
    ['a text node of some tree', { type: 'text', value: 'a' }],
    ['an image without data', { type: 'image', url: 'https://example.com/a.png' }],
  ])('data is not mistaken for content: %s', async (_what, data) => {
    expect(await outcomeOf(era, () => data)).toEqual({
      ...text(JSON.stringify(data)),
      structuredContent: data,
    });
  });
});

describe('data that is not an object (TOOL-015, TOOL-008)', () => {
  it.each([
    ['a list', [1, 2]],
    ['an empty list', []],
    ['a number', 5],
    ['a boolean', false],
    ['null', null],
  ])('%s is structured content in modern and text in legacy', async (_what, data) => {
    const asText = text(JSON.stringify(data));
    expect(await outcomeOf('modern', () => data)).toEqual({ ...asText, structuredContent: data });
    expect(await outcomeOf('legacy', () => data)).toEqual(asText);
  });

  it('reaches clients that know no structured content as text', async () => {
    expect(await outcomeOf('legacy', () => ({ structuredContent: { a: 1 } }), '2024-11-05')).toEqual(
      text('{"a":1}'),
    );
    expect(await outcomeOf('legacy', () => ({ structuredContent: [1] }))).toEqual(text('[1]'));
  });
});

describe.each(ERAS)('what a tool may throw, %s era', (era) => {
  const evil = Object.create(null);
  evil.self = evil;

  it.each([
    ['an Error', () => new Error('disk full'), 'disk full'],
    ['an Error without message', () => new RangeError(), 'RangeError'],
    ['a string', () => 'plain words', 'plain words'],
    ['an object', () => ({ why: 'x' }), '{"why":"x"}'],
    ['a symbol', () => Symbol('s'), 'Symbol(s)'],
    ['an Error whose message is a number', () => Object.assign(new Error(), { message: 42 }), '42'],
  ])('%s becomes an isError result with a clean message', async (_what, make, message) => {
    expect(
      await outcomeOf(era, () => {
        throw make();
      }),
    ).toEqual(toolError(message));
    expect(await outcomeOf(era, () => Promise.reject(make()))).toEqual(toolError(message));
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a bigint', 10n],
    ['something that cannot be put into words', evil],
    [
      'an Error whose message cannot be read',
      Object.defineProperty(new Error(), 'message', {
        get() {
          throw new Error('no');
        },
      }),
    ],
  ])('%s becomes an isError result with some words', async (_what, thrown) => {
    const expected = { content: [{ type: 'text', text: expect.any(String) }], isError: true };
    expect(
      await outcomeOf(era, () => {
        throw thrown;
      }),
    ).toEqual(expected);
    expect(await outcomeOf(era, () => Promise.reject(thrown))).toEqual(expected);
  });

  it('never leaks a stack', async () => {
    const outcome = await outcomeOf(era, () => {
      throw new Error('here');
    });
    expect(JSON.stringify(outcome)).not.toContain('tools.test');
  });

  it('a ProtocolError answers with its code, message and data, sync and async', async () => {
    const error = new ProtocolError(4001, 'too late', { deadline: 'noon' });
    const expected = { code: 4001, message: 'too late', data: { deadline: 'noon' } };
    expect(
      await outcomeOf(era, () => {
        throw error;
      }),
    ).toEqual(expected);
    expect(await outcomeOf(era, () => Promise.reject(error))).toEqual(expected);
  });

  it('a ProtocolError without data has no data member', async () => {
    const outcome = await outcomeOf(era, () => {
      throw new ProtocolError(ErrorCode.InvalidParams, 'bad');
    });
    expect(outcome).toEqual({ code: -32602, message: 'bad' });
  });

  it('error data that cannot be written is left out; the code still arrives', async () => {
    const outcome = await outcomeOf(era, () => {
      throw new ProtocolError(4001, 'odd', { big: 1n });
    });
    expect(outcome).toEqual({ code: 4001, message: 'odd' });
  });
});

describe.each(ERAS)(
  'results that JSON cannot carry are answered with an error, never with silence, %s',
  (era) => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;

    it.each([
      ['a bigint in data', { n: 1n }],
      ['a bigint', 1n],
      ['a cycle', cycle],
      ['a bigint deep in a whole result', { content: [], _meta: { n: 1n } }],
      ['a cycle in a whole result', { content: [], structuredContent: cycle }],
      [
        'data whose toJSON throws',
        {
          toJSON() {
            throw new Error('no json');
          },
        },
      ],
    ])('%s', async (_what, value) => {
      for (const handler of [() => value, async () => value]) {
        const outcome = (await outcomeOf(era, handler)) as {
          code?: number;
          isError?: boolean;
          message?: string;
        };
        expect(outcome.code === ErrorCode.InternalError || outcome.isError === true).toBe(true);
        if (outcome.message !== undefined) expect(outcome.message).not.toContain('\n');
      }
    });
  },
);

describe('an output schema', () => {
  const sum = z.object({ sum: z.number() });

  function serverWith(handler: () => unknown, output: z.ZodType = sum) {
    const server = createServer({ name: 'tools', version: '1' });
    server.tool('it', { output }, handler as never);
    return server;
  }

  async function outcome(handler: () => unknown, output?: z.ZodType) {
    await using peer = await connectTo(serverWith(handler, output), 'modern');
    const answer = await peer.request('tools/call', { name: 'it' });
    return answer.kind === 'result' ? payload(answer.result) : (answer as { error: unknown }).error;
  }

  it('lets conforming data through, as data and as text', async () => {
    expect(await outcome(() => ({ sum: 3 }))).toEqual({
      ...text('{"sum":3}'),
      structuredContent: { sum: 3 },
    });
    expect(await outcome(async () => ({ sum: 3 }))).toMatchObject({ structuredContent: { sum: 3 } });
  });

  it('lets a whole result with conforming data through, with its own words', async () => {
    expect(await outcome(() => ({ ...text('three'), structuredContent: { sum: 3 } }))).toEqual({
      ...text('three'),
      structuredContent: { sum: 3 },
    });
  });

  it.each([
    ['data that does not fit', { sum: '3' }],
    ['nothing', undefined],
    ['a string', '3'],
    ['a whole result without data', text('three')],
    ['a whole result with data that does not fit', { content: [], structuredContent: { sum: null } }],
  ])('refuses %s as the fault of the server (TOOL-012)', async (_what, value) => {
    expect(await outcome(() => value)).toMatchObject({
      code: -32603,
      message: expect.stringContaining('does not fit its output schema'),
    });
  });

  it('does not judge failures', async () => {
    expect(await outcome(() => ({ ...text('no luck'), isError: true }))).toEqual(toolError('no luck'));
    expect(
      await outcome(() => {
        throw new Error('no luck');
      }),
    ).toEqual(toolError('no luck'));
  });

  it('sends what the schema makes of the data, which is what outputSchema describes', async () => {
    const output = z.object({ n: z.number().default(7) });
    expect(await outcome(() => ({}), output)).toEqual({
      ...text('{"n":7}'),
      structuredContent: { n: 7 },
    });
    expect(await outcome(() => ({ n: 1, secret: 2 }), output)).toMatchObject({ structuredContent: { n: 1 } });
  });

  it.each([
    ['content', z.object({ content: z.array(z.string()) }), { content: [] }],
    ['isError', z.object({ isError: z.boolean(), n: z.number() }), { isError: true, n: 1 }],
    ['isError that is false', z.object({ isError: z.boolean() }), { isError: false }],
  ])('data with a member named %s stays data', async (_what, output, data) => {
    expect(await outcome(() => data, output)).toMatchObject({ structuredContent: data });
  });

  it('may have a root that is not an object in modern; legacy clients do not see it (TOOL-007, TOOL-008)', async () => {
    const server = serverWith(() => [1, 2], z.array(z.number()));
    await using modern = await connectTo(server, 'modern');
    const { tools } = (await modern.result('tools/list')) as { tools: [{ outputSchema?: object }] };
    expect(tools[0].outputSchema).toMatchObject({ type: 'array' });
    expect(await callTool(modern, 'it')).toEqual({ ...text('[1,2]'), structuredContent: [1, 2] });
    await using legacy = await connectTo(server, 'legacy');
    const old = (await legacy.result('tools/list')) as { tools: [{ outputSchema?: object }] };
    expect(old.tools[0].outputSchema).toBeUndefined();
    expect(await callTool(legacy, 'it')).toEqual(text('[1,2]'));
  });

  it('is not asked about an input round', async () => {
    const server = createServer({ name: 'tools', version: '1' });
    server.tool('it', { output: sum }, () => inputRequired({ state: { step: 1 } }));
    await using peer = await connectTo(server, 'modern');
    expect(await peer.result('tools/call', { name: 'it' })).toMatchObject({ resultType: 'input_required' });
  });
});

describe.each(ERAS)('requests for tools, %s era', (era) => {
  const server = createServer({ name: 'tools', version: '1' });
  server.tool('plain', {}, (args) => JSON.stringify(args));
  server.tool(
    'strict',
    {
      input: jsonSchema<{ n: number }>({
        type: 'object',
        properties: { n: { type: 'number' } },
        required: ['n'],
      }),
    },
    ({ n }) => `got ${n}`,
  );

  it.each([
    ['an unknown tool', { name: 'nope' }, 'Unknown tool: nope'],
    ['no name', {}, 'name'],
    ['a name that is no string', { name: 7 }, 'name'],
    ['arguments that are a list', { name: 'plain', arguments: [] }, 'arguments'],
    ['arguments that are a string', { name: 'plain', arguments: 'a' }, 'arguments'],
    ['arguments that are null', { name: 'plain', arguments: null }, 'arguments'],
  ])('%s: -32602 (TOOL-019)', async (_what, params, words) => {
    await using peer = await connectTo(server, era);
    const error = await peer.error('tools/call', params);
    expect(error.code).toBe(-32602);
    expect(error.message).toContain(words);
  });

  it('missing arguments are an empty object', async () => {
    await using peer = await connectTo(server, era);
    expect(await callTool(peer, 'plain')).toEqual(text('{}'));
  });

  it('wrong argument values are for the model to read (TOOL-018)', async () => {
    await using peer = await connectTo(server, era);
    expect(await callTool(peer, 'strict', { n: 1 })).toEqual(text('got 1'));
    const wrong = (await callTool(peer, 'strict', { n: 'one' })) as { content: [{ text: string }] };
    expect(wrong).toMatchObject({ isError: true });
    expect(wrong.content[0].text).toMatch(/strict.*\bn\b.*number/);
    expect(await callTool(peer, 'strict', {})).toMatchObject({ isError: true });
  });
});

describe.each(ERAS)('names that every object inherits are ordinary names, %s era', (era) => {
  const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];

  it('as tools', async () => {
    const server = createServer({ name: 'tools', version: '1' });
    for (const name of NAMES) server.tool(name, {}, () => `I am ${name}`);
    await using peer = await connectTo(server, era);
    const { tools } = (await peer.result('tools/list')) as { tools: { name: string }[] };
    expect(tools.map((tool) => tool.name)).toEqual(NAMES);
    for (const name of NAMES) expect(await callTool(peer, name)).toEqual(text(`I am ${name}`));
  });

  it('as tools that do not exist', async () => {
    const server = createServer({ name: 'tools', version: '1', announce: ['tools'] });
    await using peer = await connectTo(server, era);
    for (const name of NAMES) expect((await peer.error('tools/call', { name })).code).toBe(-32602);
  });

  it('as arguments by JSON Schema: optional, required and given', async () => {
    const server = createServer({ name: 'tools', version: '1' });
    const properties = Object.fromEntries(NAMES.map((name) => [name, { type: 'string' }]));
    server.tool('optional', { input: jsonSchema({ type: 'object', properties }) }, (args) =>
      Object.keys(args as object).join(),
    );
    server.tool(
      'required',
      { input: jsonSchema({ type: 'object', properties, required: NAMES, additionalProperties: false }) },
      (args) => JSON.stringify(args),
    );
    await using peer = await connectTo(server, era);
    expect(await callTool(peer, 'optional', {})).toEqual(text(''));
    expect(await callTool(peer, 'required', {})).toMatchObject({ isError: true });
    const given = Object.fromEntries(NAMES.map((name) => [name, name]));
    expect(await callTool(peer, 'required', given)).toEqual(text(JSON.stringify(given)));
  });

  it('as arguments by zod', async () => {
    const server = createServer({ name: 'tools', version: '1' });
    const input = z.object({ constructor: z.string().optional(), toString: z.string().optional() });
    server.tool('it', { input }, (args) => JSON.stringify(args));
    await using peer = await connectTo(server, era);
    expect(await callTool(peer, 'it', {})).toEqual(text('{}'));
    expect(await callTool(peer, 'it', { constructor: 'c' })).toEqual(text('{"constructor":"c"}'));
  });

  it('and arguments never change the prototype of anything', async () => {
    const server = createServer({ name: 'tools', version: '1' });
    server.tool('it', {}, (args) => String((args as { polluted?: unknown }).polluted));
    await using peer = await connectTo(server, era);
    expect(await callTool(peer, 'it', JSON.parse('{"__proto__":{"polluted":"yes"}}'))).toEqual(
      text('undefined'),
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('registering tools', () => {
  const server = createServer({ name: 'tools', version: '1' });

  it('refuses a second tool of the same name, and an empty name', () => {
    server.tool('twice', {}, () => 'a');
    expect(() => server.tool('twice', {}, () => 'b')).toThrow(/already a tool named "twice"/);
    expect(() => server.tool('', {}, () => 'a')).toThrow(/needs a name/);
  });

  it('publishes everything the definition says and nothing it does not', async () => {
    const annotated = createServer({ name: 'tools', version: '1' });
    annotated.tool(
      'full',
      {
        title: 'Full',
        description: 'All of it',
        input: jsonSchema({ type: 'object', properties: { a: { type: 'string' } } }),
        output: jsonSchema({ type: 'object' }),
        annotations: { readOnlyHint: true },
        icons: [{ src: 'https://example.com/i.png' }],
        _meta: { 'example.com/a': 1 },
      },
      () => ({}),
    );
    annotated.tool('bare', {}, () => 'x');
    await using peer = await connectTo(annotated, 'modern');
    expect((await peer.result('tools/list'))['tools']).toEqual([
      {
        name: 'full',
        title: 'Full',
        description: 'All of it',
        inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
        outputSchema: { type: 'object' },
        annotations: { readOnlyHint: true },
        icons: [{ src: 'https://example.com/i.png' }],
        _meta: { 'example.com/a': 1 },
      },
      { name: 'bare', inputSchema: { type: 'object' } },
    ]);
  });

  it('a tools-only server does not implement prompts (ERR-015)', async () => {
    for (const era of ERAS) {
      await using peer = await connectTo(server, era);
      expect((await peer.error('prompts/list')).code).toBe(-32601);
      expect((await peer.error('nosuch/method')).code).toBe(-32601);
    }
  });
});
