import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AccessSettings } from '@isthmus/sdk/internal/config/gateway/read-access.js';
import { describe, expect, it } from 'vitest';
import {
  type Answer,
  initialize,
  legacy,
  legacyCall,
  modern,
  modernCall,
  open,
} from '../../../sdk/test/support/http-server.js';
import { createAuthenticate } from '../../src/auth/create-authenticate.js';
import { freshFolder } from '../support/open-gateway.js';
import { publishedAuthority } from '../support/published-authority.js';
import { as, byWrittenToken, PROTECTED, scopedHouse } from '../support/scoped-tokens.js';
import { type House, type HouseOptions, openHouse } from '../support/secured-gateway.js';
import { type Build, openFar } from '../support/upstream.js';

const ACCESS = {
  scopes: {
    all: ['mcp:read'],
    methods: { 'prompts/*': ['mcp:prompts'] },
    tools: { 'delete_*': ['mcp:delete', 'mcp:write'] },
    readOnly: [],
    other: ['mcp:write'],
  },
  servers: { mail: { all: ['mail:use'] } },
  implies: { 'mcp:admin': ['mcp:write', 'mcp:delete'], 'mcp:write': ['mcp:read'] },
};

const METADATA = 'https://gw.example/.well-known/oauth-protected-resource';

function challenge(scope: string, path: string): string {
  return `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${METADATA}${path}", error_description="The token needs the scopes ${scope}"`;
}

/** `files` has tools of its own, and `delete_one`. `mail` has `delete_one` and `send_one`. */
async function twoKinds(
  access: AccessSettings,
  more: Build = () => {},
  options: HouseOptions = {},
): Promise<House> {
  const files = await openFar(
    (server) => {
      server.tool('write_one', { annotations: { readOnlyHint: false } }, () => 'written');
      server.tool('delete_one', {}, () => 'deleted a file');
      more(server);
    },
    { name: 'files' },
  );
  const mail = await openFar(
    (server) => {
      server.tool('send_one', {}, () => 'sent');
      server.tool('delete_one', {}, () => 'deleted a mail');
    },
    { name: 'mail' },
  );
  return openHouse([files.unit('files', { stateless: true }), mail.unit('mail', { stateless: true })], {
    ...options,
    access,
    endpoint: { authenticate: byWrittenToken, protectedResource: PROTECTED },
  });
}

const verdict = ({ status, headers }: Answer) => [status, headers['www-authenticate']];

function call(house: House, path: string, tool: string, token: string): Promise<Answer> {
  return house.ask(path, modernCall(1, tool, {}, as(token)));
}

describe('AUTH-S-007: a token without the scopes of a call', () => {
  it.each([
    ['a tool that only reads', 'read_one', 'mcp:read', undefined],
    ['another tool', 'write_one', 'mcp:read', 'mcp:read mcp:write'],
    [
      'a tool that a pattern names, with all scopes at once',
      'delete_one',
      'mcp:read',
      'mcp:read mcp:delete mcp:write',
    ],
    ['a tool that does not exist', 'nothing', 'mcp:read', 'mcp:read mcp:write'],
    ['nothing at all', 'read_one', '', 'mcp:read'],
    ['AUTH-S-009: a broader scope', 'write_one', 'mcp:admin', undefined],
    ['AUTH-S-009: a scope that is two steps broader', 'read_one', 'mcp:admin', undefined],
  ])('is refused with one complete challenge: %s', async (_what, tool, scopes, needed) => {
    const house = await scopedHouse(ACCESS);
    const answer = await call(house, '/mcp/files', tool, `ada/${scopes}`);
    if (needed === undefined) expect(answer.json.result.content[0].text).toMatch(/read|written/);
    else expect(verdict(answer)).toEqual([403, challenge(needed, '/mcp/files')]);
  });

  it('says in the body what is missing, and an id to ask about', async () => {
    const house = await scopedHouse(ACCESS);
    const { json } = await call(house, '/mcp/files', 'write_one', 'ada/mcp:read');
    expect(json).toMatchObject({
      id: 1,
      error: {
        message: 'The token needs the scopes mcp:read mcp:write',
        data: { reason: 'INSUFFICIENT_SCOPE', sent: 'no', scopes: ['mcp:read', 'mcp:write'] },
      },
    });
    const { correlationId } = json.error!.data as { correlationId: string };
    expect(correlationId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('counts the rules of the server where it has some of its own', async () => {
    const house = await scopedHouse(ACCESS);
    expect((await call(house, '/mcp/mail', 'write_one', 'ada/mail:use')).status).toBe(200);
    expect(verdict(await call(house, '/mcp/mail', 'write_one', 'ada/mcp:write'))).toEqual([
      403,
      challenge('mail:use', '/mcp/mail'),
    ]);
  });

  it('is decided for the server behind a name at the address of all', async () => {
    const house = await scopedHouse(ACCESS);
    expect(verdict(await call(house, '/mcp', 'files__write_one', 'ada/mcp:read'))).toEqual([
      403,
      challenge('mcp:read mcp:write', '/mcp'),
    ]);
    expect((await call(house, '/mcp', 'files__read_one', 'ada/mcp:read')).status).toBe(200);
    expect(verdict(await call(house, '/mcp', 'mail__write_one', 'ada/mcp:write'))).toEqual([
      403,
      challenge('mail:use', '/mcp'),
    ]);
  });

  it('is decided for the server that has a tool of this name, also before the caller has read a list', async () => {
    const house = await twoKinds({
      servers: {
        files: { tools: { delete_one: ['files:delete'] }, readOnly: [], other: ['files:write'] },
        mail: { tools: { delete_one: ['mail:delete'], send_one: ['mail:send'] } },
      },
    });
    const ada = 'ada/mcp:read';
    expect(verdict(await call(house, '/mcp', 'write_one', ada))).toEqual([
      403,
      challenge('files:write', '/mcp'),
    ]);
    expect(verdict(await call(house, '/mcp', 'send_one', 'bea/'))).toEqual([
      403,
      challenge('mail:send', '/mcp'),
    ]);
    expect((await call(house, '/mcp', 'send_one', 'bea/mail:send')).json.result.content).toEqual([
      { type: 'text', text: 'sent' },
    ]);
    // Two servers have it: it is not decided which of them is meant.
    expect((await call(house, '/mcp', 'delete_one', 'cy/')).json.error?.message).toBe(
      'Unknown tool: delete_one. Several servers have it: call files__delete_one or mail__delete_one',
    );
  });

  it('is decided for the server of a bare name in a batch, and in a session of the legacy era', async () => {
    const house = await twoKinds({
      servers: { files: { other: ['files:write'] }, mail: { tools: { send_one: ['mail:send'] } } },
    });
    const headers = { ...as('ada/').headers };
    const begun = await house.ask('/mcp', legacy(initialize(1, '2025-03-26'), headers));
    const session = { ...headers, 'mcp-session-id': String(begun.headers['mcp-session-id']) };
    const batch = [legacyCall(2, 'write_one'), legacyCall(3, 'send_one'), legacyCall(4, 'no_such')];
    expect(verdict(await house.ask('/mcp', legacy(batch, session)))).toEqual([
      403,
      challenge('files:write mail:send', '/mcp'),
    ]);
  });

  it('is decided for each token of a person by the lists that it has seen: another client does not change them', async () => {
    const house = await twoKinds({
      servers: { mail: { all: ['mail:use'], tools: { send_one: ['mail:send'] } } },
    });
    const [wide, narrow] = ['ada/mail:use', 'ada/mcp:read'];
    const list = (token: string) => house.ask('/mcp', modern(1, 'tools/list', {}, as(token)));
    await list(wide);
    // This one does not see the mail. The other client of the same person still does.
    await list(narrow);
    expect(verdict(await call(house, '/mcp', 'send_one', wide))).toEqual([
      403,
      challenge('mail:use mail:send', '/mcp'),
    ]);
    expect((await call(house, '/mcp', 'send_one', narrow)).json.error?.message).toBe(
      'Unknown tool: send_one',
    );
    // After the step-up the client does not have to read a list first.
    const more = await call(house, '/mcp', 'send_one', 'ada/mail:send+mail:use');
    expect(more.json.result.content).toEqual([{ type: 'text', text: 'sent' }]);
  });

  it('is never decided for a tool of the same name at another server, also where the names of servers overlap', async () => {
    const reads = { annotations: { readOnlyHint: true } };
    const a = await openFar((server) => {
      server.tool('same', reads, () => 'a reads');
      server.tool('b__look', {}, () => 'a writes');
    });
    const ab = await openFar((server) => {
      server.tool('same', {}, () => 'ab writes');
      server.tool('look', reads, () => 'ab reads');
    });
    const units = [a.unit('a', { stateless: true }), ab.unit('a__b', { stateless: true })];
    const house = await openHouse(units, {
      access: { scopes: { readOnly: [], other: ['write'] } },
      endpoint: { authenticate: byWrittenToken, protectedResource: PROTECTED },
    });
    const text = async (name: string, token: string) =>
      (await call(house, '/mcp', name, token)).json.result.content[0].text;
    const refused = [403, challenge('write', '/mcp')];
    // Each caller is new: it has seen no list.
    expect(await text('a__same', 'u1/')).toBe('a reads');
    expect(verdict(await call(house, '/mcp', 'a__b__same', 'u2/'))).toEqual(refused);
    expect(await text('a__b__look', 'u3/')).toBe('ab reads');
    expect(verdict(await call(house, '/mcp', 'b__look', 'u4/'))).toEqual(refused);
    const { json } = await house.ask('/mcp', modern(1, 'tools/list', {}, as('u5/')));
    const names: string[] = json.result.tools.map(({ name }: { name: string }) => name);
    const marked = names.find((name) => name.startsWith('a__b__look-'))!;
    expect(verdict(await call(house, '/mcp', marked, 'u6/'))).toEqual(refused);
    expect(await text(marked, 'u7/write')).toBe('a writes');
    // The header of a request cannot name another tool than its body.
    const headers = { ...as('u8/').headers, 'mcp-name': 'a__same' };
    const smuggled = modernCall(1, 'a__b__same', {}, as('u8/'));
    const answer = await house.ask('/mcp', { ...smuggled, headers: { ...smuggled.headers, ...headers } });
    expect([answer.status, answer.json.error?.code]).toEqual([400, -32020]);
  });

  it('is written down for the message of a batch that was refused', async () => {
    const file = join(freshFolder(), 'a.jsonl');
    const house = await twoKinds({ servers: { mail: { tools: { send_one: ['mail:send'] } } } }, undefined, {
      audit: { file },
    });
    const { headers } = as('ada/');
    const begun = await house.ask('/mcp', legacy(initialize(1, '2025-03-26'), headers));
    const session = { ...headers, 'mcp-session-id': String(begun.headers['mcp-session-id']) };
    const batch = [legacyCall(2, 'files__write_one'), legacyCall(3, 'mail__send_one')];
    expect(verdict(await house.ask('/mcp', legacy(batch, session)))).toEqual([
      403,
      challenge('mail:send', '/mcp'),
    ]);
    await house.operation.close({ graceMs: 0 });
    expect(JSON.parse(readFileSync(file, 'utf8').trim().split('\n').at(-1)!)).toMatchObject({
      ...{ server: 'mail', tool: 'send_one', outcome: 'insufficient_scope', scopes: ['mail:send'] },
    });
  });

  it('is decided for the tool behind a shortened name, also before the caller has read a list', async () => {
    const long = `export_${'x'.repeat(114)}_all`;
    const house = await twoKinds({ servers: { files: { tools: { '*_all': ['files:export'] } } } }, (server) =>
      server.tool(long, {}, () => 'exported'),
    );
    const listed = await house.ask('/mcp', modern(1, 'tools/list', {}, as('bea/')));
    const names = listed.json.result.tools.map(({ name }: { name: string }) => name);
    const shortened = names.find((name: string) => name.startsWith('files__export'));
    expect(shortened).toMatch(/^files__export_x{105}-[0-9a-f]{8}$/);
    expect(verdict(await call(house, '/mcp', shortened, 'ada/'))).toEqual([
      403,
      challenge('files:export', '/mcp'),
    ]);
  });

  it('is decided for the server of a prompt, and of a resource whose server is known, at the address of all', async () => {
    const own = {
      all: ['mail:use'],
      methods: { 'prompts/get': ['mail:prompts'], 'resources/read': ['mail:files'] },
    };
    const house = await scopedHouse({
      scopes: { all: ['mcp:read'], methods: { 'prompts/get': ['mcp:prompts'] } },
      servers: { mail: own },
      rules: [{ effect: 'deny', principals: ['*|eve'], servers: ['mail'] }],
    });
    const at = (method: string, params: Record<string, unknown>, token: string) =>
      house.ask('/mcp', modern(1, method, params, as(token)));
    const prompt = (token: string) => at('prompts/get', { name: 'mail__greet' }, token);
    expect(verdict(await prompt('ada/mcp:read'))).toEqual([403, challenge('mail:use mail:prompts', '/mcp')]);
    expect((await prompt('ada/mail:use+mail:prompts')).status).toBe(200);
    // What she may not know of is unknown, whatever scopes it needs.
    expect((await prompt('eve/mcp:read')).json.error?.data).toMatchObject({ reason: 'DENIED' });
    const memo = (token: string) => at('resources/read', { uri: 'memo://mail' }, token);
    const all = 'ada/mcp:read+mail:use';
    await at('resources/list', {}, all);
    expect(verdict(await memo(all))).toEqual([403, challenge('mail:use mail:files', '/mcp')]);
    expect((await memo(`${all}+mail:files`)).json.result.contents).toMatchObject([{ text: 'memo of mail' }]);
  });

  it('counts by method, and hides servers in the list of all that the token does not open', async () => {
    const house = await scopedHouse(ACCESS);
    const get = modern(1, 'prompts/get', { name: 'greet' }, as('ada/mcp:read'));
    expect(verdict(await house.ask('/mcp/files', get))).toEqual([
      403,
      challenge('mcp:read mcp:prompts', '/mcp/files'),
    ]);
    const listed = await house.ask('/mcp', modern(1, 'tools/list', {}, as('ada/mcp:read')));
    expect(listed.json.result.tools.map(({ name }: { name: string }) => name)).toEqual([
      'files__read_one',
      'files__write_one',
      'files__delete_one',
    ]);
  });

  it('counts in sessions of the legacy era, which stay', async () => {
    const house = await scopedHouse(ACCESS);
    const read = as('ada/mcp:read').headers;
    const begun = await house.ask('/mcp/files', legacy(initialize(1), read));
    const session = { ...read, 'mcp-session-id': String(begun.headers['mcp-session-id']) };
    const write = await house.ask('/mcp/files', legacy(legacyCall(2, 'write_one'), session));
    expect(verdict(write)).toEqual([403, challenge('mcp:read mcp:write', '/mcp/files')]);
    const more = { ...session, ...as('ada/mcp:write').headers };
    const written = await house.ask('/mcp/files', legacy(legacyCall(3, 'write_one'), more));
    expect(written.messages[0]!.result.content[0].text).toBe('written');
    const none = { ...session, ...as('ada/').headers, accept: 'text/event-stream' };
    const stream = await open(house.at('/mcp/files'), { method: 'GET', headers: none });
    expect([stream.status, stream.headers['www-authenticate']]).toEqual([
      403,
      challenge('mcp:read', '/mcp/files'),
    ]);
  });

  it('takes the union of a batch (2025-03-26)', async () => {
    const house = await scopedHouse(ACCESS);
    const headers = { ...as('ada/mcp:read').headers };
    const begun = await house.ask('/mcp/files', legacy(initialize(1, '2025-03-26'), headers));
    const session = { ...headers, 'mcp-session-id': String(begun.headers['mcp-session-id']) };
    const batch = [
      legacyCall(2, 'read_one'),
      legacyCall(3, 'delete_one'),
      { jsonrpc: '2.0', id: 4, method: 'prompts/list' },
    ];
    expect(verdict(await house.ask('/mcp/files', legacy(batch, session)))).toEqual([
      403,
      challenge('mcp:read mcp:delete mcp:write mcp:prompts', '/mcp/files'),
    ]);
  });

  it('counts at the transport of 2024-11-05', async () => {
    const house = await scopedHouse(ACCESS);
    const stream = await open(house.at('/mcp/files/sse'), { method: 'GET', ...as('ada/') });
    expect([stream.status, stream.headers['www-authenticate']]).toEqual([
      403,
      challenge('mcp:read', '/mcp/files'),
    ]);
  });
});

describe('a scope that every caller needs (--jwt-scope)', () => {
  const RESOURCE = 'https://gw.example';

  async function stage(implies: Record<string, string[]>, options: HouseOptions = {}) {
    const authority = await publishedAuthority();
    const requiredScopes = ['mcp:use'];
    const introspection = { clientId: 'gateway', clientSecret: 'secret' };
    const server = { issuer: authority.issuer, resource: RESOURCE, requiredScopes, introspection };
    const { authenticate } = createAuthenticate({ authServers: [server] });
    const house = await scopedHouse(
      { scopes: { all: ['mcp:read'], other: ['mcp:write'] }, implies },
      {
        ...options,
        endpoint: { authenticate, protectedResource: { ...PROTECTED, scopes: requiredScopes } },
      },
    );
    const withScope = async (scope: string) => {
      const token = await authority.token({ aud: RESOURCE, scope });
      const opaque = `opaque-${scope.replace(/\W/g, '-')}`;
      authority.opaque.set(opaque, { active: true, aud: RESOURCE, sub: 'ada', scope });
      return [token, opaque];
    };
    const callWith = (token: string) =>
      house.ask(
        '/mcp/files',
        modernCall(1, 'write_one', {}, { headers: { authorization: `Bearer ${token}` } }),
      );
    return { house, withScope, callWith };
  }

  it('AUTH-S-009: is included in a broader scope, also after a change of the rules', async () => {
    const { house, withScope, callWith } = await stage({ 'mcp:admin': ['mcp:use', 'mcp:read', 'mcp:write'] });
    const { gateway } = house.operation;
    const [jwt, opaque] = await withScope('mcp:admin');
    expect([(await callWith(jwt!)).status, (await callWith(opaque!)).status]).toEqual([200, 200]);
    gateway.apply(gateway.definitions, {});
    expect([(await callWith(jwt!)).status, (await callWith(opaque!)).status]).toEqual([403, 403]);
  });

  it('AUTH-S-008: is told together with those that all requests to the server need', async () => {
    const { withScope, callWith } = await stage({});
    for (const token of await withScope('mcp:write')) {
      expect(verdict(await callWith(token))).toEqual([
        403,
        challenge('mcp:use mcp:read mcp:write', '/mcp/files'),
      ]);
    }
  });

  it('AUTH-S-008: is told together with those of the tools, in one step, also for a batch', async () => {
    const { house, withScope, callWith } = await stage({});
    const both = challenge('mcp:use mcp:read mcp:write', '/mcp/files');
    for (const scope of ['', 'mcp:use', 'mcp:write', 'mcp:use mcp:read', 'mcp:read mcp:write']) {
      for (const token of await withScope(scope)) expect(verdict(await callWith(token))).toEqual([403, both]);
    }
    for (const token of await withScope('mcp:use mcp:read mcp:write'))
      expect((await callWith(token)).json.result.content[0].text).toBe('written');
    const [token] = await withScope('mcp:read');
    const headers = { authorization: `Bearer ${token}` };
    const batch = legacy([legacyCall(2, 'read_one'), legacyCall(3, 'write_one')], headers);
    expect(verdict(await house.ask('/mcp/files', batch))).toEqual([403, both]);
    // Nothing in these needs the scope of a tool.
    for (const method of ['GET', 'DELETE']) {
      const stream = await open(house.at('/mcp/files'), { method, headers });
      expect([stream.status, stream.headers['www-authenticate']]).toEqual([
        403,
        challenge('mcp:use mcp:read', '/mcp/files'),
      ]);
    }
    const unreadable = { method: 'POST', body: 'not JSON', headers: { ...batch.headers } };
    expect((await house.ask('/mcp/files', unreadable)).status).toBe(403);
    const { headers: first } = await house.ask('/mcp/files', modern(1, 'tools/list'));
    expect(first['www-authenticate']).toBe(
      `Bearer resource_metadata="${METADATA}/mcp/files", realm="mcp", scope="mcp:use mcp:read"`,
    );
  });

  it('is in the audit log with the call that it was missing for', async () => {
    const file = join(freshFolder(), 'a.jsonl');
    const { house, withScope, callWith } = await stage({}, { audit: { file } });
    const [token] = await withScope('mcp:write');
    const { json } = await callWith(token!);
    await house.operation.close({ graceMs: 0 });
    expect(
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      {
        correlationId: (json.error!.data as { correlationId: string }).correlationId,
        principal: expect.stringMatching(/\|ada$/),
        ...{ server: 'files', method: 'tools/call', tool: 'write_one', outcome: 'insufficient_scope' },
        scopes: ['mcp:use', 'mcp:read', 'mcp:write'],
      },
    ]);
  });

  it('is told alone where no other scope is needed, whatever was sent', async () => {
    const { house, withScope, callWith } = await stage({});
    house.operation.gateway.apply(house.operation.gateway.definitions, {});
    const [token] = await withScope('mcp:write');
    expect(verdict(await callWith(token!))).toEqual([
      403,
      `Bearer resource_metadata="${METADATA}/mcp/files", error="insufficient_scope", scope="mcp:use"`,
    ]);
  });
});

describe('the scopes for basic use', () => {
  it('AUTH-S-004, AUTH-S-011: are in the first challenge and in the metadata, and no others', async () => {
    const house = await scopedHouse(ACCESS);
    const { headers } = await house.ask('/mcp/mail', modern(1, 'tools/list'));
    expect(headers['www-authenticate']).toBe(
      `Bearer resource_metadata="${METADATA}/mcp/mail", scope="mail:use"`,
    );
    const metadata = await house.ask('/.well-known/oauth-protected-resource/mcp/mail', { method: 'GET' });
    expect(metadata.json).toMatchObject({
      resource: 'https://gw.example/mcp/mail',
      scopes_supported: ['mail:use'],
    });
  });

  it('AUTH-S-010: offline_access is not among them', async () => {
    const house = await scopedHouse({ scopes: { all: ['mcp:read', 'offline_access'] } });
    const metadata = await house.ask('/.well-known/oauth-protected-resource/mcp/mail', { method: 'GET' });
    expect(metadata.json).toMatchObject({ scopes_supported: ['mcp:read'] });
  });
});

it('follows a change of the rules at once, and the servers are not touched', async () => {
  const house = await scopedHouse({});
  const { gateway } = house.operation;
  expect((await call(house, '/mcp/files', 'write_one', 'ada/')).status).toBe(200);
  const applied = gateway.apply(gateway.definitions, ACCESS);
  expect(applied).toMatchObject({ added: [], changed: [], removed: [], unchanged: ['files', 'mail'] });
  expect((await call(house, '/mcp/files', 'write_one', 'ada/')).status).toBe(403);
  gateway.apply(gateway.definitions, {});
  expect((await call(house, '/mcp/files', 'write_one', 'ada/')).status).toBe(200);
});
