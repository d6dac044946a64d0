import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import type { TargetView } from '../contract.js';
import type { ConsoleRecords } from '../inspect/console-records.js';
import { callLine, connectionLine, frameLine, headLine, type TraceRedactor } from './write-trace.js';

export interface TraceRecorderOptions {
  readonly path: string;
  readonly target: Pick<TargetView, 'label' | 'kind'>;
  /** Removes secrets from all that is written. */
  readonly redactor: TraceRedactor;
  /** The file has reached its bound, or cannot be written any more. */
  onStopped(why: string): void;
}

/** Writes all frames into a trace file while they come. */
export interface TraceRecorder {
  /** Writes what is left, and closes the file. */
  close(): Promise<void>;
}

/** Rejects where the file exists already or cannot be made. Only the user can read the file. */
export async function recordTrace(
  records: ConsoleRecords,
  options: TraceRecorderOptions,
): Promise<TraceRecorder> {
  const { path, target, redactor } = options;
  const stream = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  await once(stream, 'open');
  const recording = new Recording(records, stream, options);
  recording.write(`${redactor.json(headLine(records.began, target, true).trimEnd())}\n`);
  recording.begin();
  return recording;
}

class Recording implements TraceRecorder {
  readonly #records: ConsoleRecords;
  readonly #stream: WriteStream;
  readonly #options: TraceRecorderOptions;
  readonly #stop: (() => void)[] = [];
  #next = 1;
  #isOver = false;

  constructor(records: ConsoleRecords, stream: WriteStream, options: TraceRecorderOptions) {
    this.#records = records;
    this.#stream = stream;
    this.#options = options;
    stream.on('error', (error) => this.#end(`${options.path} cannot be written: ${error.message}`));
  }

  begin(): void {
    const { ring, connections, calls } = this.#records;
    const { redactor } = this.#options;
    this.#stop.push(
      ring.watch(() => this.#frames()),
      connections.watch((view) => this.write(connectionLine(view, redactor))),
      calls.changes.watch((row) => row.state === 'done' && this.write(callLine(row, redactor))),
    );
    this.#frames();
  }

  write(line: string): void {
    if (this.#isOver) return;
    this.#stream.write(line);
    if (this.#stream.bytesWritten > MAX_FILE_BYTES)
      this.#end(`${this.#options.path} has ${MAX_FILE_BYTES} bytes: the rest is not recorded`);
    else if (this.#stream.writableLength > MAX_WAITING)
      this.#end(`${this.#options.path} cannot be written as fast as frames come: the rest is not recorded`);
  }

  async close(): Promise<void> {
    // The first and the last frame of each connection are known now.
    for (const view of this.#records.connections.all())
      this.write(connectionLine(view, this.#options.redactor));
    this.#end(undefined);
    if (!this.#stream.closed) await once(this.#stream, 'close');
  }

  #frames(): void {
    const { ring } = this.#records;
    for (this.#next = Math.max(this.#next, ring.first); this.#next <= ring.last; this.#next += 1) {
      const frame = ring.get(this.#next);
      if (frame) this.write(frameLine(ring, frame, this.#options.redactor));
    }
  }

  #end(why: string | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const stop of this.#stop.splice(0)) stop();
    this.#stream.end();
    if (why !== undefined) this.#options.onStopped(why);
  }
}

/** What `isthmus inspect FILE` reads. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
const MAX_WAITING = 16 * 1024 * 1024;
