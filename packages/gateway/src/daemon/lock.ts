import { randomBytes } from 'node:crypto';
import { linkSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStillRunning, startTimeOf } from '@isthmus/sdk/internal/process/process-facts.js';

/** Held by one living process at a time, and free as soon as that is dead, however it died. */
export interface Lock {
  /** Twice is harmless. */
  release(): void;
}

export type LockAttempt =
  | { readonly kind: 'taken'; readonly lock: Lock }
  | { readonly kind: 'held'; readonly pid: number };

/**
 * Node has no lock that the system would release, so this is one of files: `NAME.1`, `NAME.2`, … The highest counts.
 * Making the next one is atomic and tells who took over from a dead holder; a number that was looked at can never
 * be mistaken for a later one. A holder is known by its pid and the time it was started.
 *
 * On Windows nothing is locked: there the name of a pipe can be had by one process only.
 */
export function tryLock(folder: string, name: string): LockAttempt {
  if (process.platform === 'win32') return { kind: 'taken', lock: { release() {} } };
  const token = JSON.stringify({
    pid: process.pid,
    started: startTimeOf(process.pid),
    nonce: randomBytes(8).toString('hex'),
  });
  const draft = join(folder, `${name}.${process.pid}-${randomBytes(6).toString('hex')}.draft`);
  writeFileSync(draft, token, { mode: 0o600, flag: 'wx' });
  try {
    for (;;) {
      const top = highest(folder, name);
      const holder = top === 0 ? undefined : livingHolder(fileOf(top));
      if (holder !== undefined) return { kind: 'held', pid: holder };
      const next = top + 1;
      if (!makeLink(draft, fileOf(next))) continue;
      if (highest(folder, name) === next) {
        clean(folder, name, next);
        return { kind: 'taken', lock: { release: () => removeIfMine(fileOf(next), token) } };
      }
      removeIfMine(fileOf(next), token);
    }
  } finally {
    attempt(() => unlinkSync(draft));
  }

  function fileOf(number: number): string {
    return join(folder, `${name}.${number}`);
  }
}

/** Who holds it now, if anybody does. */
export function holderOf(folder: string, name: string): number | undefined {
  const top = highest(folder, name);
  return top === 0 ? undefined : livingHolder(join(folder, `${name}.${top}`));
}

/** A folder that changes while it is read may show neither the old file nor the new one: so it is read twice. */
function highest(folder: string, name: string): number {
  for (;;) {
    const [first, second] = [numbersIn(folder, name), numbersIn(folder, name)];
    if (first.join() === second.join()) return Math.max(0, ...second);
  }
}

function numbersIn(folder: string, name: string): number[] {
  return readdirSync(folder)
    .flatMap((entry) => (entry.startsWith(`${name}.`) ? [entry.slice(name.length + 1)] : []))
    .filter((rest) => /^\d{1,15}$/.test(rest))
    .map(Number)
    .sort((a, b) => a - b);
}

function livingHolder(file: string): number | undefined {
  try {
    const { pid, started } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; started: string };
    return isStillRunning(pid, started) ? pid : undefined;
  } catch {
    // Released this very moment.
    return undefined;
  }
}

/** What the dead have left. */
function clean(folder: string, name: string, own: number): void {
  for (const number of numbersIn(folder, name)) {
    if (number < own) attempt(() => unlinkSync(join(folder, `${name}.${number}`)));
  }
  for (const entry of readdirSync(folder)) {
    const file = join(folder, entry);
    if (!entry.startsWith(`${name}.`) || !entry.endsWith('.draft')) continue;
    attempt(() => Date.now() - statSync(file).mtimeMs > DRAFT_MS && unlinkSync(file));
  }
}

function removeIfMine(file: string, token: string): void {
  attempt(() => readFileSync(file, 'utf8') === token && unlinkSync(file));
}

/** The file has its content from the first moment on. False: somebody else was first. */
function makeLink(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** A draft is needed for milliseconds. */
const DRAFT_MS = 60_000;

function attempt(action: () => unknown): void {
  try {
    action();
  } catch {
    // Gone already.
  }
}
