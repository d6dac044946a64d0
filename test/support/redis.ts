import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './until.js';

/** Where redis-server is not installed, tests with it are skipped. In CI it is required: ISTHMUS_REDIS=required. */
export const hasRedis =
  process.env['ISTHMUS_REDIS'] === 'required' || spawnSync('redis-server', ['--version']).error === undefined;

export interface RunningRedis {
  readonly url: string;
  readonly port: number;
  readonly process: ChildProcess;
  /** Sends commands as a person would type them, and returns the answers as redis-cli prints them. */
  command(...words: readonly string[]): Promise<string>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Not one of those that the system gives to connections: it could be taken before the test uses it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_240 + Math.floor(Math.random() * 22_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** Starts a real redis-server that keeps nothing on disk. */
export async function startRedis(
  options: { readonly port?: number; readonly args?: readonly string[] } = {},
): Promise<RunningRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-redis-'));
  const port = options.port ?? (await freePort());
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', [...args, '--dir', folder, ...(options.args ?? [])], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'close');
  const command = (...words: readonly string[]) => sendCommand(port, words);
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
    return command('PING');
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    process: child,
    command,
    async stop(signal = 'SIGKILL') {
      child.kill('SIGCONT');
      child.kill(signal);
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A tiny client of its own, so that the one under test is not trusted. It reads until the answer is whole. */
export async function sendCommand(port: number, words: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.write(
      `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
    );
    let text = '';
    for await (const chunk of socket) {
      text += String(chunk);
      const answer = readAnswer(text, 0);
      if (answer) return answer.text;
    }
    throw new Error(`redis-server closed the connection: ${text}`);
  } finally {
    socket.destroy();
  }
}

function readAnswer(text: string, from: number): { text: string; end: number } | undefined {
  const line = text.indexOf('\r\n', from);
  if (line < 0) return undefined;
  const kind = text[from]!;
  const rest = text.slice(from + 1, line);
  const after = line + 2;
  if (kind === '-') throw new Error(rest);
  if (kind === '+' || kind === ':') return { text: rest, end: after };
  const count = Number(rest);
  if (count < 0) return { text: '', end: after };
  if (kind === '$') {
    const end = after + count + 2;
    return text.length < end ? undefined : { text: text.slice(after, after + count), end };
  }
  const items: string[] = [];
  let at = after;
  for (let index = 0; index < count; index += 1) {
    const item = readAnswer(text, at);
    if (!item) return undefined;
    items.push(item.text);
    at = item.end;
  }
  return { text: items.join('\n'), end: at };
}
