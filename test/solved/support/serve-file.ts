import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { GatewayStatus } from '@isthmus/gateway/internal/server-state.js';
import { readAllStats } from '@isthmus/sdk/internal/process/proc-stat.js';
import { type Answer, ask } from '../../../packages/sdk/test/support/http-server.js';
import { ISTHMUS } from '../../support/child.js';
import { until } from '../../support/until.js';

/** What stands in a file for one server. */
export type Entry = Readonly<Record<string, unknown>>;

export interface ServedFile {
  readonly pid: number;
  readonly url: string;
  readonly folder: string;
  /** The variables that commands need to find it. */
  readonly env: Readonly<Record<string, string>>;
  at(path: string): string;
  get(path: string): Promise<Answer>;
  status(): Promise<GatewayStatus>;
  /** What it has said on stderr. */
  log(): string;
  /** Writes another file in the place of the one it reads. */
  rewrite(content: object | string): void;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<readonly [code: number | null, signal: NodeJS.Signals | null]>;
  /** Ends it and all that it has started, however it is. */
  reap(): Promise<void>;
}

export interface ServeFileOptions {
  readonly args?: readonly string[];
  /** Words in front of the command, such as those that make it another user. */
  readonly before?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The program. */
  readonly program?: string;
}

/** `isthmus serve --config FILE --port 0 --json` as a process of its own. Whoever starts it reaps it. */
export async function serveFile(
  servers: Readonly<Record<string, Entry>>,
  { args = [], before = [], env = {}, program = ISTHMUS }: ServeFileOptions = {},
): Promise<ServedFile> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-file-'));
  const file = join(folder, 'servers.json');
  const rewrite = (content: object | string) => {
    const text = typeof content === 'string' ? content : JSON.stringify({ mcpServers: content });
    writeFileSync(`${file}.next`, text);
    renameSync(`${file}.next`, file);
  };
  rewrite(servers);
  // What it remembers and notes down must not outlive the test.
  const own = {
    ISTHMUS_RUNTIME_DIR: join(folder, 'run'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_STATE_HOME: join(folder, 'state'),
    ...env,
  };
  const words = [...before, process.execPath, program, 'serve', '--config', file, '--port', '0', '--json'];
  const child = spawn(words[0]!, [...words.slice(1), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...own },
  });
  everyChild.add(child);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const reap = async () => {
    const group = descendantsOf(child.pid!);
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
    everyChild.delete(child);
    for (const pid of group) endQuietly(pid);
    rmSync(folder, { recursive: true, force: true });
  };
  const told = await Promise.race([line, ended.then(() => undefined)]);
  if (!told) {
    await reap();
    throw new Error(`isthmus serve ended before it told its address\n${log}`);
  }
  const [url] = JSON.parse(told[0]).addresses as [string];
  const { origin } = new URL(url);
  const get = (path: string) => ask(`${origin}${path}`, { method: 'GET' });
  return {
    pid: child.pid!,
    url,
    folder,
    env: own,
    at: (path) => `${origin}${path}`,
    get,
    status: async () => JSON.parse((await get('/status')).text) as GatewayStatus,
    log: () => log,
    rewrite,
    kill: (signal) => void child.kill(signal),
    ended,
    reap,
  };
}

/** All that a process has started, and what that has started, as long as they name it as their parent. */
export function descendantsOf(pid: number): number[] {
  const stats = readAllStats();
  const found = [pid];
  for (const parent of found)
    found.push(...stats.filter((stat) => stat.parent === parent).map((stat) => stat.pid));
  return found.slice(1);
}

/** The processes that have this in their environment, whoever their parent is by now. */
export function processesWith(variable: string): number[] {
  return readAllStats().flatMap(({ pid, state }) => {
    if (state === 'Z') return [];
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(variable) ? [pid] : [];
    } catch {
      return [];
    }
  });
}

export async function allGone(pids: readonly number[], limitMs?: number): Promise<void> {
  const left = () => {
    const living = new Set(readAllStats().flatMap(({ pid, state }) => (state === 'Z' ? [] : pid)));
    return pids.filter((pid) => living.has(pid));
  };
  await until('the end of all of them', () => left().length === 0, limitMs);
}

function endQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** The last resort: a test run that is itself ended must not leave gateways behind. */
const everyChild = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of everyChild) child.kill('SIGKILL');
});
