import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { modern, modernCall } from '../../../sdk/test/support/http-server.js';
import { AUDIENCE, bearer, guarded, openAuthority } from '../support/auth.js';
import { freshFolder } from '../support/open-gateway.js';
import { as, byWrittenToken, scopedHouse } from '../support/scoped-tokens.js';
import { openHouse } from '../support/secured-gateway.js';
import { openFar } from '../support/upstream.js';

describe('a token whose scopes look like the right ones', () => {
  it.each([
    ['mcp:read', 'ada'],
    ['  openid   mcp:read  ', 'ada'],
    [['openid mcp:read'], 'ada'],
    ['MCP:READ', 403],
    ['mcp:readmcp:write', 403],
    ['mcp:read\tmcp:write', 403],
    ['mcp:read\u00a0mcp:write', 403],
    ['mcp:read,mcp:write', 403],
    ['mcp:re\u0430d', 403],
    [{ 'mcp:read': true }, 403],
    ['mcp:*', 403],
  ])('%j: %s', async (scope, expected) => {
    const authority = await openAuthority();
    const jwt = { jwksUrl: authority.jwksUrl, audience: AUDIENCE, requiredScopes: ['mcp:read'] };
    const { who } = await guarded({ jwt });
    const verdict = await who(bearer(await authority.token({ scope })));
    if (expected === 403) expect(verdict[0]).toBe(403);
    else expect(verdict).toBe('jwt:https://login.example.com|ada');
  });
});

describe('a tool that is denied by its server and its name', () => {
  const LONG = `delete_${'x'.repeat(100)}`;
  const ACCESS = {
    rules: [{ effect: 'deny', principals: ['key:ci'], servers: ['files'], tools: ['delete_*'] }],
  } as const;

  async function opened() {
    const deleted: string[] = [];
    const build = (name: string) =>
      openFar(
        (server) => {
          for (const tool of ['delete_one', LONG, 'read_one']) {
            server.tool(tool, {}, () => `${name} ${deleted.push(`${name} ${tool}`)}`);
          }
        },
        { name },
      );
    const [files, mail] = [await build('files'), await build('mail')];
    const units = [files.unit('files', { stateless: true }), mail.unit('mail', { stateless: true })];
    const house = await openHouse(units, { access: ACCESS, endpoint: { authenticate: byWrittenToken } });
    const names = async (token: string) => {
      const { json } = await house.ask('/mcp', modern(1, 'tools/list', {}, as(token)));
      return (json.result.tools as { name: string }[]).map(({ name }) => name);
    };
    return { house, deleted, names };
  }

  it('has no other name at the address of all, also where names are shortened', async () => {
    const { house, deleted, names } = await opened();
    const all = await names('dev');
    const ofFiles = all.filter((name) => name.startsWith('files__') && !name.includes('read_one'));
    expect(ofFiles).toHaveLength(2);
    expect(await names('ci')).toEqual(all.filter((name) => !ofFiles.includes(name)));
    const odd = ['FILES__delete_one', 'files__Delete_one', 'files/delete_one', `files__${LONG}`];
    const nested = ['mail__files__delete_one', 'files__files__delete_one', 'files__mail__delete_one'];
    for (const name of [...ofFiles, ...odd, ...nested]) {
      const { json } = await house.ask('/mcp', modernCall(1, name, {}, as('ci')));
      expect([name, json.error?.code]).toEqual([name, -32602]);
    }
    expect(deleted).toEqual([]);
    // A bare name, as user interfaces use it, means the only server that is open.
    for (const name of ['delete_one', LONG]) {
      await house.ask('/mcp', modernCall(1, name, {}, as('ci')));
    }
    expect(deleted.filter((each) => each.startsWith('files'))).toEqual([]);
    deleted.length = 0;
    // Its namesake at the other server is open.
    await house.ask('/mcp', modernCall(1, 'mail__delete_one', {}, as('ci')));
    expect(deleted).toEqual(['mail delete_one']);
  });
});

it('X-Forwarded-For and Forwarded do not change the address of a caller in the audit log', async () => {
  const file = join(freshFolder(), 'audit.jsonl');
  const house = await scopedHouse({}, { audit: { file } });
  const claimed = {
    'x-forwarded-for': '203.0.113.9',
    'x-real-ip': '203.0.113.9',
    forwarded: 'for=203.0.113.9',
  };
  const headers = { ...as('ada/').headers, ...claimed };
  await house.ask('/mcp/files', modernCall(1, 'read_one', {}, { headers }));
  await house.operation.close();
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).remote)).toEqual(lines.map(() => '127.0.0.1'));
});
