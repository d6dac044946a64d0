import { readFileSync } from 'node:fs';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { usageError } from '../cli-error.js';
import type { Habit } from './habit.js';

/** The levels of others: `none`, `INFO`, `WARNING`, `CRITICAL`. */
export const logLevel: Habit = {
  takes: 'one',
  say: ([level = ''], { words }) =>
    void words.push('--log-level', LEVELS[level.toLowerCase()] ?? level.toLowerCase()),
};

const LEVELS: Readonly<Record<string, string>> = {
  none: 'silent',
  off: 'silent',
  warning: 'warn',
  critical: 'error',
};

/** `Authorization: Bearer …`. */
export const bearer: Habit = {
  takes: 'one',
  say: ([token = ''], { words }) => void words.push('--header', `Authorization: Bearer ${token}`),
};

/** `--headers Authorization "Bearer …"`: the name and the value are two words. */
export const header: Habit = {
  takes: 'two',
  say: ([first = '', second], { words }) =>
    void words.push('--header', second === undefined ? first : `${first}: ${second}`),
};

/** A file of `Name: value`, one a line; `#` begins a comment. So they are not in the list of processes. */
export const headerFile: Habit = {
  takes: 'one',
  say([file = ''], { words }) {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const why = code === 'ENOENT' ? 'there is no such file' : messageOf(error);
      throw usageError(`Cannot read the headers of ${file}: ${why}`);
    }
    for (const [at, line] of text.split(/\r?\n/).entries()) {
      if (/^\s*(#|$)/.test(line)) continue;
      // What is wrong with it is said without showing it: it is most likely a secret.
      if (!/^\s*[\w!#$%&'*+.^`|~-]+\s*:/.test(line)) {
        throw usageError(`Line ${at + 1} of ${file} is no header`, 'Write Name: value, one a line');
      }
      words.push('--header', line.trim());
    }
  },
};

/** A place on the one HTTP address. */
export function atPath(option: string): Habit {
  return {
    takes: 'one',
    say([path = ''], { words }) {
      words.push('--path', checkedPath(option, path));
    },
  };
}

export function checkedPath(option: string, path: string): string {
  if (/^\/[^?#\s]*$/.test(path)) return path;
  throw usageError(`${option} "${path}" is no path`, `A path begins with /: ${option} /mcp`);
}

export function allowOrigins(origins: readonly string[]): readonly string[] {
  const pattern = origins.find((origin) => /^\/.+\/$/.test(origin));
  if (pattern !== undefined) {
    throw usageError(
      `${pattern}: origins are not matched by patterns`,
      'Name each origin, --allow-origin https://app.example.com, or * for all',
    );
  }
  return origins.flatMap((origin) => ['--allow-origin', origin.replace(/\/$/, '')]);
}
