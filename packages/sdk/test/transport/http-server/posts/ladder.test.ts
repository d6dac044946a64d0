import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createServer, jsonSchema, type Server, serve } from '../../../../src/index.js';
import { http } from '../../../../src/transport/http.js';
import {
  type Ask,
  ask,
  CAPABILITIES,
  LOG_LEVEL,
  legacy,
  MODERN,
  modern,
  modernCall,
  POST_HEADERS,
  serveHttp,
  VERSION,
} from '../../../support/http-server.js';

interface Row {
  readonly rule: string;
  readonly what: string;
  readonly ask: Ask;
  readonly status: number;
  /** Of the error. */
  readonly code: number;
  readonly data?: unknown;
  /** The id of the answer; 1 unless told. */
  readonly id?: number | string | undefined;
}

const echo = (headers: Record<string, string | undefined> = {}) =>
  modernCall(1, 'echo', { text: 'hi' }, { headers });
const region = (args: object, headers: Record<string, string | undefined> = {}) =>
  modernCall(1, 'in_region', args, { headers });
const raw = (body: string, headers: Record<string, string | undefined> = {}): Ask => ({
  body,
  headers: { ...POST_HEADERS, 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list', ...headers },
});
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** One row for each rule, in the order of the ladder. */
const LADDER: readonly Row[] = [
  // Origin and Host
  {
    rule: 'HTTP-003',
    what: 'a page of another origin',
    ask: echo({ origin: 'https://evil.example' }),
    status: 403,
    code: -32600,
    id: undefined,
  },
  {
    rule: 'HTTP-002',
    what: 'a name that was made to point here',
    ask: echo({ host: 'evil.example' }),
    status: 403,
    code: -32600,
    id: undefined,
  },
  // the authentication hook
  {
    rule: 'AUTH-004',
    what: 'nobody that is known',
    ask: echo({ authorization: undefined }),
    status: 401,
    code: -32600,
    id: undefined,
  },
  // body
  {
    rule: 'HTTP-013',
    what: 'another content type',
    ask: echo({ 'content-type': 'text/plain' }),
    status: 415,
    code: -32600,
    id: undefined,
  },
  {
    rule: 'HTTP-007',
    what: 'a client that takes no event stream',
    ask: echo({ accept: 'application/json' }),
    status: 406,
    code: -32600,
    id: undefined,
  },
  { rule: 'JRPC-001', what: 'no JSON', ask: raw('{"jsonrpc":'), status: 400, code: -32700, id: undefined },
  {
    rule: 'JRPC-001',
    what: 'another JSON-RPC',
    ask: raw('{"jsonrpc":"1.0","id":1,"method":"tools/list"}'),
    status: 400,
    code: -32600,
  },
  {
    rule: 'JRPC-002',
    what: 'an id that is a fraction',
    ask: raw('{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}'),
    status: 400,
    code: -32600,
    id: undefined,
  },
  {
    rule: 'JRPC-003',
    what: 'an id that is null',
    ask: raw('{"jsonrpc":"2.0","id":null,"method":"tools/list"}'),
    status: 400,
    code: -32600,
    id: undefined,
  },
  {
    rule: 'JRPC-019',
    what: 'a batch',
    ask: raw(`[${modern(1, 'tools/list').body}]`),
    status: 400,
    code: -32600,
    id: undefined,
  },
  {
    rule: 'JRPC-014',
    what: 'an answer, though nothing was asked',
    ask: raw('{"jsonrpc":"2.0","id":1,"result":{}}'),
    status: 400,
    code: -32600,
    id: undefined,
  },
  // headers
  {
    rule: 'HTTP-032',
    what: 'no MCP-Protocol-Version',
    ask: echo({ 'mcp-protocol-version': undefined }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-032',
    what: 'no Mcp-Method',
    ask: echo({ 'mcp-method': undefined }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-032',
    what: 'no Mcp-Name on tools/call',
    ask: echo({ 'mcp-name': undefined }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-032',
    what: 'no Mcp-Name on prompts/get',
    ask: modern(1, 'prompts/get', { name: 'greet' }, { headers: { 'mcp-name': undefined } }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-032',
    what: 'no Mcp-Name on resources/read',
    ask: modern(1, 'resources/read', { uri: 'test://a' }, { headers: { 'mcp-name': undefined } }),
    status: 400,
    code: -32020,
  },
  // version
  {
    rule: 'ERR-012',
    what: 'a version of no era in header and body',
    ask: modern(
      1,
      'tools/list',
      {},
      { meta: { [VERSION]: '2099-01-01' }, headers: { 'mcp-protocol-version': '2099-01-01' } },
    ),
    status: 400,
    code: -32022,
    data: { supported: ['2026-07-28'], requested: '2099-01-01' },
  },
  {
    rule: 'ERR-012',
    what: 'a version of no era in the header, which wins over the mismatch',
    ask: modern(1, 'tools/list', {}, { headers: { 'mcp-protocol-version': '1900-01-01' } }),
    status: 400,
    code: -32022,
    data: { supported: ['2026-07-28'], requested: '1900-01-01' },
  },
  // _meta
  {
    rule: 'META-005',
    what: 'a modern header and no _meta',
    ask: {
      ...modern(1, 'tools/list'),
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    },
    status: 400,
    code: -32602,
  },
  {
    rule: 'META-005',
    what: 'no version in _meta',
    ask: modern(1, 'tools/list', {}, { meta: { [VERSION]: undefined } }),
    status: 400,
    code: -32602,
  },
  {
    rule: 'META-005',
    what: 'no capabilities in _meta',
    ask: modern(1, 'tools/list', {}, { meta: { [CAPABILITIES]: undefined } }),
    status: 400,
    code: -32602,
  },
  {
    rule: 'LOG-003',
    what: 'a log level that there is none of',
    ask: modern(1, 'tools/list', {}, { meta: { [LOG_LEVEL]: 'loud' } }),
    status: 400,
    code: -32602,
  },
  // header and body say the same
  {
    rule: 'HTTP-028',
    what: 'a modern header over a legacy body',
    ask: modern(1, 'tools/list', {}, { meta: { [VERSION]: '2025-11-25' } }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-033',
    what: 'another Mcp-Method than the body has',
    ask: echo({ 'mcp-method': 'tools/list' }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-036',
    what: 'Mcp-Method in capitals',
    ask: echo({ 'mcp-method': 'TOOLS/CALL' }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-033',
    what: 'another Mcp-Name than the body has',
    ask: echo({ 'mcp-name': 'fail' }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-033',
    what: 'an Mcp-Name, and a body whose name is a list',
    ask: modern(1, 'tools/call', { name: ['fail'] }, { headers: { 'mcp-name': 'echo' } }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-033',
    what: 'a name that is a list, and no Mcp-Name',
    ask: modern(1, 'tools/call', { name: ['fail'] }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-033',
    what: 'an Mcp-Name, and no name in the body',
    ask: modern(1, 'tools/call', {}, { headers: { 'mcp-name': 'echo' } }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-059',
    what: 'an Mcp-Name that cannot be decoded',
    ask: echo({ 'mcp-name': '=?base64?SGVs!!!?=' }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-055',
    what: 'a marker in capitals, which is a plain text',
    ask: echo({ 'mcp-name': '=?BASE64?ZWNobw==?=' }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-052',
    what: 'an argument without its header',
    ask: region({ region: 'eu' }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-058',
    what: 'an argument that its header denies',
    ask: region({ region: 'eu' }, { 'mcp-param-region': 'us' }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-059',
    what: 'a header of an argument that cannot be decoded',
    ask: region({ region: 'eu' }, { 'mcp-param-region': '=?base64?@@?=' }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-057',
    what: 'a header of an argument with raw high bytes',
    ask: region({ region: 'grün' }, { 'mcp-param-region': 'gr\u00fcn' }),
    status: 400,
    code: -32020,
  },
  {
    rule: 'HTTP-058',
    what: 'a number that its header denies',
    ask: region({ count: 42 }, { 'mcp-param-count': '43' }),
    status: 400,
    code: -32020,
  },
  // method
  { rule: 'ERR-016', what: 'an unknown method', ask: modern(1, 'no/such'), status: 404, code: -32601 },
  {
    rule: 'VER-005',
    what: 'initialize with a modern envelope',
    ask: modern(1, 'initialize'),
    status: 404,
    code: -32601,
  },
  { rule: 'PING-004', what: 'ping', ask: modern(1, 'ping'), status: 404, code: -32601 },
  {
    rule: 'ERR-016',
    what: 'logging/setLevel',
    ask: modern(1, 'logging/setLevel', { level: 'info' }),
    status: 404,
    code: -32601,
  },
  {
    rule: 'ERR-016',
    what: 'resources/subscribe',
    ask: modern(1, 'resources/subscribe', { uri: 'test://a' }),
    status: 404,
    code: -32601,
  },
  {
    rule: 'ERR-016',
    what: 'a method of a capability that is not there',
    ask: modern(1, 'completion/complete', { ref: {}, argument: {} }),
    status: 404,
    code: -32601,
  },
  // params
  {
    rule: 'TOOL-019',
    what: 'an unknown tool',
    ask: modernCall(1, 'no_such_tool'),
    status: 200,
    code: -32602,
  },
  {
    rule: 'ERR-006',
    what: 'an unknown resource',
    ask: modern(1, 'resources/read', { uri: 'test://none' }),
    status: 200,
    code: -32602,
    data: { uri: 'test://none' },
  },
  {
    rule: 'SUB-001',
    what: 'a listen without a filter',
    ask: modern(1, 'subscriptions/listen'),
    status: 200,
    code: -32602,
  },
  // capability
  {
    rule: 'META-009',
    what: 'a tool that must ask a client which cannot answer',
    ask: modernCall(1, 'ask'),
    status: 400,
    code: -32021,
    data: { requiredCapabilities: { elicitation: { form: {} } } },
  },
];

describe('the ladder of a modern request', () => {
  let url: string;

  beforeAll(async () => {
    const served = await serve(
      ladderServer(),
      http({
        port: 0,
        authenticate: (request) => (request.header('Authorization') === 'Bearer ada' ? 'ada' : undefined),
      }),
    );
    [url] = served.addresses as [string];
    return () => served.close({ graceMs: 0 });
  });

  const authorized = (given: Ask): Ask => ({
    ...given,
    headers: { authorization: 'Bearer ada', ...given.headers },
  });

  for (const row of LADDER) {
    it(`refuses ${row.what} with ${row.status} and ${row.code} (${row.rule})`, async () => {
      const answer = await ask(url, authorized(row.ask));
      expect(answer.status).toBe(row.status);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.headers).not.toHaveProperty('mcp-session-id');
      const id = 'id' in row ? row.id : 1;
      expect(answer.json).toEqual({
        jsonrpc: '2.0',
        ...(id !== undefined && { id }),
        error: {
          code: row.code,
          message: expect.stringMatching(/./),
          ...(row.data !== undefined && { data: row.data }),
        },
      });
    });
  }

  it.each<[string, string, Ask, string]>([
    ['HTTP-001', 'a correct request', echo(), 'hi'],
    [
      'HTTP-035',
      'header names in any case',
      {
        ...echo({ 'mcp-method': undefined, 'mcp-name': undefined }),
        headers: {
          ...echo({ 'mcp-method': undefined, 'mcp-name': undefined }).headers,
          'MCP-METHOD': 'tools/call',
          'mCP-nAME': 'echo',
        },
      },
      'hi',
    ],
    ['HTTP-034', 'an encoded Mcp-Name', echo({ 'mcp-name': base64('echo') }), 'hi'],
    [
      'HTTP-033',
      'blanks around a header',
      echo({ 'mcp-name': ' echo\t', 'mcp-method': ' tools/call ' }),
      'hi',
    ],
    ['HTTP-051', 'no header for an absent argument', region({}), '{}'],
    [
      'HTTP-058',
      'an argument and its header',
      region({ region: 'eu' }, { 'mcp-param-region': 'eu' }),
      '{"region":"eu"}',
    ],
    [
      'HTTP-034',
      'an argument and its encoded header',
      region({ region: 'grün ✓' }, { 'mcp-param-region': base64('grün ✓') }),
      '{"region":"grün ✓"}',
    ],
    [
      'HTTP-037',
      'a number that the header spells in another way',
      region({ count: 42 }, { 'mcp-param-count': '42.0' }),
      '{"count":42}',
    ],
    [
      'HTTP-045',
      'a nested argument and its header',
      region({ deep: { flag: true } }, { 'mcp-param-flag': 'true' }),
      '{"deep":{"flag":true}}',
    ],
    ['HTTP-070', 'a session id, which means nothing', echo({ 'mcp-session-id': 'stale' }), 'hi'],
    ['HTTP-071', 'a last event, which means nothing', echo({ 'last-event-id': '7' }), 'hi'],
    ['HTTP-003', 'a page of its own host', echo({ origin: 'http://localhost' }), 'hi'],
    [
      'HTTP-013',
      'a content type with a charset',
      echo({ 'content-type': 'application/json; charset=utf-8' }),
      'hi',
    ],
    ['HTTP-007', 'a client that takes everything', echo({ accept: '*/*' }), 'hi'],
  ])('%s: serves %s', async (_rule, _what, given, text) => {
    const { status, headers, json } = await ask(url, authorized(given));
    expect(json.result?.content).toEqual([{ type: 'text', text }]);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json');
    expect(headers).not.toHaveProperty('mcp-session-id');
  });

  it('asks for no header when the argument is null; what the schema says to it is another matter (HTTP-051)', async () => {
    const { status, json } = await ask(url, authorized(region({ region: null })));
    expect([status, json.error, json.result?.isError]).toEqual([200, undefined, true]);
  });

  it('answers a method of its own with every name it knows on one path (HTTP-001)', async () => {
    const methods = [
      'server/discover',
      'tools/list',
      'resources/list',
      'resources/templates/list',
      'prompts/list',
    ];
    for (const method of methods) {
      const { status, json } = await ask(url, authorized(modern('x', method)));
      expect({ method, status, id: json.id, type: json.result?.resultType }).toEqual({
        method,
        status: 200,
        id: 'x',
        type: 'complete',
      });
    }
  });

  it('accepts a notification with 202 and an empty body (HTTP-011)', async () => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/whatever',
      params: { _meta: { [VERSION]: MODERN, [CAPABILITIES]: {} } },
    });
    const { status, text, headers } = await ask(url, authorized(raw(body, { 'mcp-method': undefined })));
    expect([status, text, headers['content-length']]).toEqual([202, '', '0']);
  });

  it('refuses a notification that is none with 400 and no id (HTTP-012)', async () => {
    const { status, json } = await ask(
      url,
      authorized(raw('{"jsonrpc":"2.0","method":42,"params":{"_meta":{}}}')),
    );
    expect(status).toBe(400);
    expect(json).toEqual({ jsonrpc: '2.0', error: { code: -32600, message: expect.any(String) } });
  });

  it('keeps 0 and the empty string as ids, with their types', async () => {
    for (const id of [0, '', '0', -1]) {
      expect((await ask(url, authorized(modernCall(id, 'echo', { text: 'x' })))).json.id).toBe(id);
    }
  });
});

describe('a server of the modern era only', () => {
  async function modernOnly(): Promise<string> {
    return (await serveHttp(ladderServer(), {}, { eras: ['modern'] })).url;
  }

  it.each(['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'])(
    'has no %s and says what it has (HTTP-069)',
    async (method) => {
      const { status, headers } = await ask(await modernOnly(), {
        method,
        headers: { accept: 'text/event-stream', 'mcp-session-id': 'x' },
      });
      expect([status, headers.allow]).toEqual([405, 'POST']);
    },
  );

  it('refuses the handshake of a legacy client with 400 and names its versions (VER-026, VER-009)', async () => {
    const { status, json } = await ask(
      await modernOnly(),
      legacy({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
      }),
    );
    expect(status).toBe(400);
    expect(json.id).toBe(1);
    expect(JSON.stringify(json.error)).toContain('2026-07-28');
  });

  it('refuses a request without the version header as a header failure (VER-025)', async () => {
    const { status, json } = await ask(
      await modernOnly(),
      legacy({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    );
    expect([status, json.error?.code]).toEqual([400, -32020]);
  });

  it('says which versions it speaks to a client of 2025-11-25 that skips the handshake (ERR-012)', async () => {
    const { status, json } = await ask(
      await modernOnly(),
      legacy({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'mcp-protocol-version': '2025-11-25' }),
    );
    expect([status, json.error?.code]).toEqual([400, -32022]);
    expect(json.error?.data).toEqual({ supported: ['2026-07-28'], requested: '2025-11-25' });
  });
});

it('a header that names a legacy revision over a modern body is a mismatch (HTTP-033)', async () => {
  const { url } = await serveHttp(ladderServer());
  const { status, json } = await ask(
    url,
    modern(1, 'tools/list', {}, { headers: { 'mcp-protocol-version': '2025-11-25' } }),
  );
  expect(status).toBe(400);
  expect(json.error?.code).toBe(-32020);
});

it('serves only its own path', async () => {
  const { url } = await serveHttp(ladderServer(), { path: '/here' });
  expect(new URL(url).pathname).toBe('/here');
  expect((await ask(url, echo())).status).toBe(200);
  expect((await ask(new URL('/mcp', url).href, echo())).status).toBe(404);
  expect((await ask(`${url}?a=b`, echo())).status).toBe(200);
});

it('binds to loopback unless told otherwise (HTTP-004)', async () => {
  const served = await serve(ladderServer(), http({ port: 0 }));
  onTestFinished(() => served.close());
  expect(served.addresses[0]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
});

function ladderServer(): Server {
  const server = createServer({ name: 'ladder', version: '1' });
  const text = jsonSchema<{ text: string }>({
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
  });
  server.tool('echo', { input: text }, (args) => args.text);
  server.tool('ask', {}, async (_args, ctx) => {
    await ctx.elicit({ message: 'Who?', requestedSchema: { type: 'object', properties: {} } });
    return 'asked';
  });
  const place = jsonSchema<object>({
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      count: { type: 'integer', 'x-mcp-header': 'Count' },
      deep: { type: 'object', properties: { flag: { type: 'boolean', 'x-mcp-header': 'Flag' } } },
    },
  });
  server.tool('in_region', { input: place }, (args) => JSON.stringify(args));
  server.resource('test://a', { name: 'a' }, () => 'a');
  server.prompt('greet', {}, () => 'hello');
  return server;
}
