import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { AccessSettings } from '@isthmus/sdk/internal/config/gateway/read-access.js';
import type { Call } from '@isthmus/sdk/internal/exchange/call.js';
import { describe, expect, it } from 'vitest';
import {
  type Answer,
  initialize,
  legacy,
  modern,
  modernCall,
} from '../../../sdk/test/support/http-server.js';
import { AccessPolicy } from '../../src/access/access-policy.js';
import { enforceAccess } from '../../src/access/enforce-access.js';
import { ToolHints } from '../../src/access/tool-hints.js';
import { as, byWrittenToken, scopedHouse, withHints } from '../support/scoped-tokens.js';
import { type House, openHouse } from '../support/secured-gateway.js';
import { openFar } from '../support/upstream.js';

async function tools(house: House, path: string, token: string): Promise<string[]> {
  const { json } = await house.ask(path, modern(1, 'tools/list', {}, as(token)));
  return json.result.tools.map(({ name }: { name: string }) => name);
}

function call(house: House, path: string, tool: string, token: string): Promise<Answer> {
  return house.ask(path, modernCall(1, tool, {}, as(token)));
}

const RULES = {
  rules: [
    { effect: 'deny', tools: ['delete_*'], principals: ['key:*'] },
    { effect: 'deny', servers: ['mail'], principals: ['key:ci'] },
    { effect: 'allow', tools: ['delete_*'], scopes: ['mcp:delete'] },
    { effect: 'deny', tools: ['delete_*'] },
  ],
} as const;

describe('a tool that the rules deny', () => {
  it('is not listed, and is unknown when it is called, at its server and at the address of all', async () => {
    const house = await scopedHouse(RULES);
    expect(await tools(house, '/mcp/files', 'ci')).toEqual(['read_one', 'write_one']);
    expect(await tools(house, '/mcp', 'dev')).toEqual([
      ...['files__read_one', 'files__write_one', 'mail__read_one', 'mail__write_one'],
    ]);
    for (const [path, tool] of [
      ['/mcp/files', 'delete_one'],
      ['/mcp', 'files__delete_one'],
    ] as const) {
      const { json } = await call(house, path, tool, 'dev');
      expect(json.error).toMatchObject({ code: -32602, message: 'Unknown tool: delete_one' });
    }
  });

  it('is there for a token with the scope that the rule names', async () => {
    const house = await scopedHouse(RULES);
    expect(await tools(house, '/mcp/files', 'ada/mcp:delete')).toEqual([
      ...['read_one', 'write_one', 'delete_one'],
    ]);
    expect(await tools(house, '/mcp/files', 'ada/mcp:read')).toEqual(['read_one', 'write_one']);
    expect((await call(house, '/mcp/files', 'delete_one', 'ada/mcp:delete')).json.result.content).toEqual([
      { type: 'text', text: 'deleted' },
    ]);
  });
});

describe('a server that the rules deny', () => {
  it('answers with 403 and no challenge at its own address', async () => {
    const house = await scopedHouse(RULES);
    const { status, headers, json } = await call(house, '/mcp/mail', 'read_one', 'ci');
    expect([status, headers['www-authenticate']]).toEqual([403, undefined]);
    expect(json.error).toMatchObject({
      message: 'The caller is not allowed to use this server',
      data: { reason: 'DENIED', sent: 'no' },
    });
  });

  it('is missing at the address of all, with its prompts', async () => {
    const house = await scopedHouse(RULES);
    expect(await tools(house, '/mcp', 'ci')).toEqual(['files__read_one', 'files__write_one']);
    const prompts = await house.ask('/mcp', modern(1, 'prompts/list', {}, as('ci')));
    expect(prompts.json.result.prompts.map(({ name }: { name: string }) => name)).toEqual(['files__greet']);
    const { json } = await house.ask('/mcp', modern(1, 'prompts/get', { name: 'mail__greet' }, as('ci')));
    expect(json.error).toMatchObject({
      message: 'mail is not open to this caller',
      data: { reason: 'DENIED' },
    });
  });
});

describe('the instructions at the address of all servers', () => {
  const house = async (access: AccessSettings) => {
    const units = await Promise.all(
      ['files', 'mail'].map(async (name) =>
        (await openFar(withHints, { name, instructions: `How to use ${name}.` })).unit(name, {
          stateless: true,
        }),
      ),
    );
    const opened = await openHouse(units, { access, endpoint: { authenticate: byWrittenToken } });
    await opened.ask('/mcp', modern(1, 'tools/list', {}, as('dev')));
    return opened;
  };
  const told = async (opened: House, token: string) => {
    const { json } = await opened.ask('/mcp', modern(1, 'server/discover', {}, as(token)));
    const begun = await opened.ask('/mcp', legacy(initialize(1, '2025-11-25'), as(token).headers));
    return [json.result['instructions'], begun.messages[0]!.result['instructions']];
  };
  const FILES = '# files\n\nHow to use files.';
  const ALL = `${FILES}\n\n# mail\n\nHow to use mail.`;

  it('are those of the servers that the caller may use, in both eras', async () => {
    const opened = await house(RULES);
    expect(await told(opened, 'dev')).toEqual([ALL, ALL]);
    expect(await told(opened, 'ci')).toEqual([FILES, FILES]);
  });

  it('are those of the servers that the scopes of the token open', async () => {
    const opened = await house({ servers: { mail: { all: ['mail:use'] } } });
    expect(await told(opened, 'ada/mail:use')).toEqual([ALL, ALL]);
    expect(await told(opened, 'ada/other')).toEqual([FILES, FILES]);
  });
});

describe('with "default": "deny"', () => {
  const CLOSED = {
    default: 'deny',
    rules: [{ effect: 'allow', principals: ['jwt:https://login.example|*'], tools: ['read_*'] }],
  } as const;

  it('only what a rule allows is there', async () => {
    const house = await scopedHouse(CLOSED);
    expect(await tools(house, '/mcp/files', 'ada/')).toEqual(['read_one']);
    expect((await call(house, '/mcp/files', 'read_one', 'ada/')).status).toBe(200);
    expect((await call(house, '/mcp/files', 'read_one', 'dev')).status).toBe(403);
  });

  it('tools that are allowed do not open prompts', async () => {
    const house = await scopedHouse(CLOSED);
    const { json } = await house.ask('/mcp/files', modern(1, 'prompts/list', {}, as('ada/')));
    expect(json.result.prompts).toEqual([]);
  });
});

it('a caller that may use a tool may ask for the tasks that it has made with it', async () => {
  const access = new AccessPolicy({ default: 'deny', rules: [{ effect: 'allow', tools: ['read_*'] }] });
  const seen: string[] = [];
  const service = enforceAccess({ handle: (call: Call) => ({ seen: seen.push(call.method) }) } as never, {
    server: 'files',
    access,
    hints: new ToolHints(systemClock),
  });
  const peer = { principal: 'jwt:https://login.example|ada' };
  const ask = async (method: string) => service.handle({ method, params: {}, peer } as never);
  for (const method of ['tasks/get', 'tasks/result', 'tasks/list', 'tasks/update', 'tasks/cancel']) {
    await ask(method);
  }
  await expect(ask('resources/read')).rejects.toThrow('files is not open to this caller');
  expect(seen).toEqual(['tasks/get', 'tasks/result', 'tasks/list', 'tasks/update', 'tasks/cancel']);
});
