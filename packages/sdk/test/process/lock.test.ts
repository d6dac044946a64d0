import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { holderOf, tryLock } from '../../src/process/lock.js';

function freeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('one process holds a lock until it releases it', () => {
  const folder = freeFolder();
  const first = tryLock(folder, 'a');
  expect(tryLock(folder, 'a')).toEqual({ kind: 'held', pid: process.pid });
  expect(holderOf(folder, 'a')).toBe(process.pid);
  expect(tryLock(folder, 'b').kind).toBe('taken');
  if (first.kind === 'taken') first.lock.release();
  expect(holderOf(folder, 'a')).toBeUndefined();
  expect(tryLock(folder, 'a').kind).toBe('taken');
  expect(readdirSync(folder).sort()).toEqual(['a.1', 'b.1']);
});

test('the lock of a dead process is free, also when another process has its number now', () => {
  const folder = freeFolder();
  // This process has the pid, and was started at another time.
  writeFileSync(join(folder, 'a.3'), JSON.stringify({ pid: process.pid, started: '1', nonce: 'x' }));
  writeFileSync(join(folder, 'a.2'), 'nonsense');
  expect(tryLock(folder, 'a').kind).toBe('taken');
  expect(readdirSync(folder)).toEqual(['a.4']);
});

test('releasing twice does not release the lock of the next one', () => {
  const folder = freeFolder();
  const first = tryLock(folder, 'a');
  if (first.kind !== 'taken') throw new Error('it is free');
  first.lock.release();
  expect(tryLock(folder, 'a').kind).toBe('taken');
  first.lock.release();
  expect(holderOf(folder, 'a')).toBe(process.pid);
});

test('of several processes at the same instant that find a dead holder, one takes over', async () => {
  const folder = freeFolder();
  writeFileSync(join(folder, 'a.7'), JSON.stringify({ pid: 2 ** 22 - 1, started: '1', nonce: 'x' }));
  const lock = new URL('../../dist/process/lock.js', import.meta.url).href;
  const text = `
    const { tryLock } = await import(${JSON.stringify(lock)});
    // All of them begin together.
    await new Promise((resolve) => setTimeout(resolve, ${Date.now() + 1500} - Date.now()));
    process.stdout.write(tryLock(${JSON.stringify(folder)}, 'a').kind + '\\n');
    process.stdin.resume();`;
  const children = Array.from({ length: 6 }, () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  });
  const said = await Promise.all(children.map(async ({ stdout }) => String((await once(stdout, 'data'))[0])));
  expect(said.sort()).toEqual(['held\n', 'held\n', 'held\n', 'held\n', 'held\n', 'taken\n']);
  for (const child of children) child.stdin.end();
});
