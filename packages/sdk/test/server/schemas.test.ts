import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ensureBuilt } from '../../../../scripts/setup.js';
import { runProgram } from '../../../../test/package/run-program.js';
import { type AnySchema, createServer, jsonSchema, withJsonSchema } from '../../src/index.js';
import { callTool, connectTo, text } from '../support/server.js';

const ROOT = new URL('../../../../', import.meta.url).pathname;

/** A tool with this input; `listed` is what clients see of it, `call` runs it and shows what the handler got. */
async function tryInput(input: AnySchema) {
  const server = createServer({ name: 'schemas', version: '1' });
  server.tool('it', { input }, (args) => JSON.stringify(args));
  const peer = await connectTo(server, 'modern');
  const { tools } = (await peer.result('tools/list')) as { tools: [{ inputSchema: object }] };
  return {
    listed: tools[0].inputSchema,
    call: (args: unknown) => callTool(peer, 'it', args),
    [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose](),
  };
}

const register = (input: unknown) => () =>
  createServer({ name: 'schemas', version: '1' }).tool('it', { input: input as AnySchema }, () => 'x');

const SAME_INPUT: [string, AnySchema][] = [
  ['zod', z.object({ city: z.string(), days: z.number().optional() })],
  ['zod mini style', z.looseObject({ city: z.string(), days: z.optional(z.number()) })],
  ['valibot', toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number()) }))],
  ['arktype', type({ city: 'string', 'days?': 'number' })],
  [
    'JSON Schema',
    jsonSchema({
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'number' } },
      required: ['city'],
    }),
  ],
  [
    'JSON Schema draft-07',
    jsonSchema({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'number' } },
      required: ['city'],
    }),
  ],
];

describe.each(SAME_INPUT)('the same input by %s', (_library, input) => {
  it('is described to clients', async () => {
    await using tool = await tryInput(input);
    expect(tool.listed).toMatchObject({
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'number' } },
      required: ['city'],
    });
  });

  it('lets what fits through and names what does not', async () => {
    await using tool = await tryInput(input);
    expect(await tool.call({ city: 'Oslo' })).toEqual(text('{"city":"Oslo"}'));
    expect(await tool.call({ city: 'Oslo', days: 2 })).toEqual(text('{"city":"Oslo","days":2}'));
    for (const wrong of [{}, { city: 7 }, { city: 'Oslo', days: 'two' }]) {
      const refused = (await tool.call(wrong)) as { content: [{ text: string }] };
      expect(refused).toMatchObject({ isError: true });
      expect(refused.content[0].text).toMatch(/\b(city|days)\b/);
    }
  });
});

describe('schemas that change what they check', () => {
  it('describe what goes in and hand over what comes out', async () => {
    const input = z.object({
      n: z.string().transform((digits) => Number(digits)),
      unit: z.string().default('metre'),
    });
    await using tool = await tryInput(input);
    expect(tool.listed).toMatchObject({ properties: { n: { type: 'string' } }, required: ['n'] });
    expect(await tool.call({ n: '4' })).toEqual(text('{"n":4,"unit":"metre"}'));
  });

  it('hand over what comes out, by valibot and arktype', async () => {
    const piped = v.object({ n: v.pipe(v.string(), v.transform(Number)) });
    const described = { type: 'object', properties: { n: { type: 'string' } }, required: ['n'] };
    await using byValibot = await tryInput(withJsonSchema(piped, described));
    expect(byValibot.listed).toEqual(described);
    expect(await byValibot.call({ n: '4' })).toEqual(text('{"n":4}'));
    await using byArktype = await tryInput(withJsonSchema(type({ n: 'string.numeric.parse' }), described));
    expect(await byArktype.call({ n: '4' })).toEqual(text('{"n":4}'));
    expect(await byArktype.call({ n: 'four' })).toMatchObject({ isError: true });
  });

  it('may take their time (async refinements)', async () => {
    const isFree = async (name: string) => name !== 'taken';
    await using byZod = await tryInput(z.object({ name: z.string().refine(isFree, 'is taken') }));
    expect(await byZod.call({ name: 'free' })).toEqual(text('{"name":"free"}'));
    expect(await byZod.call({ name: 'taken' })).toEqual({
      content: [{ type: 'text', text: 'Invalid arguments for tool it: name: is taken' }],
      isError: true,
    });
    const slow = v.objectAsync({ name: v.pipeAsync(v.string(), v.checkAsync(isFree, 'is taken')) });
    await using byValibot = await tryInput(
      withJsonSchema(slow, { type: 'object', properties: { name: { type: 'string' } } }),
    );
    expect(await byValibot.call({ name: 'free' })).toEqual(text('{"name":"free"}'));
    expect(await byValibot.call({ name: 'taken' })).toMatchObject({ isError: true });
  });

  it('may fail by themselves; the call is answered', async () => {
    const broken = z.object({
      a: z.string().refine(() => {
        throw new Error('the database is gone');
      }),
    });
    const server = createServer({ name: 'schemas', version: '1' });
    server.tool('it', { input: broken }, () => 'x');
    await using peer = await connectTo(server, 'modern');
    expect(await peer.request('tools/call', { name: 'it', arguments: { a: '' } })).toBeTruthy();
  });
});

describe('schemas that cannot be used are refused when they are registered', () => {
  it.each<[string, unknown, RegExp]>([
    ['valibot without its JSON Schema package', v.object({ a: v.string() }), /@valibot\/to-json-schema/],
    ['something zod cannot describe', z.object({ when: z.date() }), /zod says: .*Date/],
    ['a zod root that is no object', z.string(), /type "object" at its root/],
    ['a JSON Schema root that is no object', { type: 'array' }, /type "object" at its root/],
    ['a JSON Schema without a type', { properties: {} }, /type "object" at its root/],
    ['a number', 7, /neither a Standard Schema nor a JSON Schema/],
    ['a list', [], /neither a Standard Schema nor a JSON Schema/],
    [
      'an unknown dialect',
      { $schema: 'https://example.com/my-schema', type: 'object' },
      /dialect .*not supported/,
    ],
    ['draft-04', { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }, /not supported/],
    ['a dialect that is no string', { $schema: 7, type: 'object' }, /\$schema|dialect/],
    [
      'a reference to the network',
      { type: 'object', properties: { a: { $ref: 'https://example.com/a' } } },
      /never fetched/,
    ],
    [
      'a reference to a file',
      { type: 'object', properties: { a: { $ref: 'file:///etc/passwd' } } },
      /never fetched/,
    ],
    ['an unknown type', { type: 'object', properties: { a: { type: 'strnig' } } }, /type/],
    ['properties that are a list', { type: 'object', properties: [] }, /properties/],
    ['required that is no list', { type: 'object', required: 'a' }, /required/],
    ['a broken pattern', { type: 'object', properties: { a: { pattern: '(' } } }, /pattern/],
  ])('%s', (_what, input, words) => {
    expect(register(input)).toThrow(words);
    expect(register(input)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
    expect(register(input)).toThrow(/tool it/);
  });

  it('too deep, too large, endless (JSCH-010)', () => {
    let deep: object = { type: 'string' };
    for (let level = 0; level < 10_000; level += 1) deep = { type: 'object', properties: { a: deep } };
    expect(register(deep)).toThrow(/deep/);
    const many = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`p${n}`, { type: 'string' }]));
    expect(register({ type: 'object', properties: many })).toThrow(/more than \d+/);
    const endless: Record<string, unknown> = { type: 'object' };
    endless['properties'] = { self: endless };
    expect(register(endless)).toThrow(/deep|more than/);
  });

  it('the same holds for output schemas', () => {
    const server = createServer({ name: 'schemas', version: '1' });
    expect(() => server.tool('it', { output: { $schema: 'urn:x' } }, () => ({}))).toThrow(
      /tool it \(output\).*not supported/,
    );
  });
});

describe('JSON Schema 2020-12 (JSCH-001)', () => {
  it('enforces what only 2020-12 knows, without $schema', async () => {
    await using tool = await tryInput(
      jsonSchema({
        type: 'object',
        $defs: {
          pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
        },
        properties: { pair: { $ref: '#/$defs/pair' } },
        unevaluatedProperties: false,
      }),
    );
    expect(await tool.call({ pair: ['a', 1] })).toEqual(text('{"pair":["a",1]}'));
    expect(await tool.call({ pair: [1, 'a'] })).toMatchObject({ isError: true });
    expect(await tool.call({ pair: ['a', 1, 2] })).toMatchObject({ isError: true });
    expect(await tool.call({ other: 1 })).toMatchObject({ isError: true });
  });

  it('draft-07 keeps its own meaning: `items` as a list is a tuple', async () => {
    await using tool = await tryInput(
      jsonSchema({
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        definitions: { word: { type: 'string' } },
        properties: { pair: { items: [{ $ref: '#/definitions/word' }, { type: 'number' }] } },
      }),
    );
    expect(await tool.call({ pair: ['a', 1] })).toEqual(text('{"pair":["a",1]}'));
    expect(await tool.call({ pair: [1, 'a'] })).toMatchObject({ isError: true });
  });

  it('a bundled schema refers to its own parts by their ids', async () => {
    await using tool = await tryInput(
      jsonSchema({
        type: 'object',
        properties: { a: { $ref: 'https://example.com/word' } },
        $defs: { word: { $id: 'https://example.com/word', type: 'string' } },
      }),
    );
    expect(await tool.call({ a: 'x' })).toEqual(text('{"a":"x"}'));
    expect(await tool.call({ a: 1 })).toMatchObject({ isError: true });
  });

  it('`$ref` as plain data is not a reference', async () => {
    await using tool = await tryInput(
      jsonSchema({ type: 'object', properties: { a: { const: { $ref: 'https://example.com/a' } } } }),
    );
    expect(await tool.call({ a: { $ref: 'https://example.com/a' } })).not.toHaveProperty('isError');
  });

  it('a reference that leads nowhere is never permissive (JSCH-009)', async () => {
    const server = createServer({ name: 'schemas', version: '1' });
    const input = { type: 'object', properties: { a: { $ref: 'other.json#/x' } } };
    try {
      server.tool('it', { input }, () => 'ran');
    } catch (error) {
      expect(error).toMatchObject({ code: 'INVALID_OPTION' });
      return;
    }
    await using peer = await connectTo(server, 'modern');
    expect((await peer.error('tools/call', { name: 'it', arguments: { a: 1 } })).code).toBe(-32603);
  });

  it('endless recursion in a schema is answered', async () => {
    await using tool = await tryInput(
      jsonSchema({ type: 'object', properties: { child: { $ref: '#' } }, additionalProperties: false }),
    );
    let nested: object = {};
    for (let level = 0; level < 1000; level += 1) nested = { child: nested };
    expect(await tool.call(nested)).not.toHaveProperty('isError');
    expect(await tool.call({ child: { child: { wrong: 1 } } })).toMatchObject({ isError: true });
  });

  it('never asks the network (JSCH-006)', async () => {
    let hits = 0;
    const canary = createHttpServer((_request, response) => {
      hits += 1;
      response.end('{"type":"string"}');
    });
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(canary.address() as AddressInfo).port}/s.json`;
    for (const keyword of ['$ref', '$dynamicRef', '$schema', '$id']) {
      try {
        await using tool = await tryInput({ type: 'object', properties: { a: { [keyword]: url } } });
        await tool.call({ a: 1 }).catch(() => {});
      } catch {
        // refused at once: as good
      }
    }
    canary.close();
    expect(hits).toBe(0);
  });
});

describe('the validator is loaded only when a schema needs it', () => {
  /** Runs a server in a fresh process; prints which modules with "ajv" in their path were loaded, before and after a call. */
  async function loadedFor(input: string, args: string) {
    await ensureBuilt();
    const program = `
      import { createRequire } from 'node:module';
      import { createServer, jsonSchema, memory, serve } from 'isthmus';
      import { z } from 'zod';
      const ajv = () => Object.keys(createRequire(import.meta.url).cache).filter((path) => /node_modules.ajv./.test(path)).length > 0;
      const server = createServer({ name: 'a', version: '1' });
      server.tool('it', { input: ${input} }, () => 'x');
      const link = memory();
      const served = await serve(server, link);
      const before = ajv();
      const peer = link.connect();
      const answer = await new Promise((resolve) => {
        peer.open({ receive: resolve, inputEnded() {}, drained() {} });
        peer.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'it', arguments: ${args}, _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} } } });
      });
      await served.close();
      console.log(JSON.stringify({ before, after: ajv(), text: answer.result.content[0].text }));
    `;
    const args_ = ['--input-type=module', '--eval', program];
    const ended = await runProgram(process.execPath, args_, { cwd: ROOT, limitMs: 20_000 });
    expect(ended.stderr).toBe('');
    return JSON.parse(ended.stdout);
  }

  it('not for zod', async () => {
    expect(await loadedFor('z.object({ a: z.string() })', '{ a: "b" }')).toEqual({
      before: false,
      after: false,
      text: 'x',
    });
  });

  it('for JSON Schema that needs it, at the first call', async () => {
    const input = `jsonSchema({ type: 'object', properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } })`;
    expect(await loadedFor(input, '{ a: null }')).toEqual({ before: false, after: true, text: 'x' });
  });
});
