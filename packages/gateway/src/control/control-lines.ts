import type { Socket } from 'node:net';
import { createLineReader } from '@isthmus/sdk/internal/wire/lines.js';

export interface ControlLinesOptions {
  readonly maxLineBytes: number;
  readonly onLine: (line: string) => void;
  /** A line that was too long has been skipped. */
  readonly onOversize: () => void;
  readonly onEnd: () => void;
}

/** The lines of a socket, for as long as it speaks in lines. */
export interface ControlLines {
  /**
   * Stops reading, also in the middle of a chunk: what came behind the last line is returned, and what comes later
   * stays in the socket, which is paused, for whoever reads it next.
   */
  release(): Buffer;
}

export function readControlLines(socket: Socket, options: ControlLinesOptions): ControlLines {
  const { maxLineBytes, onLine, onOversize, onEnd } = options;
  let released = false;
  let rest: Buffer = Buffer.alloc(0);
  // The reader is fed one line at a time, so that nothing behind a line is taken before the line has been heard.
  let isLineOpen = false;
  const reader = createLineReader({
    maxLineBytes,
    onLine: (bytes) => onLine(bytes.toString('utf8')),
    onOversize,
  });
  const onData = (chunk: Buffer) => {
    let start = 0;
    while (start < chunk.length && !released) {
      const newline = chunk.indexOf(10, start);
      const end = newline < 0 ? chunk.length : newline + 1;
      isLineOpen = newline < 0;
      const piece = chunk.subarray(start, end);
      start = end;
      rest = chunk.subarray(end);
      reader.push(piece);
    }
  };
  const onFinish = () => {
    if (isLineOpen) reader.end();
    if (!released) onEnd();
  };
  socket.on('data', onData);
  socket.on('end', onFinish);
  return {
    release() {
      released = true;
      socket.off('data', onData);
      socket.off('end', onFinish);
      socket.pause();
      return rest;
    },
  };
}
