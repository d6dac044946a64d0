import { type Clock, within } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { fileReason, IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { escapedJson } from '../telemetry/one-line.js';
import type { AuditRecord, AuditSink } from './audit-record.js';
import { RotatingFile } from './rotating-file.js';

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
  await sink.open().catch((error: unknown) => {
    throw new IsthmusError(
      'INVALID_OPTION',
      `The audit log ${options.file} cannot be opened: ${whyNot(error)}`,
      { cause: error },
    );
  });
  return sink;
}

/** The file itself is made if there is none, so what does not exist is its folder. */
function whyNot(error: unknown): string {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'there is no such folder' : fileReason(error);
}

class AuditFile implements AuditSink {
  readonly #options: AuditFileOptions;
  readonly #file: RotatingFile;
  #waiting: WaitingLine[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #writing: Promise<void> | undefined;
  #isFailing = false;
  #isOver = false;

  constructor(options: AuditFileOptions) {
    const { file, maxBytes = MAX_BYTES, keep = KEEP } = options;
    this.#options = options;
    this.#file = new RotatingFile({ file, maxBytes, keep });
  }

  open(): Promise<void> {
    return this.#file.open();
  }

  isActive(): boolean {
    return true;
  }

  write(record: AuditRecord): void {
    const text = `${escapedJson(record)}\n`;
    const bytes = Buffer.byteLength(text);
    if (this.#isOver || this.#waitingBytes + bytes > MAX_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push({ text, bytes });
    this.#waitingBytes += bytes;
    this.#writing ??= this.#writeAll();
  }

  async close(): Promise<void> {
    await within(this.#options.clock, CLOSE_MS, this.#writing ?? Promise.resolve());
    this.#isOver = true;
    await this.#file.close().catch(() => {});
  }

  async #writeAll(): Promise<void> {
    while ((this.#waiting.length > 0 || this.#dropped > 0) && !this.#isOver) {
      try {
        if (this.#waiting.length > 0) await this.#writeSome();
        else await this.#writeDropped();
        if (this.#isFailing) this.#options.warn(`${this.#options.file} can be written again`);
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) {
          this.#options.warn(`the audit log cannot be written: ${messageOf(error)}; records wait`);
        }
        this.#isFailing = true;
        await this.#pause();
      }
    }
    this.#writing = undefined;
  }

  /** So many lines that another process does not write between them. */
  async #writeSome(): Promise<void> {
    let count = 0;
    let size = 0;
    while (count < this.#waiting.length && (count === 0 || size < AT_ONCE))
      size += this.#waiting[count++]!.bytes;
    const some = this.#waiting.slice(0, count);
    const written = await this.#file.append(some.map(({ text }) => text));
    for (const { bytes } of this.#waiting.splice(0, written)) this.#waitingBytes -= bytes;
    if (written < count) throw new Error('the disk is full');
  }

  async #writeDropped(): Promise<void> {
    const dropped = this.#dropped;
    const written = await this.#file.append([
      `${JSON.stringify({ time: new Date().toISOString(), dropped })}\n`,
    ]);
    if (written === 0) throw new Error('the disk is full');
    this.#dropped -= dropped;
  }

  #pause(): Promise<void> {
    const done = createDeferred<void>();
    this.#options.clock.after(RETRY_MS, () => done.resolve(), { background: true });
    return done.promise;
  }
}

interface WaitingLine {
  readonly text: string;
  readonly bytes: number;
}

const MAX_BYTES = 10 * 1024 * 1024;
const KEEP = 5;
const MAX_WAITING = 4 * 1024 * 1024;
const RETRY_MS = 1000;
const CLOSE_MS = 2000;
const AT_ONCE = 64 * 1024;
