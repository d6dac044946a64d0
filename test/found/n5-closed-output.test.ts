import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { ISTHMUS } from '../support/child.js';

/** The exit code and stderr of a command whose reader goes away before the first byte. */
function withClosedOutput(args: readonly string[], closed: 'stdout' | 'stderr' = 'stdout') {
  return new Promise<{ code: number | null; stderr: string }>((resolve) => {
    const child = spawn(process.execPath, [ISTHMUS, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let stderr = '';
    const keep = (text: string) => {
      stderr += text;
    };
    child[closed].destroy();
    if (closed === 'stdout') child.stderr.setEncoding('utf8').on('data', keep);
    else child.stdout.resume();
    child.once('close', (code) => resolve({ code, stderr }));
  });
}

it.each([
  [['--help']],
  [['help', 'serve']],
  [['serve', '--help']],
  [['completion', 'bash']],
  [['config', 'schema']],
  [['config', 'list']],
  [['--version']],
])('N5: isthmus %j ends quietly when the reader of stdout is gone', async (args) => {
  expect(await withClosedOutput(args)).toEqual({ code: 0, stderr: '' });
});

it('N5: an error ends with its exit code when the reader of stderr is gone', async () => {
  expect((await withClosedOutput(['probe', 'nonsense'], 'stderr')).code).toBe(2);
});
