import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { IsthmusError, messageOf } from '../../errors.js';
import { takeLock } from '../../process/lock.js';
import type { LoginRecord, LoginStore } from './login-record.js';

/**
 * Keeps each login in a file of its own that only its user can read. Processes that share the folder take turns. Programs of
 * the same user can read the files.
 */
export function fileLoginStore(folder: string, seal: FileSeal = PLAIN): LoginStore {
  const fileOf = (key: string) => join(folder, `${checkedKey(key)}.json`);
  return {
    async read(key) {
      // Does not make the folder: a program that has no logins leaves nothing behind, and may have no home.
      return (await isThere(folder)) ? readRecord(fileOf(key), key, seal) : undefined;
    },
    async write(key, record) {
      await prepare(folder);
      await writeWhole(fileOf(key), seal.seal(`${JSON.stringify(record)}\n`, key));
    },
    async delete(key) {
      await rm(fileOf(key), { force: true });
    },
    async list() {
      const names = await readdir(folder).catch(() => []);
      const keys = names.flatMap((name) => /^([0-9a-f]{32})\.json$/.exec(name)?.[1] ?? []);
      const found = await Promise.all(
        keys.map(async (key) => ({ key, record: await readRecord(fileOf(key), key, seal) })),
      );
      return found.flatMap(({ key, record }) => (record ? [{ key, record }] : []));
    },
    async locked(key, action) {
      await prepare(folder);
      const release = await takeLock(folder, `${checkedKey(key)}.lock`, LOCK_MS);
      try {
        return await action();
      } finally {
        release();
      }
    },
  };
}

/** Encrypts the text of a file. `name` is its key: a file that is put in the place of another does not open. */
export interface FileSeal {
  seal(text: string, name: string): string;
  open(sealed: string, name: string): string;
}

const PLAIN: FileSeal = { seal: (text) => text, open: (text) => text };

/** A refresh takes at most two requests of 10 s. */
const LOCK_MS = 30_000;

function checkedKey(key: string): string {
  if (/^[0-9a-zA-Z]+$/.test(key)) return key;
  throw new IsthmusError('INVALID_OPTION', `"${key}" is not the key of a login`);
}

async function prepare(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await checkFolder(folder);
}

async function isThere(folder: string): Promise<boolean> {
  try {
    await checkFolder(folder);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw error;
  }
}

async function checkFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const { mode, uid } = await stat(folder);
  if (uid !== process.getuid?.()) throw unsafe(folder, 'it belongs to another user');
  if ((mode & 0o022) !== 0) throw unsafe(folder, 'other users can write to it');
  if ((mode & 0o077) !== 0) await chmod(folder, 0o700);
}

async function readRecord(file: string, key: string, seal: FileSeal): Promise<LoginRecord | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    const record = JSON.parse(seal.open(text, key)) as LoginRecord;
    if (record.v === 1) return record;
  } catch {
    // Reported below, without the content, which is a secret.
  }
  throw new IsthmusError('INVALID_OPTION', `${file} is not a login that this version can read; log in again`);
}

/** Another process sees the old content or the new one, and never a part. */
async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}.draft`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw new IsthmusError('INVALID_OPTION', `The login cannot be stored in ${file}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function unsafe(folder: string, why: string): IsthmusError {
  return new IsthmusError('INVALID_OPTION', `Logins are not kept in ${folder}: ${why}`);
}
