import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../../../../test/support/cpu-time.js';
import { createServer, resourceNotFound, type TemplateVariables } from '../../src/index.js';
import { parseUriTemplate } from '../../src/server/resources/uri-template.js';
import { connectTo, ERAS, payload } from '../support/server.js';

const match = (template: string, uri: string) => parseUriTemplate(template).match(uri);

describe.each(ERAS)('reading resources, %s era', (era) => {
  async function read(handler: () => unknown, mimeType?: string) {
    const server = createServer({ name: 'resources', version: '1' });
    server.resource(
      'x:a',
      { name: 'a', ...(mimeType !== undefined && { mimeType }) },
      handler as () => string,
    );
    await using peer = await connectTo(server, era);
    const answer = await peer.request('resources/read', { uri: 'x:a' });
    return answer.kind === 'result' ? payload(answer.result) : (answer as { error: { code: number } }).error;
  }

  it.each([
    ['a string', () => 'text', [{ uri: 'x:a', text: 'text' }]],
    ['an empty string', () => '', [{ uri: 'x:a', text: '' }]],
    ['bytes', () => new Uint8Array([0, 255, 16]), [{ uri: 'x:a', blob: 'AP8Q' }]],
    [
      'a view of a larger buffer',
      () => new Uint8Array([9, 1, 2, 9]).subarray(1, 3),
      [{ uri: 'x:a', blob: 'AQI=' }],
    ],
    ['no bytes', () => Buffer.alloc(0), [{ uri: 'x:a', blob: '' }]],
    ['one item', () => ({ text: 't', mimeType: 'text/x' }), [{ uri: 'x:a', text: 't', mimeType: 'text/x' }]],
    [
      'several items (RES-008)',
      () => [
        { uri: 'x:a/1', text: '1' },
        { uri: 'x:a/2', blob: 'AA==' },
      ],
      [
        { uri: 'x:a/1', text: '1' },
        { uri: 'x:a/2', blob: 'AA==' },
      ],
    ],
    ['a whole result', () => ({ contents: [{ uri: 'x:b', text: 't' }] }), [{ uri: 'x:b', text: 't' }]],
  ])('may return %s', async (_what, handler, contents) => {
    expect(await read(handler)).toEqual({ contents });
    expect(await read(async () => handler())).toEqual({ contents });
  });

  it('the type of the definition fills the gap', async () => {
    expect(await read(() => 'text', 'text/markdown')).toEqual({
      contents: [{ uri: 'x:a', mimeType: 'text/markdown', text: 'text' }],
    });
    expect(await read(() => ({ text: 't', mimeType: 'text/x' }), 'text/markdown')).toMatchObject({
      contents: [{ mimeType: 'text/x' }],
    });
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['an item without content', { mimeType: 'text/plain' }],
    ['a list with a hole', [null]],
  ])('that return %s are answered with -32603, never with empty contents (RES-005)', async (_what, value) => {
    expect(await read(() => value)).toMatchObject({ code: -32603 });
  });

  it('that fail are answered with -32603 (RES-006)', async () => {
    expect(
      await read(() => {
        throw new Error('disk is gone');
      }),
    ).toEqual({ code: -32603, message: 'disk is gone' });
  });

  it('that do not exist: -32602 in modern, -32002 in legacy, with the URI (ERR-006, ERR-022)', async () => {
    const server = createServer({ name: 'resources', version: '1' });
    server.resourceTemplate('x:user/{id}', { name: 'user' }, ({ id }, _ctx, uri) => {
      if (id === '7') return 'seven';
      throw resourceNotFound(uri);
    });
    await using peer = await connectTo(server, era);
    const code = era === 'modern' ? -32602 : -32002;
    for (const uri of ['x:nothing', 'x:user/8', 'constructor', '__proto__', '']) {
      expect(await peer.error('resources/read', { uri })).toMatchObject({ code, data: { uri } });
    }
    expect((await peer.error('resources/read', {})).code).toBe(-32602);
    expect((await peer.error('resources/read', { uri: 7 })).code).toBe(-32602);
    expect(payload(await peer.result('resources/read', { uri: 'x:user/7' }))).toEqual({
      contents: [{ uri: 'x:user/7', text: 'seven' }],
    });
  });

  it('an exact resource comes before templates, and templates in order', async () => {
    const server = createServer({ name: 'resources', version: '1' });
    server.resourceTemplate('x:{first}', { name: 'first' }, () => 'first template');
    server.resourceTemplate('x:{second}', { name: 'second' }, () => 'second template');
    server.resource('x:exact', { name: 'exact' }, () => 'exact');
    await using peer = await connectTo(server, era);
    const got = async (uri: string) =>
      ((await peer.result('resources/read', { uri })) as { contents: [{ text: string }] }).contents[0].text;
    expect(await got('x:exact')).toBe('exact');
    expect(await got('x:other')).toBe('first template');
  });
});

describe('cache hints', () => {
  const server = createServer({
    name: 'resources',
    version: '1',
    cache: { resources: { ttlMs: 5000, cacheScope: 'public' }, discover: { ttlMs: 7 } },
  });
  server.resource('x:kept', { name: 'kept', cache: { ttlMs: 60_000, cacheScope: 'public' } }, () => 'a');
  server.resource('x:half', { name: 'half', cache: { ttlMs: 60_000 } }, () => 'a');
  server.resource('x:own', { name: 'own', cache: { ttlMs: 1 } }, () => ({
    contents: [{ uri: 'x:own', text: 'a' }],
    ttlMs: 9,
  }));
  server.resource('x:fresh', { name: 'fresh' }, () => 'a');

  it('travel in modern, with safe defaults', async () => {
    await using peer = await connectTo(server, 'modern');
    const hints = async (method: string, params = {}) => {
      const { ttlMs, cacheScope } = await peer.result(method, params);
      return { ttlMs, cacheScope };
    };
    expect(await hints('server/discover')).toEqual({ ttlMs: 7, cacheScope: 'private' });
    expect(await hints('resources/list')).toEqual({ ttlMs: 5000, cacheScope: 'public' });
    expect(await hints('resources/templates/list')).toEqual({ ttlMs: 0, cacheScope: 'private' });
    expect(await hints('resources/read', { uri: 'x:kept' })).toEqual({ ttlMs: 60_000, cacheScope: 'public' });
    expect(await hints('resources/read', { uri: 'x:half' })).toEqual({
      ttlMs: 60_000,
      cacheScope: 'private',
    });
    expect(await hints('resources/read', { uri: 'x:own' })).toEqual({ ttlMs: 9, cacheScope: 'private' });
    expect(await hints('resources/read', { uri: 'x:fresh' })).toEqual({ ttlMs: 0, cacheScope: 'private' });
  });

  it('are not part of the definition, nor of anything in legacy', async () => {
    for (const era of ERAS) {
      await using peer = await connectTo(server, era);
      const { resources } = (await peer.result('resources/list')) as { resources: object[] };
      for (const resource of resources) expect(resource).not.toHaveProperty('cache');
      if (era === 'modern') continue;
      for (const [method, params] of [
        ['resources/list', {}],
        ['resources/read', { uri: 'x:kept' }],
        ['resources/read', { uri: 'x:own' }],
      ] as const) {
        const result = await peer.result(method, params);
        expect(result).not.toHaveProperty('ttlMs');
        expect(result).not.toHaveProperty('cacheScope');
      }
    }
  });
});

/** RFC 6570 §3.2, its own variables and examples; read backwards, each gives the values it was made of. */
const V = {
  count: ['one', 'two', 'three'],
  dom: ['example', 'com'],
  hello: 'Hello World!',
  half: '50%',
  var: 'value',
  who: 'fred',
  base: 'http://example.com/home/',
  path: '/foo/bar',
  list: ['red', 'green', 'blue'],
  v: '6',
  x: '1024',
  y: '768',
  empty: '',
};
type Name = keyof typeof V;

const EXAMPLES: [string, string, Name[]][] = [
  // 3.2.1 explode and lists
  ['{count*}', 'one,two,three', ['count']],
  ['{/count*}', '/one/two/three', ['count']],
  ['{;count*}', ';count=one;count=two;count=three', ['count']],
  ['{?count*}', '?count=one&count=two&count=three', ['count']],
  ['{&count*}', '&count=one&count=two&count=three', ['count']],
  // 3.2.2 simple
  ['{var}', 'value', ['var']],
  ['{hello}', 'Hello%20World%21', ['hello']],
  ['{half}', '50%25', ['half']],
  ['O{empty}X', 'OX', ['empty']],
  ['{x,y}', '1024,768', ['x', 'y']],
  ['{x,hello,y}', '1024,Hello%20World%21,768', ['x', 'hello', 'y']],
  ['?{x,empty}', '?1024,', ['x', 'empty']],
  ['{list*}', 'red,green,blue', ['list']],
  // 3.2.3 reserved
  ['{+var}', 'value', ['var']],
  ['{+hello}', 'Hello%20World!', ['hello']],
  ['{+half}', '50%25', ['half']],
  ['{base}index', 'http%3A%2F%2Fexample.com%2Fhome%2Findex', ['base']],
  ['{+base}index', 'http://example.com/home/index', ['base']],
  ['O{+empty}X', 'OX', ['empty']],
  ['{+path}/here', '/foo/bar/here', ['path']],
  ['here?ref={+path}', 'here?ref=/foo/bar', ['path']],
  ['up{+path}{var}/here', 'up/foo/barvalue/here', []],
  ['{+x,hello,y}', '1024,Hello%20World!,768', ['x', 'hello', 'y']],
  ['{+path,x}/here', '/foo/bar,1024/here', ['path', 'x']],
  ['{+list*}', 'red,green,blue', ['list']],
  // 3.2.4 fragment
  ['{#var}', '#value', ['var']],
  ['{#hello}', '#Hello%20World!', ['hello']],
  ['{#half}', '#50%25', ['half']],
  ['foo{#empty}', 'foo#', ['empty']],
  ['{#x,hello,y}', '#1024,Hello%20World!,768', ['x', 'hello', 'y']],
  ['{#path,x}/here', '#/foo/bar,1024/here', ['path', 'x']],
  ['{#list*}', '#red,green,blue', ['list']],
  // 3.2.5 label
  ['{.who}', '.fred', ['who']],
  ['X{.var}', 'X.value', ['var']],
  ['X{.empty}', 'X.', ['empty']],
  ['X{.x,y}', 'X.1024.768', ['x', 'y']],
  ['www{.dom*}', 'www.example.com', ['dom']],
  ['X{.list*}', 'X.red.green.blue', ['list']],
  // 3.2.6 path
  ['{/who}', '/fred', ['who']],
  ['{/half,who}', '/50%25/fred', ['half', 'who']],
  ['{/var,empty}', '/value/', ['var', 'empty']],
  ['{/var,x}/here', '/value/1024/here', ['var', 'x']],
  ['{/list*}', '/red/green/blue', ['list']],
  // 3.2.7 path parameters
  ['{;who}', ';who=fred', ['who']],
  ['{;half}', ';half=50%25', ['half']],
  ['{;empty}', ';empty', ['empty']],
  ['{;v,empty,who}', ';v=6;empty;who=fred', ['v', 'empty', 'who']],
  ['{;x,y}', ';x=1024;y=768', ['x', 'y']],
  ['{;list*}', ';list=red;list=green;list=blue', ['list']],
  // 3.2.8 and 3.2.9 query
  ['{?who}', '?who=fred', ['who']],
  ['{?half}', '?half=50%25', ['half']],
  ['{?x,y}', '?x=1024&y=768', ['x', 'y']],
  ['{?x,y,empty}', '?x=1024&y=768&empty=', ['x', 'y', 'empty']],
  ['{?list*}', '?list=red&list=green&list=blue', ['list']],
  ['{&who}', '&who=fred', ['who']],
  ['?fixed=yes{&x}', '?fixed=yes&x=1024', ['x']],
  ['{&x,y,empty}', '&x=1024&y=768&empty=', ['x', 'y', 'empty']],
  ['{&list*}', '&list=red&list=green&list=blue', ['list']],
];

describe('RFC 6570 read backwards', () => {
  it.each(EXAMPLES)('%s gives %s', (template, uri, names) => {
    const found = match(template, uri);
    expect(found).toBeDefined();
    for (const name of names) expect({ [name]: found?.[name] }).toEqual({ [name]: V[name] });
  });

  it.each([
    ['{list}', 'red,green,blue'],
    ['{+list}', 'red,green,blue'],
    ['{#list}', '#red,green,blue'],
    ['{/list}', '/red,green,blue'],
    ['{.list}', '.red,green,blue'],
    ['{;list}', ';list=red,green,blue'],
    ['{?list}', '?list=red,green,blue'],
  ])('a list that is not exploded, %s: %s, keeps its commas', (template, uri) => {
    expect([V.list, V.list.join()]).toContainEqual(match(template, uri)?.['list']);
  });

  it.each([
    ['{var:3}', 'val', 'var', 'val'],
    ['{+path:6}/here', '/foo/b/here', 'path', '/foo/b'],
    ['{;hello:5}', ';hello=Hello', 'hello', 'Hello'],
    ['{?var:3}', '?var=val', 'var', 'val'],
  ])('a prefix, %s: %s', (template, uri, name, value) => {
    expect(match(template, uri)).toEqual({ [name]: value });
  });

  it.each<[string, string, TemplateVariables]>([
    ['search{?q,page}', 'search', {}],
    ['search{?q,page}', 'search?q=a', { q: 'a' }],
    ['search{?q,page}', 'search?page=2', { page: '2' }],
    ['search{?q,page}', 'search?q=a&page=2', { q: 'a', page: '2' }],
    ['{;v,bar,who}', ';v=6;who=fred', { v: '6', who: 'fred' }],
    ['{&x,y}', '&y=1', { y: '1' }],
    ['a{/b}', 'a', {}],
  ])('variables may be undefined, %s: %s (RFC 6570 §3.2.1)', (template, uri, expected) => {
    expect(match(template, uri)).toEqual(expected);
  });

  it.each<[string, string, TemplateVariables]>([
    ['notes://{id}', 'notes://id', { id: 'id' }],
    ['{x}', 'x=1', { x: 'x=1' }],
    ['{/x*}', '/x=1/x', { x: ['x=1', 'x'] }],
    ['{?x}', '?x=x=1', { x: 'x=1' }],
    ['{+path}', 'path', { path: 'path' }],
  ])('a value that is spelt like its variable, %s: %s', (template, uri, expected) => {
    expect(match(template, uri)).toEqual(expected);
  });

  it.each<[string, string, TemplateVariables]>([
    ['s{?a}{&b}', 's?a=1&b=2', { a: '1', b: '2' }],
    ['{;v}{;w}', ';v=1;w=2', { v: '1', w: '2' }],
    ['{a}{;p}', 'x;p=1', { a: 'x', p: '1' }],
    ['{a}{/b}{?c}{#d}', 'x/y?c=1#z', { a: 'x', b: 'y', c: '1', d: 'z' }],
    ['{/a}{/b}', '/1/2', { a: '1', b: '2' }],
    ['{year}-{month}', '2026-07', { year: '2026', month: '07' }],
  ])('neighbours share what is theirs, %s: %s (or the template is refused)', (template, uri, expected) => {
    let parsed: ReturnType<typeof parseUriTemplate>;
    try {
      parsed = parseUriTemplate(template);
    } catch (error) {
      expect(error).toMatchObject({ code: 'INVALID_OPTION' });
      return;
    }
    expect(parsed.match(uri)).toEqual(expected);
  });

  it.each([
    ['file:///{+path}', 'file:///a,b.txt', 'path', 'a,b.txt'],
    ['file:///{+path}', 'file:///a/b.c/d', 'path', 'a/b.c/d'],
    ['report{.ext}', 'report.tar.gz', 'ext', 'tar.gz'],
    ['{name}', '%C3%BC%20%2F', 'name', 'ü /'],
    ['{+name}', '%F0%9F%98%80', 'name', '😀'],
  ])('%s reads %s', (template, uri, name, value) => {
    expect(match(template, uri)).toEqual({ [name]: value });
  });

  it.each([
    ['users/{id}', 'users/1/posts'],
    ['users/{id}', 'users/1?x=1'],
    ['users/{id}', 'users/1#top'],
    ['users/{id}', 'xusers/1'],
    ['{a}', '%zz'],
    ['{a}', '%C3'],
    ['{a}', '%'],
    ['a.c/{x}', 'abc/1'],
    ['{?x}', '?y=1'],
    ['{;v}', ';value=1'],
  ])('%s does not fit %s', (template, uri) => {
    expect(match(template, uri)).toBeUndefined();
  });

  it.each([
    '{',
    '}',
    'a{b',
    'a}b',
    '{}',
    '{a b}',
    '{a,}',
    '{,a}',
    '{!a}',
    '{=a}',
    '{|a}',
    '{a:10000}',
    '{a*b}',
    '{a}{a}',
  ])('refuses the template %s', (template) => {
    expect(() => parseUriTemplate(template)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });

  it('variables named like what objects inherit', () => {
    expect(match('{__proto__}/{constructor}', 'a/b')).toEqual(
      Object.fromEntries([
        ['__proto__', 'a'],
        ['constructor', 'b'],
      ]),
    );
    expect(match('x{?toString}', 'x')?.['toString']).toBeUndefined();
  });

  it('what a simple template expands to is read back, whatever the value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string({ unit: 'grapheme' }), (id, q) => {
        const strict = (value: string) =>
          encodeURIComponent(value).replace(
            /[!'()*]/g,
            (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
          );
        expect(match('x://h/{id}/edit{?q}', `x://h/${strict(id)}/edit?q=${strict(q)}`)).toEqual({ id, q });
      }),
      { numRuns: 300 },
    );
  });

  it('never throws, whatever the URI', () => {
    const templates = EXAMPLES.map(([template]) => parseUriTemplate(template));
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (uri) => {
        for (const template of templates) template.match(uri);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a long hostile URI costs little', () => {
  it.each([
    ['x://{year}-{month}-{day}', `x://${'-'.repeat(20_000)}/`],
    ['{a}{b}{c}{d}{e}', `${'a'.repeat(20_000)}/`],
    ['{+a}/{+b}/{+c}', `${'/'.repeat(20_000)}#`],
    ['{a,b,c,d}', `${','.repeat(20_000)}/`],
    ['{/p*}/x', '/a'.repeat(20_000)],
    ['{.p*}{/q*}{.r*}', `${'.a/b'.repeat(10_000)}#`],
    ['{?q*,r*}', `?q=1${'&q=1'.repeat(16_000)}#`],
    ['{?q*}', `?q=1${'&q=1'.repeat(16_000)}`],
    ['{;a,b,c}{;d,e,f}', `${';a'.repeat(20_000)}/`],
    ['{name}', '%'.repeat(65_000)],
    ['{name}', '%41'.repeat(21_000)],
  ])('%s', (template, uri) => {
    const parsed = parseUriTemplate(template);
    expect(cpuMsOf(() => parsed.match(uri))).toBeLessThan(500);
  });

  it('also through the server: the next request is answered', async () => {
    const server = createServer({ name: 'resources', version: '1' });
    server.resourceTemplate('day://{year}-{month}-{day}', { name: 'day' }, () => 'x');
    await using peer = await connectTo(server, 'modern');
    const error = await peer.error('resources/read', { uri: `day://${'-'.repeat(5000)}/` });
    expect(error.code).toBe(-32602);
  });
});
