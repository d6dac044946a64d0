import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { readRecord } from '../../src/client/scripted/record-file.js';

const PROGRAM = fileURLToPath(new URL('../../dist/client/scripted/scripted-server.js', import.meta.url));

it.skipIf(process.platform === 'win32').each([1, 2, 3])(
  'records a signal that was sent with the end of the input as the signal, however late the process runs (%i)',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'isthmus-scripted-'));
    const file = join(folder, 'record.jsonl');
    const child = spawn(process.execPath, [PROGRAM, '--script', 'slow-exit', '--record', file]);
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    });
    const kinds = () => readRecord(file).map(({ kind }) => kind);
    await expect.poll(kinds).toEqual(['started']);
    // Stopped, it finds both when it goes on.
    child.kill('SIGSTOP');
    child.kill('SIGTERM');
    child.stdin.end();
    await once(child.stdin, 'close');
    child.kill('SIGCONT');
    await once(child, 'exit');
    expect(kinds()).toEqual(['started', 'signal', 'exit']);
  },
);
