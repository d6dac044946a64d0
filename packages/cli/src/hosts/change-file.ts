import { randomBytes } from 'node:crypto';
import { chmod, copyFile, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isTable } from '@isthmus/sdk/internal/config/documents/document.js';
import { setJsonValue } from '@isthmus/sdk/internal/config/documents/edit-json.js';
import { parseJson } from '@isthmus/sdk/internal/config/documents/parse-json.js';
import { fileReason } from '@isthmus/sdk/internal/errors.js';
import { usageError, writeHint, writeReason } from '../cli-error.js';
import type { Style } from '../terminal/terminal.js';
import { printable } from '../terminal/text.js';

/** A change of a JSON file that is not written yet. */
export interface FileChange {
  /** The file itself, where `path` is a link. */
  readonly path: string;
  /** Undefined: the file does not exist. */
  readonly before: string | undefined;
  readonly after: string;
}

/** Plans to set a value of a file. Refuses a file that is not JSON. */
export async function planChange(
  file: string,
  keys: readonly string[],
  value: unknown,
): Promise<FileChange & { readonly replaces: boolean }> {
  const path = await realpath(file).catch(() => file);
  const before = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw usageError(`${file} cannot be read: ${fileReason(error)}`);
  });
  let found: unknown;
  if (before !== undefined && before.trim() !== '') {
    const parsed = await parseJson(before);
    if (parsed.kind === 'broken') {
      const { line, column, message } = parsed.problem;
      throw usageError(
        `${file}:${line}:${column}: ${message}`,
        'Correct the file first; isthmus does not change it',
      );
    }
    found = parsed.document.root;
    for (const [at, key] of keys.entries()) {
      if (!isTable(found))
        throw usageError(`${file}: ${keys.slice(0, at).join('.') || 'the file'} is not an object`);
      found = found.get(key);
      if (found === undefined) break;
    }
  }
  return {
    path,
    before,
    after: await setJsonValue(before ?? '', keys, value),
    replaces: found !== undefined,
  };
}

/** Keeps a copy of the file, and replaces it at once. Returns the path of the copy. */
export async function applyChange(
  { path, before, after }: FileChange,
  now = new Date(),
): Promise<string | undefined> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    if (before === undefined) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, after, { mode: 0o600, flag: 'wx' });
      return undefined;
    }
    const backup = `${path}.backup-${now
      .toISOString()
      .replace(/\.\d+Z$/, '')
      .replace(/[^\d]/g, '')}`;
    await copyFile(path, backup);
    await writeFile(temporary, after, { mode: 0o600, flag: 'wx' });
    await chmod(temporary, (await stat(path)).mode & 0o777);
    // The host may have written the file while the user looked at the change.
    if ((await readFile(path, 'utf8')) !== before)
      throw new Error('it was changed in the meantime; try again');
    await rename(temporary, path);
    return backup;
  } catch (error) {
    await rm(temporary, { force: true });
    throw usageError(`${path} cannot be written: ${writeReason(error)}`, writeHint(error));
  }
}

/** The changed lines with a few around them. */
export function renderChange({ before = '', after }: FileChange, style: Style): string {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < Math.min(old.length, fresh.length) && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, fresh.length) - start && old.at(-1 - end) === fresh.at(-1 - end))
    end += 1;
  const rows = [
    ...old.slice(Math.max(0, start - AROUND), start).map((line) => `  ${line}`),
    ...old.slice(start, old.length - end).map((line) => style.red(`- ${line}`)),
    ...fresh.slice(start, fresh.length - end).map((line) => style.green(`+ ${line}`)),
    ...old.slice(old.length - end, old.length - end + AROUND).map((line) => `  ${line}`),
  ];
  return rows.map((row) => `${row}\n`).join('');
}

const AROUND = 3;

function linesOf(text: string): string[] {
  return text === '' ? [] : printable(text).replace(/\n$/, '').split('\n');
}
