/** The doctor with real servers of every fault. */
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { unit } from '../../../../gateway/test/support/control.js';
import type { Diagnosis } from '../../../src/control/doctor/diagnosis.js';
import { runDoctor } from '../../../src/control/doctor/run-doctor.js';
import { freePlace, openFake, work } from '../../support/control.js';
import { freeFolder } from '../../support/isthmus.js';

const fixture = (name: string) =>
  fileURLToPath(new URL(`../../../../../test/programs/${name}.mjs`, import.meta.url));
const node = (...args: string[]) => ({ command: process.execPath, args });

function config(mcpServers: object): string {
  const file = join(freeFolder(), 'mcp.json');
  writeFileSync(file, JSON.stringify({ mcpServers }, null, 2));
  return file;
}

async function examine(servers: object, name?: string, place = freePlace(), timeout = 10_000) {
  const file = config(servers);
  const run = (json: boolean) =>
    work((context) => runDoctor(name, { config: [file], timeout, json }, context), place);
  const ran = await run(true);
  const found: { well: boolean; faults: string[]; servers: Diagnosis[] } = JSON.parse(ran.stdout || '{}');
  return { ...ran, ...found, run, file };
}

async function answering(status: number, headers: Record<string, string> = {}): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status, headers).end('no'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const APPS = fileURLToPath(new URL('../../../../../test/apps/apps-server.mjs', import.meta.url));

describe('isthmus doctor --config with servers that have user interfaces', () => {
  it('names a tool that a user interface needs and the file hides', async () => {
    const { well, servers } = await examine({
      maps: { ...node(APPS, 'maps'), tools: { deny: ['refresh_*'] } },
      other: { ...node(APPS, 'other'), tools: { deny: ['refresh_*', 'show'] } },
    });
    expect(well).toBe(true);
    const hidden = servers.map(({ odd }) => odd.filter(({ code }) => code === 'app-tool-hidden'));
    expect(hidden).toEqual([
      [
        {
          code: 'app-tool-hidden',
          message:
            '"tools" of its definition hides refresh_maps, which models are not offered, but which the user ' +
            'interface of show calls. Allow it, or hide the tools with the interface, too',
        },
      ],
      [],
    ]);
  });

  it('names user interfaces of two servers with one address', async () => {
    const { servers } = await examine({ maps: node(APPS, 'maps'), weather: node(APPS, 'weather') });
    expect(servers.map(({ views, odd }) => [views, odd])).toEqual([
      [['ui://view'], []],
      [
        ['ui://view'],
        [
          {
            code: 'app-view-shared',
            message:
              'Its user interface ui://view has the same address as one of maps. Where both are served at one ' +
              'address, this one is shown as ui://weather~/view',
          },
        ],
      ],
    ]);
  });
});

describe('isthmus doctor --config', () => {
  it('tells which era each server speaks and why, and ends with 0 when all are well', async () => {
    const { code, well, servers } = await examine({
      old: node(fixture('server-exits-on-discover')),
      new: node(fixture('server-that-never-answers')),
      away: { ...node('x'), disabled: true },
    });
    expect({ code, well }).toEqual({ code: 0, well: true });
    expect(servers).toMatchObject([
      {
        name: 'old',
        health: 'well',
        how: 'tried',
        era: 'legacy (2025-11-25)',
        because: expect.stringMatching(/^it ended when server\/discover was sent/),
        evidence: [
          expect.stringMatching(/^the server ended/),
          'it was started once more, to be spoken to as legacy',
        ],
        server: 'exits-on-discover 1.0.0',
        offers: '1 tool',
        odd: [{ code: 'exits-on-probe' }],
      },
      { name: 'new', health: 'well', era: 'modern (2026-07-28)', because: 'it answered server/discover' },
      { name: 'away', health: 'off', how: 'not started' },
    ]);
  });

  it('tells why each server will not start, and what to do, and ends with 1', async () => {
    const stay = 'process.stdin.resume().on("end", () => process.exit(0))';
    const { code, well, servers } = await examine(
      {
        dies: node(fixture('child-that-dies-at-start')),
        plain: node('-e', 'console.error("reading"); console.error("bad luck"); process.exit(3)'),
        silent: node('-e', stay),
        typo: { command: 'nodee' },
        folder: { ...node('x'), cwd: '/no/such/folder' },
        variable: { ...node('x'), env: { KEY: `\${NOT_SET_ANYWHERE}` } },
        wrong: { args: ['x'] },
      },
      undefined,
      freePlace(),
      1500,
    );
    expect({ code, well }).toEqual({ code: 1, well: false });
    const told = Object.fromEntries(
      servers.map(({ name, how, problems }) => [name, [how, ...problems.map((each) => each.code)]]),
    );
    expect(told).toEqual({
      dies: ['tried', 'variable-missing', 'exits'],
      plain: ['tried', 'exits'],
      silent: ['tried', 'silent'],
      typo: ['not started', 'command-not-found'],
      folder: ['not started', 'folder-missing'],
      variable: ['not started', 'variable-missing'],
      wrong: ['not started', 'configuration'],
    });
    const of = (name: string) => servers.find((each) => each.name === name)!;
    expect(of('plain')).toMatchObject({
      problems: [
        {
          message: expect.stringMatching(
            /^Cannot connect: plain stopped with code 3 after \d+ ms; last stderr: "bad luck"$/,
          ),
          advice:
            'Run the command by itself to see what it needs. Servers get a clean environment: pass variables with env or inheritEnv',
        },
      ],
      stderr: ['reading', 'bad luck'],
    });
    expect(of('typo').problems[0]!.advice).toBe('Did you mean node?');
    expect(of('silent').problems[0]!.advice).toBe(
      'Check that it is an MCP server on stdin and stdout. Some servers need an argument for that (stdio)',
    );
    expect(of('variable').problems[0]!.message).toContain('the variable NOT_SET_ANYWHERE is not set');
    expect(of('dies').stderr.join('\n')).toContain('missing API key');
  });

  it('finds a port that another process uses', async () => {
    const url = new URL(await answering(200));
    const program = `require("net").createServer().listen(${url.port}, "127.0.0.1")`;
    const { servers } = await examine({ second: node('-e', program) });
    expect(servers[0]!.problems[0]).toMatchObject({
      code: 'port-in-use',
      message: `It needs port ${url.port}, which another process uses`,
    });
  });

  it('tells what is wrong with a URL', async () => {
    const { code, servers, file } = await examine({
      nobody: { url: 'http://127.0.0.1:1/mcp' },
      who: { url: await answering(401, { 'WWW-Authenticate': 'Bearer' }) },
      where: { url: await answering(404) },
      ill: { url: await answering(503) },
    });
    expect(code).toBe(1);
    const advice = (text: string) => text.replace(/(metadata of the server: none).*/, '$1');
    expect(servers.map(({ name, problems: [first] }) => [name, first!.code, advice(first!.advice)])).toEqual([
      [
        'nobody',
        'unreachable',
        'Check that the server is running and that the host is right. curl -v shows where the connection fails',
      ],
      [
        'who',
        'needs-login',
        `isthmus login --config ${file} who, or give credentials: "headers": { "Authorization": "Bearer \${TOKEN}" }. metadata of the server: none`,
      ],
      ['where', 'wrong-url', 'Check the URL. The path of an MCP server is often /mcp or /sse'],
      ['ill', 'http-status', 'The server, or a proxy in front of it, fails; its log may say why'],
    ]);
  });

  it('is readable', async () => {
    const { run, file } = await examine({
      typo: { command: 'nodee' },
      off: { ...node('x'), disabled: true },
    });
    const { stdout } = await run(false);
    const folders = process.env['PATH']!.split(':').filter(Boolean).length;
    expect(stdout.split('\n')).toEqual([
      `typo is unusable (${file}:3; it was not started)`,
      `  problem  The command nodee is in none of the ${folders} folders of PATH`,
      '  fix      Did you mean node?',
      '',
      `off is disabled (${file}:6; it was not started)`,
      '',
      '1 of 2 unusable: typo, 1 disabled.',
      '',
    ]);
  });

  it('examines the server that is named, and suggests a similar name', async () => {
    const servers = { good: node(fixture('server-that-never-answers')), bad: { command: 'nodee' } };
    expect((await examine(servers, 'good')).servers.map(({ name }) => name)).toEqual(['good']);
    const { code, error } = await examine(servers, 'goood');
    expect([code, error?.message, error?.hint]).toEqual([
      2,
      'There is no server "goood" to examine',
      'Did you mean good?',
    ]);
  });

  it('tells of a file that cannot be read', async () => {
    const { code, error } = await work(
      (context) => runDoctor(undefined, { config: ['/no/such/file.json'], timeout: 1000 }, context),
      freePlace(),
    );
    expect(code).toBe(3);
    expect(error?.evidence.join()).toContain('/no/such/file.json');
  });
});

describe('isthmus doctor with a running gateway', () => {
  const alive = () => {
    const mark = join(freeFolder(), 'started');
    const program = `require("fs").writeFileSync(${JSON.stringify(mark)}, ""); process.stdin.resume()`;
    return { mark, server: node('-e', program) };
  };

  it('asks it, and never starts a second copy of what it runs', async () => {
    const place = freePlace();
    const { mark, server } = alive();
    await openFake(place, { status: { servers: { single: unit('single') } } });
    const { code, servers } = await examine({ single: server }, undefined, place);
    expect(code).toBe(0);
    expect(servers).toMatchObject([{ name: 'single', how: 'asked the gateway', where: 'gateway 4711' }]);
    expect(existsSync(mark)).toBe(false);
  });

  it('does not start what it has given up on either, but looks at what can be seen', async () => {
    const place = freePlace();
    const failed = unit('single', {
      state: 'failed',
      reason: 'single could not be started: command not found: nodee (ENOENT)',
    });
    await openFake(place, { status: { ready: false, servers: { single: failed } } });
    const { code, servers } = await examine({ single: { command: 'nodee' } }, undefined, place);
    expect(code).toBe(1);
    expect(servers[0]).toMatchObject({
      how: 'asked the gateway',
      problems: [{ code: 'command-not-found', advice: 'Did you mean node?' }, { advice: '' }],
    });
  });

  it('tries those that it does not run', async () => {
    const place = freePlace();
    await openFake(place, { status: { servers: { one: unit('one') } } });
    const { servers } = await examine({ two: { command: 'nodee' } }, undefined, place);
    expect(servers.map(({ name, health }) => [name, health])).toEqual([
      ['one', 'well'],
      ['two', 'ill'],
    ]);
  });

  it('needs no file, and reports a configuration that was rejected', async () => {
    const place = freePlace();
    await openFake(place, { status: { servers: { one: unit('one') }, configProblem: 'is not JSON' } });
    const { code, stdout } = await work((context) => runDoctor(undefined, { timeout: 1000 }, context), place);
    expect(code).toBe(1);
    expect(stdout).toBe(
      [
        'one is ok (gateway 4711)',
        '  era     legacy: It answered server/discover with -32601 "Method not found"',
        '  server  one 1.0.0',
        '',
        'The configuration of the gateway (pid 4711) was changed and rejected; the old one is in use: is not JSON',
        'The server is ok.',
        '',
      ].join('\n'),
    );
  });
});
