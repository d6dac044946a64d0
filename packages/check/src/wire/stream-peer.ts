import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { createLineReader } from '@isthmus/sdk/internal/wire/lines.js';
import type { Pipe, PipeProcess, StreamTarget } from './targets.js';
import { createTranscript, type WireTranscript } from './transcript.js';

/** One connection to a server on a stream. It can send anything, also invalid input. */
export interface StreamPeer {
  readonly transcript: WireTranscript;
  readonly process: PipeProcess | undefined;
  /** One line. */
  send(message: unknown): void;
  /** Sends a line unchanged, and adds the newline. */
  sendLine(text: string | Buffer): void;
  /** Sends bytes unchanged. Resolves with true when they are written, or with false after `ms`. */
  sendBytes(bytes: Buffer | string, ms?: number): Promise<boolean>;
  /** Sends bytes in separate writes of `size` bytes, with a pause of `pauseMs` after each. */
  sendInPieces(bytes: Buffer, size: number, pauseMs?: number): Promise<void>;
  /** Ends the input of the server, and continues to read. */
  endInput(): void;
  /** Closes both directions at once, like a client that was killed. */
  vanish(): void;
  /** Stops reading until `resume`. */
  pause(): void;
  resume(): void;
  /** Settles when the server has ended its output. */
  readonly ended: Promise<void>;
  readonly hasEnded: boolean;
  close(): Promise<void>;
}

export async function openStreamPeer(
  target: StreamTarget,
  clock: Clock,
  label = target.label,
): Promise<StreamPeer> {
  return streamPeerOn(await target.open(), clock, label);
}

export function streamPeerOn(pipe: Pipe, clock: Clock, label: string): StreamPeer {
  const transcript = createTranscript(label, clock);
  const reader = createLineReader({
    maxLineBytes: MAX_LINE_BYTES,
    onLine: (bytes) => transcript.add('server', bytes.toString('utf8')),
    onOversize: (head) =>
      transcript.add('server', `${head.toString('utf8')}… (over ${MAX_LINE_BYTES} bytes)`),
  });
  const end = () => {
    reader.end();
    transcript.end();
  };
  let first = Buffer.alloc(0);
  pipe.input.on('data', (chunk: Buffer) => {
    // The line reader skips a byte order mark, as a client should. It is still a fault of the server.
    if (first.length < BYTE_ORDER_MARK.length) {
      first = Buffer.concat([first, chunk.subarray(0, BYTE_ORDER_MARK.length)]);
      transcript.hasByteOrderMark ||= first.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    }
    reader.push(chunk);
  });
  pipe.input.once('end', end);
  pipe.input.once('close', end);
  // The end of the stream follows an error, and is handled.
  pipe.input.on('error', () => {});
  pipe.output.on('error', () => {});
  void pipe.process?.exited.then(({ code, signal }) => {
    transcript.note(`the process exited with ${signal ?? `code ${code}`}`);
  });

  const write = (bytes: string | Buffer) => {
    if (pipe.output.writable) pipe.output.write(bytes);
  };
  return {
    transcript,
    process: pipe.process,
    ended: transcript.ended,
    get hasEnded() {
      return transcript.hasEnded;
    },
    send(message) {
      const text = JSON.stringify(message);
      transcript.add('check', text);
      write(`${text}\n`);
    },
    sendLine(line) {
      transcript.add('check', line.toString());
      write(typeof line === 'string' ? `${line}\n` : Buffer.concat([line, Buffer.from('\n')]));
    },
    sendBytes(bytes, ms = 10_000) {
      transcript.note(describeBytes(bytes));
      if (!pipe.output.writable) return Promise.resolve(false);
      return new Promise((resolve) => {
        const callOff = clock.after(ms, () => resolve(false));
        pipe.output.write(bytes, (error) => {
          callOff();
          resolve(!error);
        });
      });
    },
    async sendInPieces(bytes, size, pauseMs = 0) {
      transcript.note(`${describeBytes(bytes)}, ${size} at a time`);
      for (let at = 0; at < bytes.length; at += size) {
        write(bytes.subarray(at, at + size));
        if (pauseMs > 0) await new Promise<void>((resolve) => void clock.after(pauseMs, resolve));
        else await nextTurn();
      }
    },
    endInput() {
      transcript.note('end of input');
      pipe.output.end();
    },
    vanish() {
      transcript.note('disconnects abruptly');
      pipe.output.destroy();
      pipe.input.destroy();
    },
    pause: () => void pipe.input.pause(),
    resume: () => void pipe.input.resume(),
    async close() {
      await pipe.close();
      transcript.end();
    },
  };
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A server under test must not fill the memory of the referee. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

function describeBytes(bytes: Buffer | string): string {
  if (typeof bytes === 'string')
    return `sends ${bytes.length} characters: ${JSON.stringify(bytes.slice(0, 200))}`;
  return `sends ${bytes.length} bytes: ${JSON.stringify(bytes.subarray(0, 200).toString('latin1'))}`;
}
