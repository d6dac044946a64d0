/** Failures: what failed, on what, what to do next, and a code that scripts can rely on. */
import { describe, expect, it } from 'vitest';
import { fixture, ISTHMUS, startChild } from '../../../test/support/child.js';
import { demo, isthmus, node, type Ran } from './support/isthmus.js';
import { freeSocket, startDemoAt } from './support/serve.js';

describe('an invalid command line ends with 2', () => {
  it.each<{ args: string[]; says: string }>([
    { args: ['probe'], says: 'No server given' },
    { args: ['probe', 'wss://example.com/mcp'], says: 'is not a supported kind of address' },
    {
      args: ['probe', '--header', 'A: 1', 'unix:/x'],
      says: '--header needs a URL, but the server is unix:/x',
    },
    {
      args: ['probe', '--header', 'A: 1', ...demo()],
      says: '--header needs a URL, but the server is a command',
    },
    { args: ['probe', '--header', 'no name', 'http://127.0.0.1:1/'], says: 'A --header has no name' },
    { args: ['probe', '--env', 'A=1', 'http://127.0.0.1:1/'], says: '--env needs a command' },
    { args: ['probe', 'node', 'server.js'], says: 'isthmus probe -- node server.js' },
    {
      args: ['probe', 'unix:/x', 'surplus'],
      says: 'Unexpected argument "surplus": probe takes only a target',
    },
    { args: ['probe', '--timeout', 'soon', 'unix:/x'], says: 'number of milliseconds' },
    {
      args: ['probe', '--era', 'bronze', 'unix:/x'],
      says: "argument 'bronze' is invalid. It must be auto, modern, legacy or a revision such as 2025-11-25.",
    },
    { args: ['probe', '--cwd', '/', 'unix:/x'], says: '--cwd needs a command' },
    { args: ['probe', '--frobnicate', 'unix:/x'], says: '--frobnicate' },
    { args: ['probe', '--env', 'NOT_SET_AT_ALL', ...demo()], says: 'NOT_SET_AT_ALL is not set here' },
    { args: ['help', 'birds'], says: "isthmus: unknown command 'birds'" },
    { args: ['daemon', 'birds'], says: "isthmus: unknown command 'birds'" },
    {
      args: ['install', 'x', '--in', 'cursor', '--url', 'birds'],
      says: '"birds" is not an http:// or https:// URL',
    },
    { args: ['list', 'unix:/x', 'birds'], says: 'Write tools, resources, prompts or templates' },
    { args: ['read', ...demo()], says: 'No URI given' },
    { args: ['call', ...demo()], says: 'No tool given' },
    { args: ['call', 'unix:/x', 'text=hi'], says: '"text=hi" is not the name of a tool' },
    { args: ['call', 'unix:/x', 'echo', 'hi'], says: '"hi" is not an argument: it has no =' },
    {
      args: ['call', 'echo', 'txt=hi', ...demo()],
      says: 'echo needs text (string); it has no argument "txt"',
    },
    {
      args: ['list', 'npx', '-y', 'server'],
      says: 'hint: To start a server, put its command after --: isthmus list -- npx -y server',
    },
    { args: ['call', 'unix:/x', 'echo', '--args', '[1]'], says: 'must be a JSON object' },
    { args: ['call', 'unix:/x', 'echo', 'a=1', '--args', '{}'], says: 'not both' },
    { args: ['call', 'echo', '--root', '/no/such/folder', ...demo()], says: 'no such folder' },
    {
      args: ['inspect', '--no-open', '--record', '/no/such/a.mcptrace', ...demo()],
      says: 'Cannot write --record /no/such/a.mcptrace: there is no such folder',
    },
    { args: ['call', 'echo', 'text=x', '--'], says: 'No command after --' },
    { args: ['call', 'ehco', 'text=x', ...demo()], says: 'Did you mean echo?' },
    { args: ['call', 'add', 'a=1', ...demo()], says: 'add needs b (number)' },
    { args: ['call', 'add', 'a=one', 'b=2', ...demo()], says: 'must be a number, got "one"' },
  ])('$args', async ({ args, says }) => {
    const ran = await isthmus(...args);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain(says);
    expect(ran.stderr).toContain('--help');
    isForPeople(ran);
  });

  it('a missing argument is shown beside all that the tool takes', async () => {
    const { stderr } = await isthmus('call', 'add', 'a=1', ...demo());
    expect(stderr).toBe(
      [
        'isthmus: add needs b (number)',
        '  arguments of add:',
        '    a  number  required  The first number',
        '    b  number  required  The second number',
        'hint: Write key=value, key:=JSON, or all of them at once with --args JSON',
        '(isthmus call --help explains the options)',
        '',
      ].join('\n'),
    );
  });
});

describe('a server that cannot be reached ends with 3', () => {
  it.each<{ what: string; args: string[]; says: string }>([
    { what: 'a socket that is not there', args: ['unix:/no/such.sock'], says: 'there is no such socket' },
    {
      what: 'a port that is closed',
      args: ['tcp://127.0.0.1:1'],
      says: 'isthmus demo --listen tcp://127.0.0.1:1',
    },
    { what: 'a command that is not there', args: ['--', 'no-such-command'], says: 'command not found' },
    { what: 'a folder that is not there', args: ['--cwd', '/no/such', ...demo()], says: '--cwd' },
    {
      what: 'a program that says nothing',
      args: ['--timeout', '300', ...node('-e', 'setTimeout(() => {}, 20000)')],
      says: '--timeout',
    },
    {
      what: 'a version of the future',
      args: node(fixture('server-rejects-versions.mjs'), '2030-01-01'),
      says: '2030-01-01',
    },
  ])('$what', async ({ args, says }) => {
    const ran = await isthmus('probe', ...args);
    expect(ran).toMatchObject({ code: 3, stdout: '' });
    expect(ran.stderr).toContain(says);
    expect(ran.stderr).toMatch(/^isthmus: Cannot .*\nhint: /m);
    isForPeople(ran);
  });

  it('the last stderr lines of a command that died are shown', async () => {
    const program =
      'console.error("reading config"); console.error("fatal: no API key"); process.exitCode = 3;';
    const ran = await isthmus('list', ...node('-e', program));
    expect(ran.code).toBe(3);
    expect(ran.stderr).toContain('stopped with code 3');
    expect(ran.stderr).toContain(
      '  stderr of the server:\n  | reading config\n  | fatal: no API key\nhint: ',
    );
  });

  it('Ctrl-C while connecting ends with 130 and leaves no process behind', async () => {
    const program = 'console.error("pid " + process.pid); setInterval(() => {}, 1000);';
    const child = startChild(ISTHMUS, { args: ['probe', '--stderr', ...node('-e', program)] });
    child.end();
    await child.until('start', () => /pid \d+\n/.test(child.stderr));
    child.kill('SIGINT');
    expect(await child.exit()).toEqual({ code: 130, signal: null });
    expect(child.stderr).toContain('isthmus: Interrupted\n');
    const pids = [...child.stderr.matchAll(/pid (\d+)/g)].map(([, pid]) => Number(pid));
    expect(pids).toHaveLength(1);
    expect(() => process.kill(pids[0]!, 0)).toThrow('ESRCH');
  });
});

describe('a server that does not do what was asked ends with 4', () => {
  it.each<{ what: string; args: string[]; says: string }>([
    {
      what: 'a refusal',
      args: ['no_such', '--args', '{}', ...demo()],
      says: '(-32602)\nhint: isthmus list -- ',
    },
    {
      what: 'a capability that the command line does not have',
      args: ['test_sampling', ...demo()],
      says: 'The server needs the client capability sampling',
    },
    { what: 'a crash', args: ['crash', ...demo()], says: 'stopped with code 1' },
    {
      what: 'a crash with last words',
      args: ['die', ...node(fixture('server-dies-mid-call.mjs'))],
      says: 'fatal: out of luck',
    },
    { what: 'nonsense', args: ['odd', ...node(fixture('server-unknown-result-type.mjs'))], says: 'hologram' },
  ])('$what', async ({ args, says }) => {
    const ran = await isthmus('call', ...args);
    expect(ran).toMatchObject({ code: 4, stdout: '' });
    expect(ran.stderr).toContain(says);
    expect(ran.stderr).toContain('hint: ');
    isForPeople(ran);
  });
});

it('no answer in time ends with 4', async () => {
  // It runs already: the time for the answer is that for the connection, too.
  const far = await startDemoAt(freeSocket());
  const ran = await isthmus('call', far, 'sleep', 'ms=20000', '-t', '1500');
  expect(ran).toMatchObject({ code: 4, stdout: '' });
  expect(ran.stderr).toContain('not answered within 1500 ms');
  expect(ran.stderr).toContain('hint: ');
  isForPeople(ran);
});

describe('--help', () => {
  it.each(['probe', 'list', 'call', 'read'])(
    'of %s explains targets, examples and exit codes',
    async (name) => {
      const { code, stdout, stderr } = await isthmus(name, '--help');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      for (const text of [
        `isthmus ${name}`,
        '-- COMMAND ARGS…',
        'unix:PATH',
        'Examples:',
        'Exit codes:',
        '--era',
        '--json',
      ]) {
        expect(stdout).toContain(text);
      }
      expect(stdout).not.toContain('words');
    },
  );
});

/** One line and a hint: no stack of ours, no colours into a pipe. */
function isForPeople({ stderr }: Ran): void {
  expect(stderr).not.toMatch(/dist\/|node:internal/);
  expect(stderr).not.toContain('\u001b');
}
