import { type AddressInfo, connect, createServer } from 'node:net';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { type ChildOptions, spawnChild } from '@isthmus/sdk/internal/process/spawn-child.js';
import type { Report } from '../model.js';
import { type CheckOptions, survey, surveyAndCheck } from '../run/check-server.js';
import { type CheckTarget, commandTarget, httpTarget } from '../wire/targets.js';
import { compare } from './compare.js';
import type { Difference } from './differences.js';

/** A server judged twice: by itself, and behind a bridge. */
export interface ThroughReport {
  readonly direct: Report;
  readonly through: Report;
  readonly differences: readonly Difference[];
}

/** Runs the same checks on both ways, and says what is not the same. Rejects when `signal` stops it on the first. */
export async function checkThrough(
  direct: CheckTarget,
  through: CheckTarget,
  options: CheckOptions = {},
): Promise<ThroughReport> {
  // The same input for both, where checks make up their own.
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31);
  const run = { inTurn: true, ...options, seed };
  const first = await surveyAndCheck(direct, run);
  options.signal?.throwIfAborted();
  // What varies by itself shows in a second look.
  const again = await survey(direct, run);
  const second = await surveyAndCheck(through, run);
  return { direct: first.report, through: second.report, differences: compare(first, again, second) };
}

export interface CheckedBridgeOptions extends Pick<ChildOptions, 'cwd' | 'env' | 'inheritEnv'> {
  /**
   * The words of its command line. `{command...}` becomes the words of the server's command, `{command}` the same in
   * one word, `{url}` its address, `{port}` a free port: a bridge with `{port}` is talked to over HTTP, others over stdio.
   * Words that name neither `{command}` nor `{url}` have it at their end.
   */
  readonly words: readonly string[];
  /** What stands behind it. */
  readonly server: { readonly command?: readonly string[]; readonly url?: string };
  /** Where a bridge with a port answers. Default `/mcp`. */
  readonly path?: string;
  /** How long it may take to listen. Default 20,000. */
  readonly startMs?: number;
  readonly clock?: Clock;
}

/** A bridge that is ready to be judged, and the end of it. */
export interface StartedBridge {
  readonly target: CheckTarget;
  close(): Promise<void>;
}

export async function startBridge(options: CheckedBridgeOptions): Promise<StartedBridge> {
  const { cwd, env, inheritEnv, path = '/mcp' } = options;
  const isHttp = options.words.some((word) => word.includes('{port}'));
  const port = isHttp ? await freePort() : 0;
  const [command, ...args] = fillIn(options, port);
  if (command === undefined) throw new IsthmusError('INVALID_OPTION', 'The bridge has no command');
  const child: ChildOptions = {
    command,
    args,
    ...(cwd !== undefined && { cwd }),
    ...(env && { env }),
    ...(inheritEnv !== undefined && { inheritEnv }),
  };
  const label = [command, ...args].join(' ');
  if (!isHttp) return { target: commandTarget({ ...child, label }), close: async () => {} };
  // Who listens on a port has no reason to mind the end of its input.
  const bridge = spawnChild({ ...child, shutdown: { closeMs: 100, termMs: 3000 } });
  // Its output is not for us, and must not hold it up.
  bridge.stdout.resume();
  try {
    await listening(port, bridge.exited, options);
  } catch (error) {
    await bridge.stop();
    const evidence = bridge.stderr.tail(2000).trim().split('\n').slice(-5);
    throw new IsthmusError('CANNOT_START', `The bridge "${label}" ${(error as Error).message}`, { evidence });
  }
  return {
    target: httpTarget(`http://127.0.0.1:${port}${path}`, { label }),
    async close() {
      await bridge.stop();
    },
  };
}

/** The words with the server in its place; where they do not name it, it stands at the end. */
function fillIn({ words, server }: CheckedBridgeOptions, port: number): string[] {
  const { command = [], url } = server;
  const named = words.some((word) => /\{(command(\.\.\.)?|url)\}/.test(word));
  if (words.some((word) => word.includes('{url}')) && url === undefined) {
    throw new IsthmusError('INVALID_OPTION', 'The bridge wants a {url}, and the target is a command');
  }
  if (words.some((word) => /\{command/.test(word)) && command.length === 0) {
    throw new IsthmusError('INVALID_OPTION', 'The bridge wants a {command}, and the target is an address');
  }
  const filled = words.flatMap((word) => {
    if (word === '{command...}') return command;
    return [
      word
        .replaceAll(/\{command(\.\.\.)?\}/g, () => command.map(quote).join(' '))
        .replaceAll('{url}', () => url ?? '')
        .replaceAll('{port}', String(port)),
    ];
  });
  if (named) return filled;
  if (command.length > 0) return [...filled, '--', ...command];
  return url === undefined ? filled : [...filled, url];
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Waits until somebody listens. */
async function listening(
  port: number,
  exited: Promise<{ readonly code: number | null; readonly error?: Error }>,
  { startMs = 20_000, clock = systemClock }: CheckedBridgeOptions,
): Promise<void> {
  let end: string | undefined;
  void exited.then(({ code, error }) => {
    end = error ? `could not be started: ${error.message}` : `exited with code ${code} before it listened`;
  });
  const until = clock.now() + startMs;
  while (clock.now() < until) {
    if (await canConnect(port)) return;
    if (end !== undefined) throw new Error(end);
    await new Promise<void>((resolve) => clock.after(50, resolve));
  }
  throw new Error(`did not listen on port ${port} within ${startMs} ms`);
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
