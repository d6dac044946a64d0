import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AccessPolicy } from '../../../gateway/src/access/access-policy.js';
import { AUDIENCE, openAuthority } from '../../../gateway/test/support/auth.js';
import { openHouse } from '../../../gateway/test/support/secured-gateway.js';
import { checkConsoleAddress, toConsoleAddress } from '../../src/console/console-address.js';
import { collectKeyLevel, collectScopeLevel } from '../../src/console/console-levels.js';
import { readConsoleSignIn } from '../../src/console/console-sign-in.js';
import { openServeConsole } from '../../src/console/serve-console.js';
import type { ServeCommandOptions } from '../../src/serve/serve-options.js';

const at = { host: '127.0.0.1', port: 0 };
const read = (options: Partial<ServeCommandOptions>) =>
  readConsoleSignIn({ console: at, ...options } as ServeCommandOptions);

describe('an operator without a link', () => {
  it('enters with the key that was named for it, and no other caller of the gateway does', async () => {
    const signIn = read({
      apiKey: ['ops=0123456789abcdef-ops', 'ci=0123456789abcdef-ci'],
      consoleKey: collectKeyLevel('ops=act'),
    });
    expect(await signIn?.authenticate({ apiKey: '0123456789abcdef-ops' })).toEqual({
      who: 'key:ops',
      levels: ['look', 'act'],
    });
    expect(await signIn?.authenticate({ apiKey: '0123456789abcdef-ci' })).toBeUndefined();
    expect(await signIn?.authenticate({ apiKey: 'wrong' })).toBeUndefined();
    expect(await signIn?.authenticate({ apiKey: '' })).toBeUndefined();
    expect(signIn?.keys).toEqual([{ name: 'key:ops', levels: ['look', 'act'] }]);
  });

  it('is out when the key is taken out of the bearer file', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'isthmus-')), 'tokens');
    const write = (text: string) => writeFileSync(file, text, { mode: 0o600 });
    write('ops: 0123456789abcdef-ops\nci: 0123456789abcdef-ci\n');
    const signIn = read({ bearerFile: file, consoleKey: collectKeyLevel('ops=act') });
    const user = await signIn?.authenticate({ apiKey: '0123456789abcdef-ops' });
    expect(user?.who).toBe('key:ops');
    expect(await user?.standing?.()).toBe('good');
    write('ci: 0123456789abcdef-ci\n');
    // The file is looked at once a second.
    await expect.poll(() => user?.standing?.()).toBe('revoked');
  });

  it('enters with a token of a scope, without the scope that callers of tools need, until the token ends', async () => {
    const { jwksUrl, token } = await openAuthority();
    const signIn = read({
      ...{ jwtJwks: jwksUrl, jwtAudience: [AUDIENCE], jwtScope: ['tools'] },
      consoleScope: collectScopeLevel('record=ops', collectScopeLevel('look=watch')),
    });
    const user = await signIn?.authenticate({ jwt: await token({ scope: 'watch ops' }) });
    expect(user).toMatchObject({ levels: ['look', 'act', 'record'] });
    expect(user?.who).toMatch(/^jwt:/);
    expect(user?.until).toBeGreaterThan(Date.now());
    expect((await signIn?.authenticate({ jwt: await token({ scope: 'watch' }) }))?.levels).toEqual(['look']);
    expect(await signIn?.authenticate({ jwt: await token({ scope: 'tools' }) })).toBeUndefined();
  });

  it('AUTH-S-009: enters with a scope that includes the one of the console, as long as the rules say so', async () => {
    const { jwksUrl, token } = await openAuthority();
    const signIn = read({
      ...{ jwtJwks: jwksUrl, jwtAudience: [AUDIENCE], jwtScope: ['tools'] },
      consoleScope: collectScopeLevel('act=ops', collectScopeLevel('look=watch')),
    });
    const access = new AccessPolicy({ implies: { root: ['admin'], admin: ['ops'], tools: ['watch'] } });
    const enter = async (scope: string) =>
      signIn?.authenticate({ jwt: await token({ scope }) }, access.coversScopes);
    const root = await enter('root');
    expect([root?.levels, await root?.standing?.()]).toEqual([['look', 'act'], 'good']);
    expect((await enter('watch'))?.levels).toEqual(['look']);
    // Every caller of a tool has this one.
    expect(await enter('tools')).toBeUndefined();
    expect((await enter('tools admin'))?.levels).toEqual(['look', 'act']);
    access.replace({});
    expect([await root?.standing?.(), await enter('root')]).toEqual(['revoked', undefined]);
  });

  it.each<[Partial<ServeCommandOptions>, string]>([
    [{ consoleKey: collectKeyLevel('ops=act') }, 'none are accepted'],
    [{ console: 'off', consoleKey: collectKeyLevel('ops=act'), apiKey: ['ops=k'] }, 'there is none'],
    [
      {
        consoleScope: collectScopeLevel('act=tools'),
        ...{ jwtJwks: 'http://127.0.0.1:1/keys', jwtAudience: ['a'], jwtScope: ['tools'] },
      },
      'every caller of a tool would be an operator',
    ],
  ])('is refused where it cannot be: %#', (options, why) => {
    expect(() => read(options)).toThrow(why);
  });

  it.each(['ops', 'ops=', 'ops=admin', '=act'])('has a name and a level: %s is refused', (text) => {
    expect(() => collectKeyLevel(text)).toThrow('It must be NAME=look');
  });
});

it('who came into the console, and who was refused, is in the audit log; never what was given', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'isthmus-')), 'audit.jsonl');
  const signIn = read({ apiKey: ['ops=0123456789abcdef-ops'], consoleKey: collectKeyLevel('ops=act') });
  const house = await openHouse([], {
    audit: { file },
    openConsole: (source) =>
      openServeConsole(source, { signIn, mayRecord: false, files: [], auth: [], hasPrincipals: true }),
  });
  const { url } = await house.operation.console('look');
  const enter = async (given: object) => {
    const answer = await fetch(new URL('api/enter', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(given),
    });
    await answer.body?.cancel();
    return answer.status;
  };
  const link = url.split('#enter=')[1]!;
  expect(await enter({ apiKey: '0123456789abcdef-ops' })).toBe(200);
  expect(await enter({ apiKey: '0123456789abcdef-ci' })).toBe(401);
  expect(await enter({ link })).toBe(200);
  await house.operation.close({ graceMs: 0 });
  const text = readFileSync(file, 'utf8');
  const lines: Record<string, unknown>[] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ time: _time, correlationId: _id, ...line }) => line)).toEqual([
    { principal: 'key:ops', remote: '127.0.0.1', method: 'console/enter', outcome: 'ok' },
    {
      ...{ remote: '127.0.0.1', method: 'console/enter', outcome: 'unauthenticated' },
      error: 'This key or token does not open the console',
    },
    { principal: 'console-1', remote: '127.0.0.1', method: 'console/enter', outcome: 'ok' },
  ]);
  for (const secret of ['0123456789abcdef', link]) expect(text).not.toContain(secret);
});

describe('the address of the console', () => {
  it('is one of this machine, or is behind something that encrypts', () => {
    const elsewhere = toConsoleAddress('0.0.0.0:7070');
    expect(() => checkConsoleAddress(elsewhere, {})).toThrow('other machines can reach it');
    expect(() => checkConsoleAddress(elsewhere, { consoleBehindTls: true })).toThrow(
      '--console-behind-tls needs',
    );
    checkConsoleAddress(elsewhere, { consoleBehindTls: true, allowHost: ['ops.example'] });
    for (const text of ['127.0.0.1:0', 'localhost:7070', '[::1]:7070', 'off'])
      checkConsoleAddress(toConsoleAddress(text), {});
    expect(() => checkConsoleAddress(undefined, { consoleBehindTls: true })).toThrow(
      '--console-behind-tls is for',
    );
    for (const text of ['127.0.0.1', '127.0.0.1:99999', ':80'])
      expect(() => toConsoleAddress(text)).toThrow();
  });
});
