import { type BigIntStats, readFileSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { platform } from 'node:process';
import { type Clock, within } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError, messageOf, reasonWithoutPath } from '@isthmus/sdk/internal/errors.js';

/** What a file says, as it is now. */
export interface WatchedFile<T> {
  /** The file is checked at most once a second, so what was removed counts for one second at most. */
  current(): Promise<T>;
}

export interface WatchedFileOptions<T> {
  /** For errors: `bearer file`. */
  readonly name: string;
  /** For warnings: what goes on to count when the file cannot be used. */
  readonly stays: string;
  /** Throws for a text that cannot be used. */
  parse(text: string): T;
  /** What the operator should know of it. */
  warningsOf?(value: T): readonly string[];
  /** The file has secrets, so others must not read it. */
  readonly isSecret: boolean;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
}

/** Throws for a file that cannot be read or used. Later, such a file is reported and what was read before stays. */
export function watchFile<T>(path: string, options: WatchedFileOptions<T>): WatchedFile<T> {
  const { clock, warn, parse, stays } = options;
  let read = readNow(path, options);
  let lookedAt = clock.now();
  let looking: Promise<void> | undefined;
  let lastProblem: string | undefined;
  const tell = () => {
    for (const warning of warningsOf(path, read, options)) warn(warning);
  };
  tell();

  const look = async () => {
    try {
      const facts = await stat(path, { bigint: true });
      if (markOf(facts) === read.mark) return;
      const value = parse(await readFile(path, 'utf8'));
      read = { value, mark: markOf(facts), mode: Number(facts.mode) };
      lastProblem = undefined;
      tell();
    } catch (error) {
      // Warns once, and not with every request.
      const problem = messageOf(error);
      if (problem !== lastProblem) warn(`${problem}; ${stays}`);
      lastProblem = problem;
    }
  };

  return {
    async current() {
      const now = clock.now();
      if (!looking && Math.abs(now - lookedAt) >= LOOK_EVERY_MS) {
        lookedAt = now;
        looking = look().finally(() => {
          looking = undefined;
        });
      }
      // A disk that does not answer must not keep callers out.
      if (looking) await within(clock, LOOK_AT_MOST_MS, looking);
      return read.value;
    },
  };
}

interface Reading<T> {
  readonly value: T;
  /** Differs between two states of the file, also when it was replaced by one of the same age. */
  readonly mark: string;
  readonly mode: number;
}

function readNow<T>(
  path: string,
  { name, parse }: Pick<WatchedFileOptions<T>, 'name' | 'parse'>,
): Reading<T> {
  try {
    // `stat` comes first: a change in between is then read again, and not missed.
    const facts = statSync(path, { bigint: true });
    return { value: parse(readFileSync(path, 'utf8')), mark: markOf(facts), mode: Number(facts.mode) };
  } catch (error) {
    if (error instanceof IsthmusError) throw error;
    // Without the path and the cause, which has it: a token may have been given instead of a path.
    throw new IsthmusError('INVALID_OPTION', `The ${name} cannot be read: ${reasonWithoutPath(error)}`);
  }
}

function markOf({ ino, size, mtimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs}`;
}

function warningsOf<T>(
  path: string,
  { value, mode }: Reading<T>,
  { isSecret, warningsOf: more }: Pick<WatchedFileOptions<T>, 'isSecret' | 'warningsOf'>,
): string[] {
  const isOpen = isSecret && platform !== 'win32' && (mode & 0o004) !== 0;
  const open = `${path} can be read by everybody on this machine: chmod 600 ${path}`;
  return [...(isOpen ? [open] : []), ...(more?.(value) ?? []).map((each) => `${path}: ${each}`)];
}

const LOOK_EVERY_MS = 1000;
const LOOK_AT_MOST_MS = 2000;

/** The lines of a text that are not comments, with their numbers. */
export function linesOf(text: string): readonly { readonly number: number; readonly line: string }[] {
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((raw, index) => ({ number: index + 1, line: raw.replace(/(^|\s)#.*$/, '').trim() }))
    .filter(({ line }) => line !== '');
}
