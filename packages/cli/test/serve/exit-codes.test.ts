/** What can be wrong with `isthmus serve`, and what it says then. */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ISTHMUS, startChild } from '../../../../test/support/child.js';
import { initialize, request } from '../../../../test/support/messages.js';
import { demo, freeFolder, isthmus, node } from '../support/isthmus.js';
import { freeSocket, HTTP, speaksBothEras, startDemoAt, startServe } from '../support/serve.js';

describe('an invalid command line ends with 2', () => {
  it.each<{ args: string[]; says: string }>([
    { args: ['--bogus'], says: "unknown option '--bogus'" },
    { args: ['--listen'], says: "'-l, --listen <address>' argument missing" },
    {
      args: ['--listen', 'ftp://127.0.0.1/'],
      says: 'Cannot listen on "ftp://127.0.0.1/": write stdio, unix:',
    },
    { args: ['--listen', 'stdio', '--listen', 'stdio'], says: 'stdio is served already' },
    { args: ['--'], says: 'hint: isthmus serve … -- node server.js' },
    { args: ['npx', '-y', 'x', '-q'], says: 'hint: A command goes after --: isthmus serve -- npx -y x -q' },
    {
      args: ['http://127.0.0.1:1/', 'unix:/x'],
      says: 'serve takes no arguments of its own: "unix:/x"',
    },
    { args: ['--upstream', 'example.com'], says: '"example.com" is not a server address' },
    {
      args: ['--upstream', 'unix:/x', '--', 'node', 'x'],
      says: 'Two targets: unix:/x, and the command after --',
    },
    { args: ['--era', 'bronze'], says: 'It must be auto, modern, legacy or a revision' },
    { args: ['--processes', 'many'], says: 'Allowed choices are shared, per-conversation.' },
    { args: ['--timeout', 'soon'], says: 'a number of milliseconds' },
    { args: ['--header', 'A: 1', ...demo()], says: '--header needs a URL, but the server is a command' },
    {
      args: ['--env', 'A=1', '--upstream', 'unix:/x'],
      says: '--env needs a command, but unix:/x is an address',
    },
    { args: ['--env', 'NOT_SET_AT_ALL', ...demo()], says: 'NOT_SET_AT_ALL is not set here' },
    { args: ['--cwd', '/', '--upstream', 'unix:/x'], says: '--cwd needs a command' },
    {
      args: ['--workers', '2', '--listen', 'stdio', '--listen', 'http://127.0.0.1:0/mcp', ...demo()],
      says: '--workers serves HTTP addresses only, and there is stdio',
    },
    {
      args: [...HTTP, '--audit-log', '/no/such/audit.log', ...demo()],
      says: 'The audit log /no/such/audit.log cannot be opened: there is no such folder',
    },
  ])('$args', async ({ args, says }) => {
    const ran = await isthmus('serve', ...args);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain(says);
    expect(ran.stderr).not.toMatch(/^ {4}at /m);
  });
});

describe('a server that can never be used ends with 3', () => {
  it.each<{ what: string; args: string[]; says: string; hint: string }>([
    {
      what: 'the command is not there',
      args: ['--', './does-not-exist'],
      says: 'Cannot connect: does-not-exist could not be started: command not found: ./does-not-exist (ENOENT)',
      hint: 'Check the spelling, or give the full path; --cwd sets the folder that the command runs in',
    },
    {
      what: 'its folder is not there',
      args: ['--cwd', '/no/such/folder', ...demo()],
      says: 'could not be started: working directory not found: /no/such/folder (ENOENT)',
      hint: 'Check the folder of --cwd',
    },
    {
      what: 'it does not speak the era that is insisted on',
      args: ['--era', 'modern', ...demo('--era', 'legacy')],
      says: 'so it is a legacy server',
      hint: '--era auto detects it',
    },
  ])('where $what, with one line and one hint', async ({ args, says, hint }) => {
    const { code, stdout, stderr } = await isthmus('serve', ...HTTP, ...args);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr.split('\n')).toEqual([expect.stringMatching(/^isthmus: Cannot /), `hint: ${hint}`, '']);
    expect(stderr.split('\n')[0]!.endsWith(says)).toBe(true);
  });
});

describe('a server that may yet come', () => {
  it('is waited for: down at the start, up later', async () => {
    const socket = freeSocket();
    const { child, url } = await startServe(...HTTP, '--upstream', socket);
    await child.until('failure', () => child.stderr.includes('it is tried again with the next request'));
    expect(child.stderr).toContain(`isthmus: Cannot connect to ${socket}: there is no such socket; `);
    const refused = await isthmus('list', url);
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refused.stderr).toContain(`Cannot connect to ${socket}: there is no such socket`);
    await startDemoAt(socket);
    await speaksBothEras(url);
    await child.until('far side', () => child.stderr.includes('Behind it:'));
  });

  it('is started again, and says why it ended: to whoever runs it, and to clients of the same machine', async () => {
    const program = `${freeFolder()}/server.mjs`;
    writeFileSync(program, 'console.error("fatal: no API key"); process.exitCode = 7;');
    const socket = freeSocket();
    const child = startChild(ISTHMUS, { args: ['serve', '--listen', socket, ...node(program)] });
    await child.until('hint', () => child.stderr.includes('hint: '));
    expect(child.stderr).toMatch(/^fatal: no API key$/m);
    expect(child.stderr).toMatch(
      /^isthmus: Cannot connect: .* stopped with code 7 after \d+ ms; last stderr: "fatal: no API key"; it is/m,
    );
    expect(child.stderr).toContain('hint: Run the command directly to see what it needs');
    expect(child.stderr).not.toContain('Isthmus serves');
    const refused = await isthmus('list', socket);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toMatch(
      /stopped with code 7 after \d+ ms; (it is tried again in \d+ s; )?last stderr: fatal: no API key/,
    );
  });
});

describe('a host that has launched it', () => {
  it.each([
    ['legacy', initialize(1)],
    ['modern', request(1, 'server/discover')],
  ])('is told what is wrong, as an error that it can show (%s)', async (_era, opening) => {
    const args = ['serve', '--listen', 'stdio', '--upstream', freeSocket()];
    const child = startChild(ISTHMUS, { args });
    child.send(opening);
    expect(await child.answer(1)).toMatchObject({
      error: {
        code: -32603,
        message: expect.stringMatching(/^Cannot connect to unix:\S+: there is no such socket$/),
        data: { reason: 'ADDRESS_UNAVAILABLE', sent: 'no' },
      },
    });
    child.end();
    expect(await child.exit()).toEqual({ code: 3, signal: null });
    expect(child.impure).toEqual([]);
    expect(child.stderr).toMatch(/^isthmus: Cannot connect to unix:\S+: there is no such socket/);
  });

  it('may speak before the command has started', async () => {
    const args = ['serve', '--listen', 'stdio', ...node(ISTHMUS, 'demo')];
    const child = startChild(ISTHMUS, { args });
    child.end(`${JSON.stringify(initialize(1))}\n`);
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    expect(child.messages).toMatchObject([{ id: 1, result: { serverInfo: { name: 'isthmus-demo' } } }]);
  });
});

describe('--help teaches', () => {
  it('the forms, every option and what to paste', async () => {
    const { code, stdout, stderr } = await isthmus('serve', '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const words of [
      'isthmus serve [options] -- COMMAND ARGS…',
      'isthmus serve [options] --upstream URL|unix:PATH|tcp://HOST:PORT',
      'isthmus serve -- npx -y @modelcontextprotocol/server-everything',
      'isthmus serve --listen stdio --upstream https://example.com/mcp',
      ...['-l, --listen', '-u, --upstream', '--era', '--processes', '--stateless-server'],
      ...['-t, --timeout', '--cwd', '--env', '-H, --header', '--json', '-q, --quiet', 'Exit codes:'],
    ]) {
      expect(stdout).toContain(words);
    }
    expect(await isthmus('help', 'serve')).toMatchObject({ code: 0, stdout });
    expect((await isthmus('--help')).stdout).toMatch(/^ {2}serve +\S/m);
  });
});
