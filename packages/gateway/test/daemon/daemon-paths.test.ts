import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { daemonPaths, openPaths } from '../../src/daemon/daemon-paths.js';

const around = { host: 'here', uid: 1000 } as const;

test('the folder depends on the home alone, since hosts pass on few variables', () => {
  const env = { XDG_RUNTIME_DIR: '/run/user/1000', XDG_STATE_HOME: '/state', TMPDIR: '/elsewhere' };
  const linux = daemonPaths({ ...around, env, platform: 'linux', home: () => '/home/ada' });
  expect(linux).toEqual({
    folder: '/home/ada/.local/state/isthmus/daemon',
    socket: `/home/ada/.local/state/isthmus/daemon/${linux.tag}.sock`,
    log: `/home/ada/.local/state/isthmus/daemon/${linux.tag}.log`,
    tag: expect.stringMatching(/^daemon-2-[0-9a-f]{8}$/),
  });
  const mac = daemonPaths({ ...around, env: {}, platform: 'darwin', home: () => '/Users/ada' });
  expect(mac.folder).toBe('/Users/ada/Library/Application Support/isthmus/daemon');
});

test('machines that share a home do not share a daemon', () => {
  const home = () => '/home/ada';
  const one = daemonPaths({ env: {}, home, host: 'one' });
  expect(daemonPaths({ env: {}, home, host: 'two' }).socket).not.toBe(one.socket);
});

test('ISTHMUS_RUNTIME_DIR names another folder, and must be absolute', () => {
  const env = { ISTHMUS_RUNTIME_DIR: '/srv/mcp' };
  expect(daemonPaths({ ...around, env, platform: 'linux' }).folder).toBe('/srv/mcp');
  expect(() => daemonPaths({ env: { ISTHMUS_RUNTIME_DIR: 'mcp' }, platform: 'linux' })).toThrow(
    'ISTHMUS_RUNTIME_DIR must be an absolute path; it is mcp',
  );
});

test('a path that is too long for a socket leads to a folder of the user below /tmp', () => {
  const env = { ISTHMUS_RUNTIME_DIR: `/${'x'.repeat(120)}` };
  const { folder, socket } = daemonPaths({ ...around, env, platform: 'linux' });
  expect(folder).toBe(env.ISTHMUS_RUNTIME_DIR);
  expect(socket).toMatch(/^\/tmp\/isthmus-1000-[0-9a-f]{8}\/daemon-2-[0-9a-f]{8}\.sock$/);
});

test('the folder is made for its owner alone, and refused when others may write to it', () => {
  const parent = mkdtempSync(join(tmpdir(), 'isthmus-places-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const places = daemonPaths({ env: { ISTHMUS_RUNTIME_DIR: join(parent, 'run') } });
  openPaths(places);
  expect((statSync(places.folder).mode & 0o777).toString(8)).toBe('700');
  chmodSync(places.folder, 0o777);
  expect(() => openPaths(places)).toThrow(/can be written to by others.*set ISTHMUS_RUNTIME_DIR to another/);
});
