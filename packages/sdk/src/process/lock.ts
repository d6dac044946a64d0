import { createHash, randomBytes } from 'node:crypto';
import { linkSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { IsthmusError } from '../errors.js';
import { isStillRunning, startTimeOf } from './process-facts.js';

/** Held by one live process at a time. It is free when the holder is dead, however it died. */
export interface Lock {
  /** A second call is harmless. */
  release(): void;
}

export type LockAttempt =
  | { readonly kind: 'taken'; readonly lock: Lock }
  | { readonly kind: 'held'; readonly pid: number };

/**
 * Node has no lock that the system releases, so the lock is a series of files: `NAME.1`, `NAME.2`, … The highest number
 * counts. Making the next file is atomic and decides which process takes over from a dead holder. A number is never used
 * again, so a file that was checked cannot be mistaken for a later one. A holder is identified by its pid and start time.
 *
 * On Windows nothing is locked, since only one process can own the name of a pipe.
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

/** Waits until the lock is free, at most `limitMs`, and takes it. The returned function releases it. */
export async function takeLock(
  folder: string,
  name: string,
  limitMs: number,
  signal?: AbortSignal,
): Promise<() => void> {
  const until = performance.now() + limitMs;
  for (;;) {
    signal?.throwIfAborted();
    const taken = process.platform === 'win32' ? await tryPipe(folder, name) : tryLock(folder, name);
    if (taken.kind === 'taken') return () => taken.lock.release();
    if (performance.now() > until) {
      const who = taken.pid === undefined ? 'Another process' : `Process ${taken.pid}`;
      throw new IsthmusError('BUSY', `${who} has held ${join(folder, name)} for ${limitMs} ms`, {
        sent: 'no',
      });
    }
    await pause(POLL_MS);
  }
}

/** On Windows a pipe of that name is the lock: only one process can listen there, and its end frees the name. */
function tryPipe(
  folder: string,
  name: string,
): Promise<{ kind: 'taken'; lock: Lock } | { kind: 'held'; pid: undefined }> {
  const key = createHash('sha256').update(join(folder, name)).digest('hex').slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve({ kind: 'held', pid: undefined });
      else reject(error);
    });
    server.listen(`\\\\.\\pipe\\isthmus-lock-${key}`, () => {
      resolve({ kind: 'taken', lock: { release: () => void server.close() } });
    });
  });
}

/** The pid of the holder. */
export function holderOf(folder: string, name: string): number | undefined {
  const top = highest(folder, name);
  return top === 0 ? undefined : livingHolder(join(folder, `${name}.${top}`));
}

/** Reading a folder while it changes may show neither the old file nor the new one, so it is read twice. */
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
    // The lock was released after the folder was read.
    return undefined;
  }
}

/** Removes the files of dead processes. */
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

/** A link has its content from the first moment. False when another process was first. */
function makeLink(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

const POLL_MS = 50;
/** A draft is needed for milliseconds. */
const DRAFT_MS = 60_000;

function attempt(action: () => unknown): void {
  try {
    action();
  } catch {
    // Gone already.
  }
}
