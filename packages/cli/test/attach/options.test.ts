import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharingKey } from '@isthmus/gateway/internal/daemon/attached-servers.js';
import { daemonPaths } from '@isthmus/gateway/internal/daemon/daemon-paths.js';
import { describe, expect, test, vi } from 'vitest';
import { ISTHMUS } from '../../../../test/support/child.js';
import { initialize, legacyCall, textOf } from '../../../../test/support/messages.js';
import {
  command,
  daemonPids,
  gone,
  serverPids,
  shim,
  useDaemonHome,
} from '../../../gateway/test/support/daemon-home.js';
import { applyOptions, countedEnvironment } from '../../src/attach/attach-options.js';
import { configFiles, findServer } from '../../src/attach/find-server.js';
import { expandHeader } from '../../src/target.js';
import { freeFolder, isthmus } from '../support/isthmus.js';

const OPTIONS = { grace: 30_000 };

describe('the server that is meant', () => {
  test.each([
    [['weather', 'sunny'], undefined, {}],
    [['weather'], ['node', 'x.js'], {}],
    [['weather'], undefined, { url: 'https://example.com/mcp' }],
    [['https://example.com/mcp'], ['node'], {}],
  ])('is one: %j, %j, %j', async (words, behind, options) => {
    await expect(findServer(words, behind, options)).rejects.toThrow(
      'attach takes one server: NAME, --url URL, or -- COMMAND ARGS…',
    );
  });

  test('is called by its name in the file, its program, or its URL without the query', async () => {
    const folder = freeFolder();
    const file = join(folder, 'mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { weather: { command: 'npx', args: ['-y', 'w'] } } }));
    const names = await Promise.all([
      findServer(['weather'], undefined, { config: [file] }),
      findServer([], ['npx', '-y', '@example/weather', '--key', 's3cret'], {}),
      findServer([], undefined, { url: 'https://example.com/mcp?key=s3cret' }),
      findServer(['https://example.com/mcp'], undefined, {}),
    ]);
    expect(names.map(({ server }) => server.name)).toEqual([
      'weather',
      'weather',
      'https://example.com/mcp',
      'https://example.com/mcp',
    ]);
  });

  test('has what the command line adds, and a file and a command line may mean the same', async () => {
    const folder = freeFolder();
    const file = join(folder, 'mcp.json');
    const entry = { command: 'npx', args: ['-y', 'w'], env: { A: '1' }, timeoutMs: 5000 };
    writeFileSync(file, JSON.stringify({ mcpServers: { weather: { ...entry, disabled: true } } }));
    const { server: ofFile, warnings } = await findServer(['weather'], undefined, { config: [file] });
    expect(warnings).toEqual([expect.stringContaining('weather is disabled there')]);
    const { server: ofWords } = await findServer([], ['npx', '-y', 'w'], { cwd: folder });
    const one = applyOptions(ofFile, { ...OPTIONS, era: 'legacy' });
    const other = applyOptions(ofWords, { ...OPTIONS, era: 'legacy', env: { A: '1' }, timeout: 5000 });
    expect(sharingKey(other)).toBe(sharingKey(one));
    expect(one.server).toMatchObject({
      ...{ mode: 'legacy', timeoutMs: 5000, start: 'lazy', processes: 'shared', cwd: folder },
    });
    expect(one.server.disabled).toBeUndefined();
  });

  test('takes only the options that make sense for it', async () => {
    const { server: remote } = await findServer([], undefined, { url: 'https://example.com/mcp' });
    const { server: local } = await findServer([], ['node', 'x.js'], {});
    expect(() => applyOptions(remote, { ...OPTIONS, env: { A: '1' } })).toThrow(
      '--env is only for commands; this server is a URL',
    );
    expect(() => applyOptions(local, { ...OPTIONS, header: ['A: b'] })).toThrow(
      '--header needs a URL, but the server is a command',
    );
    const quiet = applyOptions(local, { ...OPTIONS, ...{ hideStderr: true } });
    expect(quiet.server.logStderr).toBe(false);
    const { server } = applyOptions(remote, { ...OPTIONS, header: ['X-Key: a'], transport: 'http-only' });
    expect(server).toMatchObject({ headers: { 'x-key': 'a' }, transport: 'http-only' });
  });

  test('is looked for in the files that are named, else in the user’s own', () => {
    const look = { platform: 'linux', home: '/home/ada', exists: () => true } as const;
    expect(configFiles(['a.json'], { ...look, env: { ISTHMUS_CONFIG: '/b' } })).toEqual(['a.json']);
    expect(configFiles(undefined, { ...look, env: { ISTHMUS_CONFIG: '/b:/c' } })).toEqual(['/b', '/c']);
    expect(configFiles(undefined, { ...look, env: {} })).toEqual(['/home/ada/.config/isthmus/mcp.json']);
    expect(() => configFiles(undefined, { ...look, env: {}, exists: () => false })).toThrow(
      'No configuration file found',
    );
  });
});

describe('the environment of a server', () => {
  const ours = { PATH: '/bin', HOME: '/home/ada', TERM: 'xterm', LANG: 'C', TOKEN: 's3cret' };

  test('is small, and of what is inherited only the way to programs and home counts', () => {
    const environment = countedEnvironment(
      { env: { A: '1', LANG: 'de' }, inheritEnv: undefined },
      ours,
      'linux',
    );
    expect(environment).toEqual({
      counted: { PATH: '/bin', HOME: '/home/ada', A: '1', LANG: 'de' },
      ambient: { TERM: 'xterm' },
    });
  });

  test('counts as a whole when it was chosen explicitly', () => {
    expect(countedEnvironment({ env: {}, inheritEnv: 'all' }, ours, 'linux')).toEqual({
      counted: ours,
      ambient: {},
    });
    expect(countedEnvironment({ env: {}, inheritEnv: ['TERM'] }, ours, 'linux')).toEqual({
      counted: { TERM: 'xterm' },
      ambient: {},
    });
  });

  test('is where headers take their secrets from', () => {
    const [open, close] = ['${', '}'];
    const header = `Authorization: Bearer ${open}TOKEN${close}${open}env:TERM${close}`;
    expect(expandHeader(header, ours)).toBe('Authorization: Bearer s3cretxterm');
    expect(() => expandHeader(`A: ${open}NONE${close}`, ours)).toThrow(
      'A --header needs the variable NONE, which is not set',
    );
  });
});

describe('isthmus daemon', () => {
  const home = useDaemonHome();

  test('shows its servers to its user alone, and ends on request', async () => {
    expect(await isthmus('daemon', 'status')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('No daemon is running'),
    });
    const child = shim(home, ...command(home, ISTHMUS, 'demo'));
    child.send(
      initialize(1),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      legacyCall(2, 'echo', { text: 'hi' }),
    );
    expect(textOf(await child.answer(2))).toBe('hi');
    const { socket } = daemonPaths();
    expect([home.run, socket].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual([
      '700',
      '600',
    ]);
    const [daemon, server] = [daemonPids(home)[0]!, serverPids(home)[0]!];
    const { stdout } = await isthmus('daemon', 'status');
    expect(stdout).toContain(`process ${daemon}`);
    expect(stdout).toContain(`isthmus demo  ready, modern, 1 host, process ${server}`);
    // The commands for gateways work with it.
    expect(await isthmus('restart', 'isthmus demo', '--socket', socket)).toMatchObject({ code: 0 });
    await gone(server);
    expect(await isthmus('daemon', 'stop')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'The daemon is stopping.\n',
    });
    await gone(daemon);
    await vi.waitFor(() => expect(serverPids(home)).toEqual([]), { timeout: 5000 });
  });
});
