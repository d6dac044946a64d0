import { type BigIntStats, readFileSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { platform } from 'node:process';
import { type Clock, within } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError, messageOf, reasonWithoutPath } from '@isthmus/sdk/internal/errors.js';
import { type ApiKey, KeyRing, weaknessOf } from './key-ring.js';

/** The tokens of a file, as it is now. */
export interface BearerFile {
  /** The file is checked at most once a second, so a removed token is valid for one second at most. */
  ring(): Promise<KeyRing>;
}

export interface BearerFileOptions {
  readonly clock: Clock;
  readonly warn: (message: string) => void;
}

/** Throws for a file that cannot be read or has no tokens. Later, such a file is reported and the earlier tokens stay valid. */
export function openBearerFile(path: string, { clock, warn }: BearerFileOptions): BearerFile {
  let read = readNow(path);
  let lookedAt = clock.now();
  let looking: Promise<void> | undefined;
  let lastProblem: string | undefined;
  for (const warning of warningsOf(path, read)) warn(warning);

  const look = async () => {
    try {
      const facts = await stat(path, { bigint: true });
      if (markOf(facts) === read.mark) return;
      const next = readingOf(path, await readFile(path, 'utf8'), facts);
      read = next;
      lastProblem = undefined;
      for (const warning of warningsOf(path, next)) warn(warning);
    } catch (error) {
      // Warns once, and not with every request.
      const problem = messageOf(error);
      if (problem !== lastProblem) warn(`${problem}; the tokens read before stay good`);
      lastProblem = problem;
    }
  };

  return {
    async ring() {
      const now = clock.now();
      if (!looking && Math.abs(now - lookedAt) >= LOOK_EVERY_MS) {
        lookedAt = now;
        looking = look().finally(() => {
          looking = undefined;
        });
      }
      // A disk that does not answer must not keep callers out.
      if (looking) await within(clock, LOOK_AT_MOST_MS, looking);
      return read.ring;
    },
  };
}

interface Reading {
  readonly ring: KeyRing;
  readonly weak: readonly string[];
  /** Differs between two states of the file, also when it was replaced by one of the same age. */
  readonly mark: string;
  readonly mode: number;
}

function readNow(path: string): Reading {
  try {
    // `stat` comes first: a change in between is then read again, and not missed.
    const facts = statSync(path, { bigint: true });
    return readingOf(path, readFileSync(path, 'utf8'), facts);
  } catch (error) {
    if (error instanceof IsthmusError) throw error;
    // Without the path and the cause, which has it: a token may have been given instead of a path.
    throw new IsthmusError('INVALID_OPTION', `The bearer file cannot be read: ${reasonWithoutPath(error)}`);
  }
}

function readingOf(path: string, text: string, facts: BigIntStats): Reading {
  const keys = parseBearerFile(text, path);
  const weak = keys.map(weaknessOf).filter((each) => each !== undefined);
  return { ring: new KeyRing(keys, path), weak, mark: markOf(facts), mode: Number(facts.mode) };
}

function markOf({ ino, size, mtimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs}`;
}

function warningsOf(path: string, { weak, mode }: Reading): string[] {
  const isOpen = platform !== 'win32' && (mode & 0o004) !== 0;
  const open = `${path} can be read by everybody on this machine: chmod 600 ${path}`;
  return [...(isOpen ? [open] : []), ...weak.map((each) => `${path}: ${each}`)];
}

const LOOK_EVERY_MS = 1000;
const LOOK_AT_MOST_MS = 2000;

/** Lines of `name: token` or a bare token. Errors name the file and the line, never the content. */
function parseBearerFile(text: string, path: string): ApiKey[] {
  const keys: ApiKey[] = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (const [index, raw] of lines.entries()) {
    const line = raw.replace(/(^|\s)#.*$/, '').trim();
    if (line === '') continue;
    // Tokens hold no colon (RFC 6750, §2.1), names may hold blanks.
    const found = /^(?:([^:]+):)?\s*([^\s:]+)$/.exec(line);
    if (!found) {
      const why = 'is neither a token nor `name: token`';
      throw new IsthmusError('INVALID_OPTION', `Line ${index + 1} of ${path} ${why}`);
    }
    const name = found[1]?.trim();
    keys.push(name === undefined ? { key: found[2]! } : { name, key: found[2]! });
  }
  if (keys.length > 0) return keys;
  throw new IsthmusError('INVALID_OPTION', `${path} has no tokens: write one \`name: token\` a line`);
}
