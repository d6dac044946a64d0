import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { Message } from '../../../../test/support/messages.js';
import { until } from '../../../../test/support/until.js';
import { runShim, type ShimOptions } from '../../src/daemon/shim/shim.js';

/** The daemon's end of a stream that the shim has attached, played by the test. */
export interface Daemon {
  readonly lines: Message[];
  /** Lines that are no objects. */
  readonly noise: string[];
  say(...messages: object[]): void;
  write(text: string): void;
  /** Dies: what was said before arrives, and nothing else. */
  die(): void;
  /** The shim has let go, or it has died itself. */
  readonly closed: Promise<void>;
}

/** A shim between a host and daemons, both played by the test, over real streams. */
export async function startShim(options: Partial<ShimOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-shim-'));
  const path = join(folder, 's');
  const daemons: Daemon[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    daemons.push(playDaemon(socket));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const input = new PassThrough();
  const output = new PassThrough();
  const host: Message[] = [];
  collect(output, (text) => host.push(JSON.parse(text) as Message));
  const troubles: unknown[] = [];
  const shim = runShim({
    name: 'weather',
    input,
    output,
    attach: () =>
      new Promise((resolve, reject) => {
        const stream = connect({ path, allowHalfOpen: true });
        stream.once('error', reject);
        stream.once('connect', () => {
          stream.pause();
          resolve({ stream, leftover: Buffer.alloc(0), result: undefined });
        });
      }),
    isAlive: async () => true,
    onTrouble: (error) => troubles.push(error),
    ...options,
  });
  onTestFinished(async () => {
    input.end();
    for (const socket of sockets) socket.destroy();
    server.close();
    await shim.ended;
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    shim,
    troubles,
    /** What the host has seen. */
    host,
    send(...messages: object[]) {
      for (const message of messages) input.write(`${JSON.stringify(message)}\n`);
    },
    input,
    /** The daemon that was attached as the nth, when it is there. */
    daemon: (number: number) => until('the daemon is reached', () => daemons[number - 1]),
    daemons,
    /** The line that the host gets for a request. */
    answer: (id: string | number) =>
      until('the answer', () => host.find((message) => message.id === id && message.method === undefined)),
  };
}

/** The first line with this method that a side has got. */
export function heard(lines: readonly Message[], method: string): Promise<Message> {
  return until(method, () => lines.find((message) => message.method === method));
}

function playDaemon(socket: Socket): Daemon {
  const lines: Message[] = [];
  socket.on('error', () => {});
  const noise: string[] = [];
  collect(socket, (text) => {
    if (text.startsWith('{')) lines.push(JSON.parse(text) as Message);
    else noise.push(text);
  });
  return {
    lines,
    noise,
    say(...messages) {
      for (const message of messages) socket.write(`${JSON.stringify(message)}\n`);
    },
    write: (text) => void socket.write(text),
    die: () => socket.destroySoon(),
    closed: new Promise((resolve) => {
      socket.once('end', resolve);
      socket.once('close', resolve);
    }),
  };
}

function collect(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop()!;
    for (const line of lines) onLine(line);
  });
}
