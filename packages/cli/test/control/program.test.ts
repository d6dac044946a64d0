/** The program itself, and a real gateway. */
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { controlClient } from '@isthmus/gateway/internal/control/index.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fixture, ISTHMUS, startChild } from '../../../../test/support/child.js';
import { freeFolder, isthmus } from '../support/isthmus.js';

/** Gateways of this test are looked for where nobody else's are. */
function freeHome(): string {
  const home = freeFolder();
  for (const name of ['HOME', 'TMPDIR', 'XDG_RUNTIME_DIR', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME']) {
    vi.stubEnv(name, home);
  }
  onTestFinished(() => void vi.unstubAllEnvs());
  return home;
}

describe('without a running gateway', () => {
  it('every command says what to do next, and ends with 3', async () => {
    freeHome();
    const all = [['status'], ['restart', 'a'], ['stop', 'a'], ['start', 'a'], ['logs'], ['doctor']];
    for (const { code, stdout, stderr } of await Promise.all(all.map((args) => isthmus(...args)))) {
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect(stderr).toMatch(
        /no (running gateway found for this user|gateway of this user is running)\n(.*\n)*hint: isthmus (serve|doctor) --config FILE/i,
      );
    }
  });

  it('an invalid command line ends with 2', async () => {
    const cases: [string[], string][] = [
      [['restart'], "isthmus: missing required argument 'name'"],
      [['stop'], 'hint: isthmus status shows the names of the servers: isthmus stop NAME'],
      [['--port', '8000'], 'hint: A command comes first, and its options follow: isthmus serve --port 9000'],
      [['inspect', '--cli', 'node', 'a.js'], 'In a terminal, use isthmus list, call, read and prompt'],
      [
        ['call', 'unix:/x', 'echo', '--text', 'hi'],
        'Arguments of the tool or prompt have no dashes: key=value',
      ],
      [['daemon', 'stats'], "isthmus: unknown command 'stats'\n(Did you mean status?)"],
      [['config', 'import', '--from', 'x'], '(isthmus config import --help explains the options)'],
      [['list', '--era', '2025-13-01', 'unix:/x'], 'Known revisions: 2024-11-05 (session), '],
      [['status', '--pid', 'x'], 'It must be a process id.'],
      [['logs', '-n', '-1'], 'It must be a number of lines, 0 or more.'],
    ];
    await Promise.all(
      cases.map(async ([args, says]) => {
        const { code, stderr } = await isthmus(...args);
        expect(code, args.join(' ')).toBe(2);
        expect(stderr).toContain(says);
      }),
    );
  });
});

describe('with a running gateway', () => {
  it('everything is done through its private socket', async () => {
    const home = freeHome();
    const file = join(home, 'mcp.json');
    const well = { command: process.execPath, args: [fixture('server-that-never-answers.mjs')] };
    const broken = { command: './no-such-server' };
    writeFileSync(file, JSON.stringify({ mcpServers: { well, broken } }));
    const gateway = startChild(ISTHMUS, { args: ['serve', '--config', file, '--port', '0', '--json', '-q'] });
    await gateway.until('addresses', () => gateway.messages.length > 0);

    const folder = join(home, 'isthmus');
    const socket = join(folder, `gateway-${gateway.pid}.sock`);
    expect((statSync(folder).mode & 0o777).toString(8)).toBe('700');
    expect((statSync(socket).mode & 0o777).toString(8)).toBe('600');
    const client = controlClient(socket);
    const stateOf = async (name: string) => (await client.status()).servers[name]?.state;
    await vi.waitFor(async () => expect(await stateOf('well')).toBe('ready'), 10_000);

    const restarted = await isthmus('restart', 'well', '--socket', socket);
    expect(restarted.stdout).toMatch(/^well was restarted: ready, modern, pid \d+, generation 2\n$/);
    const [status, doctor, logs] = await Promise.all([
      isthmus('status', '--json'),
      isthmus('doctor', '--config', file),
      isthmus('logs', 'well', '--pid', String(gateway.pid)),
    ]);
    expect(JSON.parse(status.stdout)).toMatchObject({
      pid: gateway.pid,
      servers: { well: { state: 'ready', era: 'modern' }, broken: { state: 'failed' } },
    });
    expect(doctor.stdout).toContain(`well is ok (gateway ${gateway.pid})`);
    expect(doctor.stdout).toContain('1 of 2 unusable: broken.');
    expect([status.code, doctor.code, logs.code]).toEqual([1, 1, 0]);
    expect(logs.stdout).toContain(' -- process 2 is being started\n');
    const stopped = await isthmus('stop', 'well');
    expect(stopped.stdout).toBe('well was stopped; isthmus start well starts it again\n');
    expect(await stateOf('well')).toBe('off');
  }, 30_000);
});
