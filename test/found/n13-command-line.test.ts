import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { demo, freeFolder, isthmus } from '../../packages/cli/test/support/isthmus.js';
import { fixture, ISTHMUS, startChild } from '../support/child.js';
import { eventually } from '../support/until.js';

/** Runs the program with these variables. */
async function run(args: readonly string[], env: Record<string, string> = {}) {
  const lines: string[] = [];
  const all = { ...(process.env as Record<string, string>), ...env };
  const child = startChild(ISTHMUS, { args, env: all, onLine: (line) => lines.push(line) });
  child.end();
  const { code } = await child.exit();
  return { code, stdout: lines.join('\n'), stderr: child.stderr };
}

it('N13: isthmus daemon without a command prints its help, and starts nothing', async () => {
  const { code, stdout } = await run(['daemon'], { ISTHMUS_RUNTIME_DIR: freeFolder() });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Usage: isthmus daemon status/);
});

describe('N13: a command without -- gets the line to type', () => {
  it.each([
    [['probe', 'node server.js'], 'isthmus probe -- node server.js'],
    [['list', 'node', 'server.js'], 'isthmus list -- node server.js'],
    [['call', 'node', 'server.js'], 'isthmus call TOOL -- node server.js'],
    [['list', 'node server.js'], 'isthmus list -- node server.js'],
  ])('N13: %j', async (args, line) => {
    const { code, stderr } = await isthmus(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(`hint: To start a server, put its command after --: ${line}\n`);
  });
});

it('N13: demo --help has one default for --listen', async () => {
  const { stdout } = await isthmus('demo', '--help');
  expect(stdout.match(/\(default:/g)).toEqual(['(default:']);
});

describe('N13: call warns of arguments that the schema of the tool does not have', () => {
  it('N13: with the name that was probably meant', async () => {
    const { code, stdout, stderr } = await isthmus('call', 'echo', 'text=hi', 'txt=hi', ...demo());
    expect([code, stdout]).toEqual([0, 'hi\n']);
    expect(stderr).toBe('isthmus: warning: echo has no argument "txt" in its schema; did you mean text?\n');
  });

  it('N13: with all names where none is similar', async () => {
    const { stderr } = await isthmus('call', 'echo', 'text=hi', 'colour=red', ...demo());
    expect(stderr).toBe('isthmus: warning: echo has no argument "colour" in its schema; it has text\n');
  });
});

it('N13: read of an unknown URI hints at resources', async () => {
  const { code, stderr } = await isthmus('read', 'foo://x', ...demo());
  expect(code).toBe(4);
  expect(stderr).toContain('hint: isthmus list resources -- ');
  expect(stderr).not.toContain('tools');
});

it.each(['http://no-such-host.invalid/mcp', 'tcp://no-such-host.invalid:4000'])(
  'N13: an unknown host is named as such: %s',
  async (address) => {
    const { code, stderr } = await isthmus('probe', address);
    expect(code).toBe(3);
    // A machine without a resolver answers EAI_AGAIN: it cannot know.
    if (stderr.includes('EAI_AGAIN')) return;
    expect(stderr).toContain('the host name does not exist (ENOTFOUND)\n');
    expect(stderr).toContain(
      'hint: The name of the host does not exist: check its spelling, and the network\n',
    );
  },
);

/** A gateway with the servers of a file, and its commands. */
async function gateway(servers: Record<string, unknown>) {
  const folder = freeFolder();
  const env = { ISTHMUS_RUNTIME_DIR: join(folder, 'run') };
  const file = join(folder, 'mcp.json');
  writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  const all = { ...(process.env as Record<string, string>), ...env };
  const child = startChild(ISTHMUS, {
    args: ['serve', '--config', file, '--port', '0', '--json', '-q'],
    env: all,
  });
  await child.first(1);
  return (...args: string[]) => run(args, env);
}

it('N13: status counts each start after the first as a restart', async () => {
  const command = process.execPath;
  const ask = await gateway({ bad: { command, args: ['-e', 'process.exit(3)'], start: 'eager' } });
  await eventually(async () => {
    const { stdout } = await ask('status', 'bad', '--json');
    const { processes } = JSON.parse(stdout) as {
      processes: { restarts: number; processes: { generation: number }[] };
    };
    const [{ generation }] = processes.processes as [{ generation: number }];
    expect(generation).toBeGreaterThan(1);
    expect(processes.restarts).toBe(generation - 1);
  });
});

it('N13: doctor names a server that prints banners on stdout, when a gateway runs it', async () => {
  const args = [fixture('server-with-banners.mjs')];
  const ask = await gateway({ loud: { command: process.execPath, args, start: 'eager' } });
  await eventually(async () => {
    const { stdout } = await ask('doctor');
    expect(stdout).toMatch(/warning +The server wrote \d+ lines that are not messages to stdout/);
  });
});

describe('N13: variables of --header are expanded by every command', () => {
  /** A URL that answers 418, and the Authorization that it was sent. */
  async function listener() {
    const seen: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(418).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` };
  }

  it.each(['probe', 'list', 'call', 'read', 'check', 'bench'])('N13: %s', async (command) => {
    const { seen, url } = await listener();
    const more = { call: ['x'], read: ['x:y'] }[command] ?? [];
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is typed
    const header = 'Authorization: Bearer ${N13_TOKEN}';
    await run([command, url, ...more, '-H', header, '-t', '2000'], { N13_TOKEN: 's3cret' });
    expect(new Set(seen)).toEqual(new Set(['Bearer s3cret']));
  });

  it('N13: a variable that is not set is an error', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is typed
    const { code, stderr } = await isthmus('list', 'http://127.0.0.1:1/mcp', '-H', 'A: ${N13_NOT_SET}');
    expect(code).toBe(2);
    expect(stderr).toContain('A --header needs the variable N13_NOT_SET, which is not set');
  });
});

it('N14: --socket takes a folder', async () => {
  const folder = freeFolder();
  const all = { ...(process.env as Record<string, string>), ISTHMUS_RUNTIME_DIR: join(folder, 'run') };
  const args = ['serve', '--port', '0', '--json', '-q', '--', process.execPath, ISTHMUS, 'demo'];
  await startChild(ISTHMUS, { args, env: all }).first(1);
  expect(await run(['status', '--socket', join(folder, 'run')])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Everything is ok: 1 ready.'),
  });
  const empty = freeFolder();
  expect(await run(['status', '--socket', empty])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(`No running gateway found in ${empty}\n`),
  });
});
