import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { type DescriptorUse, watchDescriptors } from '@isthmus/sdk/internal/process/process-facts.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask, modernCall } from '../../packages/sdk/test/support/http-server.js';
import { ISTHMUS } from '../support/child.js';
import { FakeClock } from '../support/fake-clock.js';
import { eventually } from '../support/until.js';

/** The program, in a shell that has lowered the number of files that may be open. */
function limited(limit: number, ...args: string[]) {
  const line = `ulimit -n ${limit}; exec "$0" "$@"`;
  const child = spawn('sh', ['-c', line, process.execPath, ISTHMUS, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { said, ended };
}

describe.runIf(process.platform === 'linux')('R8: without file descriptors', () => {
  it('R8: ulimit -n 64 is told in two lines, with what to do, and not with a stack', async () => {
    const { said, ended } = limited(64, 'serve', '--port', '0');
    expect(await ended).toBe(1);
    expect(said.err.split('\n')).toEqual([
      expect.stringMatching(
        /^isthmus: only 64 files may be open at the same time here, and isthmus needs 128/,
      ),
      expect.stringMatching(/^hint: Raise the limit before you start it: ulimit -n 4096/),
      '',
    ]);
  });

  it('R8: a listener says that none are left, and serves again when there is room', async () => {
    const demo = [process.execPath, ISTHMUS, 'demo'];
    const { said } = limited(140, 'serve', '--port', '0', '--json', '-q', '--', ...demo);
    await eventually(() => expect(said.out).toContain('\n'));
    const [url] = (JSON.parse(said.out) as { addresses: [string] }).addresses;
    const sockets: Socket[] = [];
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (let at = 0; at < 160; at += 1) {
      sockets.push(connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {}));
    }
    await eventually(() =>
      expect(said.err).toMatch(/of 140 file descriptors are in use: new connections are closed/),
    );
    for (const socket of sockets) socket.destroy();
    await eventually(async () => {
      expect((await ask(url, modernCall(1, 'echo', { text: 'again' }))).json.result?.content).toEqual([
        { type: 'text', text: 'again' },
      ]);
    });
    await eventually(() => expect(said.err).toContain('there is room again'));
  });
});

it('R8: scarcity is told once, and told again after there was room', () => {
  const clock = new FakeClock();
  const told: string[] = [];
  let use: DescriptorUse | undefined = { open: 10, limit: 100 };
  watchDescriptors(({ open }, isScarce) => told.push(`${open} ${isScarce}`), { clock, look: () => use });
  for (const open of [91, 95, 85, 79, 50, 100]) {
    use = { open, limit: 100 };
    clock.advance(2000);
  }
  expect(told).toEqual(['91 true', '79 false', '100 true']);
});
