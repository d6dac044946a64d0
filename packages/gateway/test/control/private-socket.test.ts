import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { controlClient, controlFolders, controlPath, openControl } from '../../src/control/index.js';
import { folderProblem, listenPrivately, socketProblem } from '../../src/control/private-socket.js';
import { fakeGateway, later, scratch } from '../support/control.js';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('where control sockets are', () => {
  const home = () => '/home/ada';

  it('is the runtime folder of the user, then the state folder, then one in the temporary folder', () => {
    const env = { XDG_RUNTIME_DIR: '/run/user/1000' };
    expect(controlFolders({ platform: 'linux', env, home, tmp: '/tmp', uid: 1000 })).toEqual([
      '/run/user/1000/isthmus',
      '/home/ada/.local/state/isthmus/run',
      '/tmp/isthmus-1000',
    ]);
  });

  it('ignores a runtime folder that is relative or not set', () => {
    const env = { XDG_RUNTIME_DIR: 'run', XDG_STATE_HOME: '/state' };
    expect(controlFolders({ platform: 'linux', env, home, tmp: '/tmp', uid: 0 })).toEqual([
      '/state/isthmus/run',
      '/home/ada/.local/state/isthmus/run',
      '/tmp/isthmus-0',
    ]);
  });

  it('is first of all the folder of ISTHMUS_RUNTIME_DIR, which keeps its mode', () => {
    const root = scratch();
    chmodSync(root, 0o755);
    expect(controlPath('daemon', { env: { ISTHMUS_RUNTIME_DIR: root } })).toBe(join(root, 'daemon.sock'));
    expect(modeOf(root)).toBe('755');
  });

  it('is a pipe with the name of the user on Windows', () => {
    expect(controlPath('daemon', { platform: 'win32', env: { USERNAME: 'Ada Lovelace' } })).toBe(
      '\\\\.\\pipe\\isthmus-Ada_Lovelace-daemon',
    );
  });

  it('is made for its owner alone, whatever the umask', () => {
    const before = process.umask(0);
    later(() => process.umask(before));
    const root = scratch();
    const path = controlPath('daemon', { env: { XDG_RUNTIME_DIR: root } });
    expect(path).toBe(join(root, 'isthmus', 'daemon.sock'));
    expect(modeOf(join(root, 'isthmus'))).toBe('700');
  });

  it('gets mode 0700 when an earlier version made it readable for others', () => {
    const root = scratch();
    mkdirSync(join(root, 'isthmus'), { mode: 0o755 });
    controlPath('daemon', { env: { XDG_RUNTIME_DIR: root } });
    expect(modeOf(join(root, 'isthmus'))).toBe('700');
  });

  it('is the next folder when the first is too long for a socket', () => {
    const root = scratch();
    const long = join(root, 'x'.repeat(100));
    const env = { XDG_RUNTIME_DIR: long, XDG_STATE_HOME: root };
    expect(controlPath('daemon', { platform: 'linux', env })).toBe(
      join(root, 'isthmus', 'run', 'daemon.sock'),
    );
  });

  it('does not exist when every folder belongs to another user, and the error has the reasons', () => {
    const root = scratch();
    const env = { XDG_RUNTIME_DIR: join(root, 'a'), XDG_STATE_HOME: join(root, 'b') };
    const look = () => ({ isFolder: true, uid: 666, mode: 0o40700 });
    expect(() => controlPath('daemon', { platform: 'linux', env, tmp: root, uid: 1000, look })).toThrow(
      /^No private folder for a control socket: .*\/a\/isthmus belongs to another user \(666\); /,
    );
  });

  it.each(['', '..', '../x', 'a/b', '.hidden', 'x'.repeat(65)])('has no place for the name "%s"', (name) => {
    expect(() => controlPath(name)).toThrow('is not a valid name for a control socket');
  });
});

describe('a folder', () => {
  const ours = { isFolder: true, uid: 1000, mode: 0o40700 };
  const tmp = { isFolder: true, uid: 0, mode: 0o41777 };

  it.each([
    ['ours alone', ours, tmp, undefined],
    ['ours, and others may read it', { ...ours, mode: 0o40755 }, tmp, undefined],
    ['not there', undefined, tmp, '/f/x does not exist'],
    ['a link', { ...ours, isFolder: false }, tmp, '/f/x is not a folder'],
    ['of another user', { ...ours, uid: 7 }, tmp, '/f/x belongs to another user (7)'],
    [
      'writable by the group',
      { ...ours, mode: 0o40770 },
      tmp,
      '/f/x can be written to by others (mode 0770)',
    ],
    ['writable by all', { ...ours, mode: 0o40707 }, tmp, '/f/x can be written to by others (mode 0707)'],
    [
      'in a folder where anybody may rename it',
      ours,
      { ...tmp, mode: 0o40777 },
      '/f/x can be replaced by others: any user can write to /f',
    ],
  ])('%s', (_what, facts, around, problem) => {
    expect(folderProblem('/f/x', facts, around, 1000)).toBe(problem);
  });
});

describe('a control socket', () => {
  const open = async (path: string) => {
    const control = await openControl(fakeGateway(), { path });
    later(() => control.close());
    return control;
  };

  it('has mode 0600 in every moment, whatever the umask', async () => {
    const before = process.umask(0);
    later(() => process.umask(before));
    const path = join(scratch(), 'a.sock');
    const server = createServer();
    later(() => server.close());
    // The file is there before `listen` has called back.
    const seen: string[] = [];
    const { listen } = server;
    server.listen = ((...args: unknown[]) => {
      const result = (listen as (...args: unknown[]) => unknown).apply(server, args);
      seen.push(modeOf(path));
      return result;
    }) as typeof server.listen;
    await listenPrivately(server, path);
    expect([...seen, modeOf(path)]).toEqual(['600', '600']);
    expect(process.umask()).toBe(0);
  });

  it('is refused a folder that others may write to', async () => {
    const folder = scratch();
    chmodSync(folder, 0o777);
    await expect(open(join(folder, 'a.sock'))).rejects.toThrow(
      `Cannot open the control socket ${folder}/a.sock: ${folder} can be written to by others (mode 0777)`,
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is refused a folder of another user', async () => {
    const folder = scratch();
    const look = () => ({ isFolder: true, uid: 666, mode: 0o40755 });
    await expect(listenPrivately(createServer(), join(folder, 'a.sock'), { look })).rejects.toThrow(
      'belongs to another user (666)',
    );
  });

  it('is refused a link in the place of its folder', async () => {
    const folder = scratch();
    symlinkSync(folder, join(folder, 'link'));
    await expect(open(join(folder, 'link', 'a.sock'))).rejects.toThrow('is not a folder');
  });

  it('does not replace a file', async () => {
    const path = join(scratch(), 'a.sock');
    writeFileSync(path, 'precious');
    await expect(open(path)).rejects.toThrow('the path exists and is not a socket');
    expect(statSync(path).size).toBe(8);
  });

  it('never replaces a live one', async () => {
    const path = join(scratch(), 'a.sock');
    await open(path);
    await expect(open(path)).rejects.toMatchObject({
      code: 'ADDRESS_UNAVAILABLE',
      message: `Cannot open the control socket ${path}: another process listens there`,
    });
    const client = controlClient(path);
    expect((await client.status()).pid).toBe(4711);
  });

  it('is gone when it is closed, with its lock', async () => {
    const folder = scratch();
    const control = await open(join(folder, 'a.sock'));
    expect(existsSync(control.path)).toBe(true);
    await control.close();
    expect(readdirSync(folder)).toEqual([]);
    await expect(controlClient(control.path).status()).rejects.toMatchObject({ code: 'ADDRESS_UNAVAILABLE' });
  });

  it('is not used when it belongs to another user', async () => {
    const control = await open(join(scratch(), 'a.sock'));
    const { uid } = statSync(control.path);
    expect(socketProblem(control.path, uid)).toBeUndefined();
    // Root is believed by everybody, so the test says nothing where it runs as root.
    if (uid !== 0) expect(socketProblem(control.path, uid + 1)).toBe(`it belongs to another user (${uid})`);
  });
});
