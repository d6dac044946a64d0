import type { Writable } from 'node:stream';

/** The way to the host. All lines of one turn leave in one write. */
export class HostOutput {
  readonly #output: Pick<Writable, 'write'>;
  #lines: Buffer[] = [];

  constructor(output: Pick<Writable, 'write'>) {
    this.#output = output;
  }

  /** The bytes are copied. */
  add(line: Buffer | string): void {
    this.#lines.push(Buffer.from(line), NEWLINE);
  }

  /** True while there is room for more. */
  flush(): boolean {
    if (this.#lines.length === 0) return true;
    const bytes = this.#lines.length === 2 && this.#lines[0]!.length > LARGE ? this.#lines : undefined;
    const all = bytes ?? [Buffer.concat(this.#lines)];
    this.#lines = [];
    return all.map((each) => this.#output.write(each)).every(Boolean);
  }

  /** Settles when all that was written has left, or can never leave. */
  drained(): Promise<void> {
    this.flush();
    // Empty, and behind all that was written before.
    return new Promise((resolve) => void this.#output.write('', () => resolve()));
  }
}

const NEWLINE = Buffer.from('\n');
/** Not worth another copy. */
const LARGE = 1024 * 1024;
