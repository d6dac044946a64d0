import { execFile } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ISTHMUS } from '../../../../test/support/child.js';
import { freeFolder, type Ran } from './isthmus.js';

/** A folder with these files, and those of a home in `home/`. */
export function folderOf(files: Readonly<Record<string, unknown>>): string {
  const folder = realpathSync(freeFolder());
  mkdirSync(join(folder, 'home'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Runs the built program there, with a home and an environment of its own. */
export function isthmusIn(folder: string, ...args: string[]): Promise<Ran> {
  const env = { PATH: process.env['PATH'], HOME: join(folder, 'home') };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [ISTHMUS, ...args],
      { cwd: folder, env, timeout: 20_000 },
      (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
      },
    );
  });
}
