import type { Duplex } from 'node:stream';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { createLineReader } from '@isthmus/sdk/internal/wire/lines.js';
import { streamTarget } from '../../../src/index.js';
import { duplexPair, type StreamTarget } from '../../../src/wire/targets.js';
import { serveDemo } from './demo-target.js';
import type { Middle, MiddleIo } from './mutant.js';

/** The demo behind a man in the middle. */
export async function middleTarget(
  makeMiddle: () => Middle,
): Promise<{ target: StreamTarget; close(): Promise<void> }> {
  const demo = await serveDemo();
  return {
    target: streamTarget('a mutant, in memory', () => {
      const [near, far] = duplexPair();
      stand(far, demo.connect(), makeMiddle());
      return near;
    }),
    close: demo.close,
  };
}

/** Passes lines on in both directions, but for what the hooks make of them. */
export function stand(referee: Duplex, server: Duplex, middle: Middle): void {
  const write = (stream: Duplex, text: string | Buffer) => {
    if (stream.writable) stream.write(text);
  };
  const io: MiddleIo = {
    reply: (message) => write(referee, `${JSON.stringify(message)}\n`),
    raw: (bytes) => write(referee, bytes),
    forward: (message) => write(server, `${JSON.stringify(message)}\n`),
    destroy() {
      referee.destroy();
      server.destroy();
    },
    stopReading: () => void referee.pause(),
  };
  const look = (bytes: Buffer) => (middle.incomingBytes ? middle.incomingBytes(bytes, io) : bytes);
  pass(referee, look, (bytes) => {
    const line = bytes.toString('utf8');
    for (const text of listOf(middle.incomingLine ? middle.incomingLine(line, io) : line)) {
      const message = middle.incoming && objectIn(text);
      // What nobody has changed stays what it was, to the byte.
      if (!message) write(server, Buffer.concat([text === line ? bytes : Buffer.from(text), NEWLINE]));
      else for (const next of listOf(middle.incoming!(message, io))) io.forward(next);
    }
  });
  pass(
    server,
    (bytes) => bytes,
    (bytes) => {
      const message = middle.outgoing && objectIn(bytes.toString('utf8'));
      if (!message) write(referee, Buffer.concat([bytes, NEWLINE]));
      else for (const next of listOf(middle.outgoing!(message, io))) io.reply(next);
    },
  );
  referee.on('end', () => {
    if (middle.inputEnd?.(io) !== false) server.end();
  });
  server.on('end', () => referee.end());
  for (const stream of [referee, server]) stream.on('error', () => {});
  middle.opened?.(io);
}

const NEWLINE = Buffer.from('\n');

function pass(
  stream: Duplex,
  look: (bytes: Buffer) => Buffer | undefined,
  onLine: (line: Buffer) => void,
): void {
  const reader = createLineReader({
    maxLineBytes: 256 * 1024 * 1024,
    onLine: (bytes) => onLine(Buffer.from(bytes)),
    onOversize: () => {},
  });
  stream.on('data', (chunk: Buffer) => {
    const seen = look(chunk);
    if (seen) reader.push(seen);
  });
  stream.on('end', () => reader.end());
}

function listOf<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}

function objectIn(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
