import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, onTestFinished } from 'vitest';
import { fixture } from '../../../../test/support/child.js';
import { isRunning, readAllStats } from '../../src/process/proc-stat.js';
import { type Child, type ChildOptions, spawnChild } from '../../src/process/spawn-child.js';

export { until } from '../../../../test/support/until.js';

/** Short enough for a test that has to wait for all of them. */
export const QUICK = { closeMs: 150, termMs: 150, killMs: 2000 };

export const onPosix = process.platform !== 'win32';
export const onLinux = process.platform === 'linux';

/** A child that runs a fixture program, and is killed when the test ends, passed or failed. */
export function startFixture(
  name: string,
  args: readonly string[] = [],
  options: Partial<ChildOptions> = {},
): Child {
  return start({ command: process.execPath, args: [fixture(name), ...args], ...options });
}

export function start(options: ChildOptions): Child {
  const child = spawnChild({ shutdown: QUICK, ...options });
  onTestFinished(async () => {
    await child.kill();
  });
  return child;
}

/** The first line that comes out of a stream. */
export async function firstLine(stream: Readable): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    const look = (chunk: Buffer) => {
      text += chunk;
      if (!text.includes('\n')) return;
      stream.off('data', look);
      stream.resume();
      resolve(text.slice(0, text.indexOf('\n')));
    };
    stream.on('data', look);
    stream.once('close', () => reject(new Error(`closed before a line came: ${JSON.stringify(text)}`)));
  });
}

export async function readAll(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Whether a process runs. A zombie does not: it is only waiting to be counted. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat[stat.lastIndexOf(')') + 2] !== 'Z';
  } catch {
    return false;
  }
}

/** Kills a process that is not a child of ours when the test ends. */
export function killAtTheEnd(pid: number): number {
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  return pid;
}

/** Who runs in a process group; zombies do not. Linux only. */
export function membersOf(group: number): readonly number[] {
  return readAllStats()
    .filter((stat) => stat.group === group && isRunning(stat))
    .map(({ pid }) => pid);
}

/** Kills whoever is left in a process group when the test ends. */
export function killGroupAtTheEnd(group: number): number {
  onTestFinished(() => {
    if (group > 1 && membersOf(group).length > 0) process.kill(-group, 'SIGKILL');
  });
  return group;
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A process that only SIGKILL ends, in a group of its own, and of which no guard knows. */
export async function startStubborn(): Promise<number> {
  const child = spawn(process.execPath, [fixture('child-that-ignores-sigterm.mjs')], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  killGroupAtTheEnd(child.pid!);
  expect(await firstLine(child.stdout)).toBe('ready');
  return child.pid!;
}
