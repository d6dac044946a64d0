import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ISTHMUS, startChild } from '../support/child.js';
import { eventually } from '../support/until.js';

/** A user with a home of their own: the daemon is in its usual place there. */
function freshUser() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'n6-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const env = { HOME: home, PATH: process.env['PATH'] ?? '' };
  const run = async (...args: string[]) => {
    const lines: string[] = [];
    const child = startChild(ISTHMUS, { args, env, onLine: (line) => lines.push(line) });
    child.end();
    const { code } = await child.exit();
    return { code, stdout: [...lines, ...child.impure].join('\n'), stderr: child.stderr };
  };
  return { env, run };
}

it('N6: status, doctor and logs find the daemon of isthmus attach', async () => {
  const { env, run } = freshUser();
  const host = startChild(ISTHMUS, { args: ['attach', '--', process.execPath, ISTHMUS, 'demo'], env });
  onTestFinished(async () => {
    host.end();
    await host.exit();
    await run('daemon', 'stop');
  });
  const { stdout } = await eventually(async () => {
    const status = await run('status');
    expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining('isthmus demo') });
    return status;
  });
  expect(stdout).toContain('daemon-2-');
  expect(await run('doctor')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^isthmus demo is ok \(daemon of isthmus attach \d+\)/),
  });
  expect((await run('status', 'isthmus demo')).code).toBe(0);
  expect((await run('logs', 'isthmus demo')).code).toBe(0);
});
