import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { controlClient } from '@isthmus/gateway/internal/control/index.js';
import { secretsOf, secretsOfAll } from '@isthmus/gateway/internal/secrets.js';
import { createRedactor } from '@isthmus/gateway/internal/telemetry/redactor.js';
import { createWordFinder } from '@isthmus/gateway/internal/telemetry/word-finder.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freshFolder } from '../../packages/gateway/test/support/open-gateway.js';
import { openHouse, tellsAll } from '../../packages/gateway/test/support/secured-gateway.js';
import { commandUnit, urlUnit } from '../../packages/gateway/test/support/server-definitions.js';
import { modernCall } from '../../packages/sdk/test/support/http-server.js';
import { ISTHMUS } from '../support/child.js';

/** What found.md names, and the lines of a key. */
const ENV = {
  PLAIN: 'plainvalue',
  DB_PASS: 'hunter2hunter2',
  OPENAI_KEY: 'abcdefgh',
  GITHUB_PAT: 'pat-for-the-hub',
  PRIVATE_KEY: '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----',
  NODE_ENV: 'production',
  SHORT: 'abc1234',
};
const HIDDEN = [
  'plainvalue',
  'hunter2hunter2',
  'abcdefgh',
  'pat-for-the-hub',
  'MIIEvQIBADANBgkq',
  'hkiG9w0BAQEFAASC',
];
const TELLS =
  'for (const value of Object.values(process.env)) console.error("given " + value); process.exit(7)';

const leaksIn = (text: string) => HIDDEN.filter((secret) => text.includes(secret));

/** What a command of ours writes, until it ends; it is ended when it has said the last words. */
function outputOf(
  args: readonly string[],
  env: Record<string, string> = {},
  lastWords?: string,
): Promise<string> {
  const child = spawn(process.execPath, [ISTHMUS, ...args], { env: { ...process.env, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  const take = (chunk: Buffer) => {
    text += String(chunk);
    if (lastWords !== undefined && text.includes(lastWords)) child.kill('SIGKILL');
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  return new Promise((resolve) => child.once('close', () => resolve(text)));
}

describe('S5: the values of env and headers', () => {
  it('S5: are secrets from 8 characters on, unless the name is known to be harmless', () => {
    const command = commandUnit('a', [], { env: ENV });
    expect(secretsOf(command)).toEqual([
      ...['plainvalue', 'hunter2hunter2', 'abcdefgh', 'pat-for-the-hub'],
      ENV.PRIVATE_KEY,
    ]);
    const headers = { 'X-Tenant': 'tenant-0042', 'User-Agent': 'isthmus/0.1.0', Accept: 'application/json' };
    expect(secretsOf(urlUnit('b', 'http://127.0.0.1:1/mcp', { headers }))).toEqual(['tenant-0042']);
  });

  it('S5: are in no log, no status and no error of a gateway', async () => {
    const house = await openHouse([commandUnit('dies', ['-e', TELLS], { env: ENV, restart: false })], {
      tellsStderr: true,
    });
    await expect.poll(() => house.operation.gateway.unit('dies').state().state).toBe('failed');
    const control = controlClient(house.controlPath);
    const status = JSON.stringify(await control.status());
    const call = await house.ask('/mcp/dies', modernCall(1, 'x'));
    expect(status).toContain('given [redacted]');
    expect([leaksIn(status), leaksIn(call.text), leaksIn(house.logged())]).toEqual([[], [], []]);
    expect(call.text).toContain('given [redacted]');
    expect(house.logged()).toContain('production');
  });

  it('S5: are not in what serve passes on of a single command', async () => {
    const variables = Object.entries(ENV).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    const command = ['--', process.execPath, '-e', TELLS];
    const args = ['serve', '--port', '0', '--no-control', ...variables, ...command];
    const text = await outputOf(args, {}, 'stopped with code 7');
    expect(text).toContain('given [redacted]');
    expect(leaksIn(text)).toEqual([]);
  });

  it('S5: are not in what doctor says', async () => {
    const file = join(freshFolder(), 'servers.json');
    const server = { command: process.execPath, args: ['-e', TELLS], env: ENV };
    writeFileSync(file, JSON.stringify({ mcpServers: { dies: server } }));
    const text = await outputOf(['doctor', '--config', file], { ISTHMUS_RUNTIME_DIR: freshFolder() });
    expect(text).toContain('given [redacted]');
    expect(leaksIn(text)).toEqual([]);
  });
});

describe('S5: many secrets in long lines', () => {
  it('S5: take time that grows with the text, however many secrets there are and however they begin', () => {
    const same = 'a'.repeat(500);
    const secrets = Array.from({ length: 2000 }, (_, at) => `${same}${at}-secret`);
    const { text } = createRedactor(secrets);
    const began = performance.now();
    const clean = text(`${'a'.repeat(1_000_000)} ${secrets[1999]} ${'aaab'.repeat(50_000)}`);
    expect(clean).toContain(' [redacted] ');
    expect(performance.now() - began).toBeLessThan(3000);
  });

  it('S5: are found where they overlap, touch, or hold one another', () => {
    const replace = (words: string[], text: string) => createWordFinder(words).replace(text, '*');
    expect(replace(['secret', 'secretary'], 'a secretary has a secret')).toBe('a * has a *');
    expect(replace(['abcdef', 'defghi'], 'xabcdefghix')).toBe('x*x');
    expect(replace(['abc', 'xabcd'], 'xabcabcd')).toBe('x**d');
    expect(replace(['cde', 'abcdef'], 'abcdef cde')).toBe('* *');
    expect(replace([], 'as it is')).toBe('as it is');
    expect(replace(['🗝️🗝️'], 'a 🗝️🗝️ b')).toBe('a * b');
  });

  it('S5: of a size beyond reason are looked for in pieces', () => {
    const huge = Array.from({ length: 20_000 }, (_, at) => String(at)).join('');
    expect(createRedactor([huge]).text(`<${huge}>`).length).toBeLessThan(huge.length / 50);
  });
});

describe('S5: what is not a secret stays readable', () => {
  const env = {
    PGHOST: 'localhost',
    REDIS_HOST: '127.0.0.1',
    PGUSER: 'postgres',
    MODE: 'production',
    USE_TOKEN: 'true',
    OTHER: 'othersecret',
    DB_PASSWORD: 'optional',
  };

  it('S5: a server keeps its name, and addresses of this machine stay, whatever its variables are', () => {
    const units = [commandUnit('postgres-read-replica', [], { env }), commandUnit('other', [])];
    const { text } = createRedactor(secretsOfAll(units));
    const line = 'http://127.0.0.1:8080/mcp/postgres-read-replica on localhost: production, ready: true';
    expect(text(line)).toBe(line);
    expect(text('it said othersecret')).toBe('it said [redacted]');
    // The name of the variable says that it is a secret, however weak.
    expect(text('it said optional')).toBe('it said [redacted]');
  });

  it('S5: the status names a server whose variables hold its name', async () => {
    const house = await openHouse([tellsAll('postgres', { env })]);
    const { json } = await house.ask('/status', { method: 'GET' });
    const { servers } = json as unknown as { servers: Record<string, { name: string; paths: string[] }> };
    expect(servers['postgres']).toMatchObject({ name: 'postgres' });
    expect(servers['postgres']!.paths[0]).toMatch(/\/postgres/);
  });
});

describe('S5: an object or a list under the name of a secret', () => {
  const { json, text } = createRedactor();
  const clean = (value: unknown) => JSON.parse(json(JSON.stringify(value)));

  it('S5: is redacted as a whole in a line of JSON', () => {
    const line = {
      token: { value: 'abc', kinds: ['x', { deep: 'y' }], 'as a name': 1 },
      password: 123_456,
      credentials: [{ user: 'u' }, ['v'], 7],
      api_key: {},
      secret: null,
      after: { token: true, n: 1, text: 'stays' },
    };
    expect(clean(line)).toEqual({
      token: '[redacted]',
      password: '[redacted]',
      credentials: ['[redacted]', '[redacted]', '[redacted]'],
      api_key: '[redacted]',
      secret: null,
      after: { token: true, n: 1, text: 'stays' },
    });
    expect(clean({ token: { a: '}"]{', b: '\\' }, next: 'stays' })).toEqual({
      token: '[redacted]',
      next: 'stays',
    });
  });

  it('S5: is redacted as a whole in the text of a program, as JSON, JavaScript and Python write it', () => {
    expect(text('said {"token": {"value": "a}b"}, "n": 1}')).toBe('said {"token": [redacted], "n": 1}');
    expect(text('{ user: 1, apiKey: { value: "abc" } } end')).toBe('{ user: 1, apiKey: [redacted] } end');
    expect(text("{'password': ['abc', 'd]e'], 'n': 1}")).toBe("{'password': [redacted], 'n': 1}");
    expect(text(JSON.stringify({ body: '{"token":{"value":"a}b"},"n":1}' }))).toBe(
      '{"body":"{\\"token\\":[redacted],\\"n\\":1}"}',
    );
    expect(text("{ token: 'abc', n: 1 }")).toBe("{ token: '[redacted]', n: 1 }");
    expect(text('cut off: {"token": {"value": "ab')).toBe('cut off: {"token": [redacted]');
  });

  it('S5: takes time that grows with the text, whatever the text is', () => {
    const began = performance.now();
    for (const piece of ['"token":{', '"token":{"\\"', '"\\', "{token:{'\\\\", '"token":{}', '{token', '[']) {
      text(`"token":{${piece.repeat(1_000_000 / piece.length)}`);
    }
    expect(performance.now() - began).toBeLessThan(5000);
  });
});
