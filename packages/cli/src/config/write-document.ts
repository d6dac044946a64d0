import { randomBytes } from 'node:crypto';
import { realpath, rename, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { knownFiles, type Whereabouts } from '@isthmus/sdk/internal/config/index.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { usageError } from '../cli-error.js';
import { writeHint } from '../explain-write.js';

/** Writes a new file, for its owner only: what was copied into it may be secret. */
export async function writeDocument(
  file: string,
  text: string,
  force: boolean,
  where: Whereabouts = {},
): Promise<void> {
  const path = resolve(where.cwd ?? '.', file);
  await refuseForeign(path, where);
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    if (!force) return await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    // All or nothing: whoever reads the old one meanwhile never sees half of the new one.
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
    await rename(temporary, path);
  } catch (error) {
    if (force) await rm(temporary, { force: true });
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      throw usageError(`${file} is there already`, 'Give another name, or --force to replace it');
    }
    throw usageError(`${file} cannot be written: ${messageOf(error)}`, writeHint(error));
  }
}

/** The files of others are read and never written, whatever one is told. */
async function refuseForeign(path: string, where: Whereabouts): Promise<void> {
  const real = await realpath(path).catch(() => path);
  for (const known of knownFiles(where)) {
    const theirs = await realpath(known.path).catch(() => known.path);
    if (real !== theirs && path !== known.path) continue;
    throw usageError(
      `${path} belongs to ${known.application}, and is not written`,
      'Give a file of your own: --output isthmus.json',
    );
  }
}
