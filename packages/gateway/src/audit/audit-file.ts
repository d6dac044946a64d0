import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { type Clock, within } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { AuditRecord, AuditSink } from './audit-record.js';

export interface AuditFileOptions {
  readonly file: string;
  /** A file that would get longer is renamed to `FILE.1`, and a new one begins. Default 10 MiB. */
  readonly maxBytes?: number | undefined;
  /** How many renamed files are kept. Default 5. */
  readonly keep?: number | undefined;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
}

/**
 * Appends records to a file, one line of JSON each, in order. While the file cannot be written, records wait, up to 4 MiB;
 * what does not fit is counted, and the count is written when the file works again.
 */
export async function openAuditFile(options: AuditFileOptions): Promise<AuditSink> {
  const sink = new AuditFile(options);
  // A log that cannot be opened at the start is an error of the operator.
  await sink.open();
  return sink;
}

class AuditFile implements AuditSink {
  readonly #options: AuditFileOptions;
  #handle: FileHandle | undefined;
  #size = 0;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #writing: Promise<void> | undefined;
  #isFailing = false;
  #isOver = false;

  constructor(options: AuditFileOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    this.#handle = await open(this.#options.file, 'a', 0o600);
    this.#size = (await this.#handle.stat()).size;
  }

  isActive(): boolean {
    return true;
  }

  write(record: AuditRecord): void {
    const line = `${JSON.stringify(record)}\n`;
    if (this.#isOver || this.#waitingBytes + line.length > MAX_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    this.#writing ??= this.#writeAll();
  }

  async close(): Promise<void> {
    await within(this.#options.clock, CLOSE_MS, this.#writing ?? Promise.resolve());
    this.#isOver = true;
    await this.#handle?.close().catch(() => {});
    this.#handle = undefined;
  }

  async #writeAll(): Promise<void> {
    while ((this.#waiting.length > 0 || this.#dropped > 0) && !this.#isOver) {
      const lines = this.#waiting;
      const dropped = this.#dropped;
      if (dropped > 0) lines.push(`${JSON.stringify({ time: new Date().toISOString(), dropped })}\n`);
      this.#waiting = [];
      try {
        await this.#append(lines.join(''));
        this.#dropped -= dropped;
        this.#waitingBytes = this.#waiting.reduce((sum, line) => sum + line.length, 0);
        if (this.#isFailing) this.#options.warn(`${this.#options.file} can be written again`);
        this.#isFailing = false;
      } catch (error) {
        if (dropped > 0) lines.pop();
        this.#waiting = [...lines, ...this.#waiting];
        if (!this.#isFailing) {
          this.#options.warn(`the audit log cannot be written: ${messageOf(error)}; records wait`);
        }
        this.#isFailing = true;
        await this.#pause();
      }
    }
    this.#writing = undefined;
  }

  async #append(text: string): Promise<void> {
    const { maxBytes = MAX_BYTES } = this.#options;
    const bytes = Buffer.byteLength(text);
    if (this.#size > 0 && this.#size + bytes > maxBytes) await this.#rotate();
    if (!this.#handle) await this.open();
    await this.#handle!.appendFile(text);
    this.#size += bytes;
  }

  async #rotate(): Promise<void> {
    const { file, keep = KEEP } = this.#options;
    await this.#handle?.close();
    this.#handle = undefined;
    await rm(`${file}.${keep}`, { force: true });
    for (let at = keep - 1; at >= 1; at -= 1) {
      await rename(`${file}.${at}`, `${file}.${at + 1}`).catch(() => {});
    }
    if (keep > 0) await rename(file, `${file}.1`);
    else await rm(file, { force: true });
    this.#size = 0;
  }

  #pause(): Promise<void> {
    const done = createDeferred<void>();
    this.#options.clock.after(RETRY_MS, () => done.resolve(), { background: true });
    return done.promise;
  }
}

const MAX_BYTES = 10 * 1024 * 1024;
const KEEP = 5;
const MAX_WAITING = 4 * 1024 * 1024;
const RETRY_MS = 1000;
const CLOSE_MS = 2000;
