import type { Readable, Writable } from 'node:stream';
import { decodeLine, oversizeMessage } from '@isthmus/sdk/internal/wire/codec.js';
import type { RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { createLineReader } from '@isthmus/sdk/internal/wire/lines.js';
import { failureLine, type HostLine, hostLine } from './lines.js';

export interface HostInputEvents {
  /** The host has answered a question. Returns the line for the daemon; undefined when no daemon waits for it. */
  onAnswer(line: Buffer, id: RequestId): Buffer | undefined;
  onLines(lines: readonly HostLine[]): void;
  /** The answer to a line that is too long. */
  onRefused(answer: string): void;
  /** The host has closed its end. All lines were reported before. */
  onEnd(): void;
}

/** Reads the lines of the host. */
export function readHost(input: Readable, maxLineBytes: number, events: HostInputEvents): void {
  let lines: HostLine[] = [];
  let isDue = false;
  const reader = createLineReader({
    maxLineBytes,
    onLine(line) {
      const decoded = decodeLine(line);
      const isAnswer = decoded.kind === 'result' || decoded.kind === 'error';
      const bytes = isAnswer && decoded.id !== undefined ? events.onAnswer(line, decoded.id) : line;
      // `concat` copies: the reader uses the memory of the line again.
      if (bytes) lines.push(hostLine(Buffer.concat([bytes, LINE_FEED]), decoded));
    },
    onOversize(head, tail) {
      const { id, error } = oversizeMessage(head, tail, maxLineBytes);
      events.onRefused(failureLine(id, error));
    },
  });
  /**
   * Reports the lines after all other events of this turn. The end of the daemon may be among those, and then these
   * lines were not sent.
   */
  const reportSoon = () => {
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      const read = lines;
      lines = [];
      events.onLines(read);
    });
  };
  input.on('data', (chunk: Buffer) => {
    reader.push(chunk);
    reportSoon();
  });
  input.once('end', () => {
    reader.end();
    reportSoon();
    setImmediate(() => events.onEnd());
  });
  input.once('error', () => events.onEnd());
}

/** Writes lines to the host. All lines of one turn leave in one write. */
export class HostOutput {
  readonly #output: Pick<Writable, 'write'>;
  #lines: Buffer[] = [];

  constructor(output: Pick<Writable, 'write'>) {
    this.#output = output;
  }

  /** Copies the bytes. */
  add(line: Buffer | string): void {
    this.#lines.push(Buffer.from(line), LINE_FEED);
  }

  /** True while the host takes more. */
  flush(): boolean {
    if (this.#lines.length === 0) return true;
    const isOneLargeLine = this.#lines.length === 2 && this.#lines[0]!.length > LARGE;
    const chunks = isOneLargeLine ? this.#lines : [Buffer.concat(this.#lines)];
    this.#lines = [];
    return chunks.map((chunk) => this.#output.write(chunk)).every(Boolean);
  }

  /** Settles when all lines have left, or can never leave. */
  drained(): Promise<void> {
    this.flush();
    // The callback of an empty write comes after all earlier writes.
    return new Promise((resolve) => void this.#output.write('', () => resolve()));
  }
}

const LINE_FEED = Buffer.from('\n');
/** Not copied once more. */
const LARGE = 1024 * 1024;
