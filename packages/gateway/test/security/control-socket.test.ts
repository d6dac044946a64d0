/** The socket through which a gateway is controlled is for its user alone. */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modernCall } from '../../../sdk/test/support/http-server.js';
import { controlClient, controlPath } from '../../src/control/index.js';
import { freshFolder } from '../support/open-gateway.js';
import { openHouse, tellsAll, textOf } from '../support/secured-gateway.js';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const isRoot = process.getuid?.() === 0;

async function opened(path: string) {
  return openHouse([tellsAll('a')], { controlPath: path });
}

describe('the control socket', () => {
  it('has mode 0600 in a folder of mode 0700, whatever the umask', async () => {
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    const root = freshFolder();
    chmodSync(root, 0o700);
    const path = controlPath('gateway-1', { env: { XDG_RUNTIME_DIR: root } });
    await opened(path);
    expect([modeOf(path), modeOf(dirname(path))]).toEqual(['600', '700']);
    expect(lstatSync(path).isSocket()).toBe(true);
  });

  // Only root can be somebody else for a moment.
  it.runIf(isRoot)('cannot be reached by another user', async () => {
    const root = freshFolder();
    // Everybody may look into the folders above it: it is the socket itself that keeps others out.
    chmodSync(root, 0o755);
    const path = join(root, 'open', 'control.sock');
    mkdirSync(dirname(path), { mode: 0o755 });
    await opened(path);
    expect(await connectAs(0, path)).toBe('connected');
    expect(await connectAs(65534, path)).toBe('EACCES');
    chmodSync(dirname(path), 0o700);
    expect(await connectAs(65534, path)).toBe('EACCES');
  });

  it('does not follow a link in its place, and leaves alone what it leads to', async () => {
    const folder = freshFolder();
    const precious = join(folder, 'precious');
    writeFileSync(precious, 'precious', { mode: 0o644 });
    for (const target of [precious, join(folder, 'not-there')]) {
      const path = join(folder, `${target === precious ? 'a' : 'b'}.sock`);
      symlinkSync(target, path);
      const house = await opened(path);
      expect(house.operation.control).toBeUndefined();
      expect(house.logged()).toContain('the control socket could not be opened: ');
      expect(lstatSync(path).isSymbolicLink()).toBe(true);
    }
    expect([readFileSync(precious, 'utf8'), modeOf(precious)]).toEqual(['precious', '644']);
    expect(existsSync(join(folder, 'not-there'))).toBe(false);
  });

  it('is not opened in a folder that others may write to, and the gateway serves without it', async () => {
    const folder = join(freshFolder(), 'open');
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    const house = await opened(join(folder, 'control.sock'));
    expect(house.operation.control).toBeUndefined();
    expect(textOf(await house.ask('/mcp', modernCall(1, 'pid')))).toMatch(/^\d+$/);
  });

  it('bears garbage, half sentences and many who say nothing, and answers those who ask properly', async () => {
    const path = join(freshFolder(), 'control.sock');
    await opened(path);
    const sockets = Array.from({ length: 40 }, (_, at) => {
      const socket = connect(path);
      socket.on('error', () => {});
      onTestFinished(() => void socket.destroy());
      if (at % 4 === 0) socket.write('GET /status HTTP/1.1\r\nhost: x\r\n\r\n');
      if (at % 4 === 1)
        socket.write(Buffer.from(Array.from({ length: 4096 }, (_, byte) => (byte * 7 + at) % 256)));
      if (at % 4 === 2)
        socket.write(
          'POST /__proto__ HTTP/1.1\r\nhost: x\r\n\r\nPOST /servers/__proto__/stop HTTP/1.1\r\nhost: x\r\n\r\nGET /status HT',
        );
      return socket;
    });
    await new Promise((resolve) => sockets[2]!.once('data', resolve));
    const client = controlClient(path);
    expect(Object.keys((await client.status()).servers)).toEqual(['a']);
    for (const name of ['__proto__', 'constructor', '../a', '', 'a\nb']) {
      await expect(client.restart(name)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    }
    expect(({} as Record<string, unknown>)['poisoned']).toBeUndefined();
  });
});

/** What happens to somebody else who connects. */
function connectAs(uid: number, path: string): Promise<string> {
  const program = `require('node:net').connect(${JSON.stringify(path)})
    .on('connect', function () { console.log('connected'); this.destroy(); })
    .on('error', (error) => console.log(error.code));`;
  const args = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', process.execPath, '-e', program];
  return new Promise((resolve, reject) => {
    execFile('setpriv', args, { timeout: 10_000 }, (error, stdout, stderr) => {
      if (stdout === '') reject(error ?? new Error(stderr));
      else resolve(stdout.trim());
    });
  });
}
