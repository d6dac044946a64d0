import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStat } from '@isthmus/sdk/internal/process/proc-stat.js';
import { onTestFinished } from 'vitest';
import { until } from '../../../packages/sdk/test/support/host-lifetime.js';
import { type Child, ISTHMUS, startChild } from '../../support/child.js';
import type { Era } from '../near/near.js';
import { type Diary, diary, program } from './far.js';

// What bridges remember and note down must not outlive the run.
const home = mkdtempSync(join(tmpdir(), 'isthmus-home-'));
Object.assign(process.env, { XDG_CACHE_HOME: join(home, 'cache'), XDG_STATE_HOME: join(home, 'state') });
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

export interface ServeCommand {
  readonly child: Child;
  readonly diary: Diary;
  /** The addresses that it told, but not stdio. */
  readonly addresses: readonly string[];
}

/** `isthmus serve` in front of a stdio server of an era, as a process of its own. */
export async function serveCommand(
  era: Era,
  listen: readonly string[],
  options: { readonly args?: readonly string[]; readonly program?: string } = {},
): Promise<ServeCommand> {
  const written = diary();
  const { args = [], program: far = `${era}-stdio.mjs` } = options;
  const child = startChild(ISTHMUS, {
    args: [
      'serve',
      ...listen.flatMap((address) => ['--listen', address]),
      ...['--env', `DIARY=${written.path}`, ...args],
      ...['--', process.execPath, program(far)],
    ],
  });
  const told = () => [...child.stderr.matchAll(/^ {2}((http:|unix:)\S+)$/gm)].map((match) => match[1]!);
  const count = listen.filter((address) => address !== 'stdio').length;
  await child.until('addresses', () => told().length === count);
  return { child, diary: written, addresses: told() };
}

export function freshSocket(): string {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-socket-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return `unix:${join(folder, 's')}`;
}

/** A process is gone, or nothing of it is left but its entry. */
export async function gone(pid: number, limitMs = 5000): Promise<void> {
  await until(`the end of ${pid}`, () => (readStat(pid)?.state ?? 'Z') === 'Z', limitMs);
}
