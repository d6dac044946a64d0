import { type AddressInfo, connect, createServer } from 'node:net';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { type ChildOptions, spawnChild } from '@isthmus/sdk/internal/process/spawn-child.js';
import type { Report } from '../model.js';
import { type CheckOptions, survey, surveyAndCheck } from '../run/check-server.js';
import { type CheckTarget, commandTarget, httpTarget } from '../wire/targets.js';
import { compare } from './compare.js';
import type { Difference } from './differences.js';

/** The reports of a server by itself and behind a bridge. */
export interface ThroughReport {
  readonly direct: Report;
  readonly through: Report;
  readonly differences: readonly Difference[];
}

/** Runs the same checks directly and through the bridge, and reports the differences. Rejects if `signal` stops the first run. */
export async function checkThrough(
  direct: CheckTarget,
  through: CheckTarget,
  options: CheckOptions = {},
): Promise<ThroughReport> {
  // Checks that generate input get the same input in both runs.
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31);
  const run = { inTurn: true, ...options, seed };
  const first = await surveyAndCheck(direct, run);
  options.signal?.throwIfAborted();
  // A second survey shows what varies without a bridge.
  const again = await survey(direct, run);
  const second = await surveyAndCheck(through, run);
  return { direct: first.report, through: second.report, differences: compare(first, again, second) };
}

/** How to start a bridge or gateway in front of a server, so that both can be checked. */
export interface CheckedBridgeOptions extends Pick<ChildOptions, 'cwd' | 'env' | 'inheritEnv'> {
  /**
   * Its command and arguments. `{command...}` becomes the command and the arguments of the server, `{command}` the same as
   * one argument, `{url}` the address of the server, `{port}` a free port. A bridge with `{port}` is called over HTTP, others
   * over stdio. Without `{command}` and `{url}`, the server is appended.
   */
  readonly words: readonly string[];
  /** The server behind the bridge. */
  readonly server: { readonly command?: readonly string[]; readonly url?: string };
  /** The path of MCP on a bridge with a port. Default `/mcp`. */
  readonly path?: string;
  /** How long the bridge may take until it listens, in milliseconds. Default 20,000. */
  readonly startMs?: number;
  readonly clock?: Clock;
}

/** A running bridge. */
export interface StartedBridge {
  readonly target: CheckTarget;
  close(): Promise<void>;
}

/** Starts a bridge in front of a server, and resolves when it can be called. */
export async function startBridge(options: CheckedBridgeOptions): Promise<StartedBridge> {
  const { cwd, env, inheritEnv, path = '/mcp' } = options;
  const isHttp = options.words.some((word) => word.includes('{port}'));
  const port = isHttp ? await freePort() : 0;
  const [command, ...args] = fillIn(options, port);
  if (command === undefined) throw new IsthmusError('INVALID_OPTION', '--through has no command');
  const child: ChildOptions = {
    command,
    args,
    ...(cwd !== undefined && { cwd }),
    ...(env && { env }),
    ...(inheritEnv !== undefined && { inheritEnv }),
  };
  const label = [command, ...args].join(' ');
  if (!isHttp) return { target: commandTarget({ ...child, label }), close: async () => {} };
  // A bridge that listens on a port may ignore the end of its input.
  const bridge = spawnChild({ ...child, shutdown: { closeMs: 100, termMs: 3000 } });
  // Its output is not used, but a full pipe would block it.
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

/** The command of the bridge with the server filled in, or appended. */
function fillIn({ words, server }: CheckedBridgeOptions, port: number): string[] {
  const { command = [], url } = server;
  const named = words.some((word) => /\{(command(\.\.\.)?|url)\}/.test(word));
  if (words.some((word) => word.includes('{url}')) && url === undefined) {
    throw new IsthmusError('INVALID_OPTION', 'The bridge has {url}, but the target is a command');
  }
  if (words.some((word) => /\{command/.test(word)) && command.length === 0) {
    throw new IsthmusError('INVALID_OPTION', 'The bridge has {command}, but the target is a URL');
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

/** Waits until the bridge listens. */
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
