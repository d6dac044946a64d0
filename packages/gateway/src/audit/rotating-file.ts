import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { takeLock } from '@isthmus/sdk/internal/process/lock.js';

export interface RotatingFileOptions {
  readonly file: string;
  /** A file that would get longer is renamed to `FILE.1`, and a new one begins. */
  readonly maxBytes: number;
  /** How many renamed files are kept. */
  readonly keep: number;
}

/**
 * A file of lines that is renamed when it is long. Several processes may write to the same one: each writes whole lines at the
 * end, and sees that another one has renamed the file. A line that was cut, by a crash or a full disk, does not spoil the next.
 */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #handle: FileHandle | undefined;
  /** Which file the handle has. */
  #mark: string | undefined;
  /** The file may end within a line. */
  #isTorn = false;

  constructor(options: RotatingFileOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    const { file } = this.#options;
    this.#handle = await open(file, 'a', 0o600);
    const facts = await this.#handle.stat();
    this.#mark = markOf(facts);
    this.#isTorn = facts.isFile() && facts.size > 0 && !(await endsLine(file, facts.size));
  }

  /** Appends whole lines. Returns how many of them are in the file; less than all if the disk is full. */
  async append(lines: readonly string[]): Promise<number> {
    const size = await this.#follow();
    const bytes = lines.map((line) => Buffer.from(line));
    const total = bytes.reduce((sum, each) => sum + each.length, 0);
    if (size > 0 && size + total > this.#options.maxBytes) await this.#rotate(total);
    const begin = this.#isTorn ? [NEW_LINE] : [];
    const { bytesWritten } = await this.#handle!.write(Buffer.concat([...begin, ...bytes]));
    let left = bytesWritten - (begin.length > 0 ? 1 : 0);
    if (left >= 0) this.#isTorn = false;
    let written = 0;
    while (written < bytes.length && left >= bytes[written]!.length) left -= bytes[written++]!.length;
    if (left > 0) this.#isTorn = true;
    return written;
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  /** Opens the file again if it is another one now. Returns its size. */
  async #follow(): Promise<number> {
    const facts = await stat(this.#options.file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (this.#handle && facts && markOf(facts) === this.#mark) return facts.size;
    await this.close();
    await this.open();
    return (await this.#handle!.stat()).size;
  }

  /** One process at a time, so that the older files do not move twice. */
  async #rotate(coming: number): Promise<void> {
    const { file, keep, maxBytes } = this.#options;
    const release = await takeLock(dirname(file), `${basename(file)}.lock`, LOCK_MS);
    try {
      const size = await this.#follow();
      if (size === 0 || size + coming <= maxBytes) return;
      await this.close();
      await rm(`${file}.${keep}`, { force: true });
      for (let at = keep - 1; at >= 1; at -= 1) {
        await rename(`${file}.${at}`, `${file}.${at + 1}`).catch(() => {});
      }
      if (keep > 0) await rename(file, `${file}.1`);
      else await rm(file, { force: true });
      await this.open();
    } finally {
      release();
    }
  }
}

function markOf({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${dev} ${ino}`;
}

async function endsLine(file: string, size: number): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0] === NEW_LINE[0];
  } finally {
    await handle.close();
  }
}

const NEW_LINE = Buffer.from('\n');
const LOCK_MS = 5000;
