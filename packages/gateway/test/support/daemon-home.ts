import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStat } from '@isthmus/sdk/internal/process/proc-stat.js';
import { afterEach, beforeEach, vi } from 'vitest';
import type { ClientKind, Session } from '../../../../test/bridge-matrix/clients/session.js';
import { Child, ISTHMUS } from '../../../../test/support/child.js';

/** A folder for a daemon of the test's own, in the environment of all that the test starts. */
export interface DaemonHome {
  readonly run: string;
  /** What servers run in. */
  readonly work: string;
  readonly env: Readonly<Record<string, string>>;
  /** What is done first when the test is over. */
  atEnd(action: () => unknown): void;
}

/** Before each test a fresh one; after each, passed or failed, nothing of it is left. */
export function useDaemonHome(): DaemonHome {
  let folder = '';
  /** Test files may share a process. */
  let before: [name: string, value: string | undefined][] = [];
  const actions: (() => unknown)[] = [];
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'isthmus-daemon-')));
    mkdirSync(home.work);
    before = Object.keys(home.env).map((name) => [name, process.env[name]]);
    Object.assign(process.env, home.env);
  });
  afterEach(async () => {
    await Promise.allSettled(actions.splice(0).map(async (action) => action()));
    for (const pid of daemonPids(home)) attempt(() => process.kill(pid, 'SIGTERM'));
    // With the daemon all that it has started ends; whoever is left is killed, and the test fails.
    const end = vi.waitFor(() => nobodyIn(folder), { timeout: 8000, interval: 20 });
    await end.finally(() => {
      for (const pid of processesIn(folder)) attempt(() => process.kill(pid, 'SIGKILL'));
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
      rmSync(folder, { recursive: true, force: true });
    });
  });
  const home: DaemonHome = {
    atEnd: (action) => void actions.push(action),
    get run() {
      return join(folder, 'run');
    },
    get work() {
      return join(folder, 'work');
    },
    get env() {
      return {
        ISTHMUS_RUNTIME_DIR: join(folder, 'run'),
        XDG_STATE_HOME: join(folder, 'state'),
        XDG_CACHE_HOME: join(folder, 'cache'),
      };
    },
  };
  return home;
}

/** A host that launches the shim. */
export async function host(home: DaemonHome, kind: ClientKind, ...args: string[]): Promise<Session> {
  const session = await kind.connect(attaching(...args), home.env);
  home.atEnd(() => session.close());
  return session;
}

/** A program of Node as a server, in the folder for servers. */
export function command(home: DaemonHome, ...words: string[]): string[] {
  return ['--cwd', home.work, '--', process.execPath, ...words];
}

/** The shim, for a host that is played by the test. */
export function shim(home: DaemonHome, ...args: string[]): Child {
  const child = new Child(ISTHMUS, { args: ['attach', ...args] });
  home.atEnd(() => child.reap());
  return child;
}

/** The words of a host's configuration that make it launch the shim. */
function attaching(...args: readonly string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [ISTHMUS, 'attach', ...args] };
}

/** The daemons that live, by their locks. */
export function daemonPids({ run }: DaemonHome): number[] {
  const names = attempt(() => readdirSync(run)) ?? [];
  return names
    .filter((name) => /^daemon-2-\w+\.\d+$/.test(name))
    .flatMap((name) => {
      const text = attempt(() => readFileSync(join(run, name), 'utf8'));
      const pid = text === undefined ? 0 : (JSON.parse(text) as { pid: number }).pid;
      return isLiving(pid) ? [pid] : [];
    });
}

/** The servers that live: they run in a folder where nobody else does. */
export function serverPids({ work }: DaemonHome): number[] {
  return processesIn(work);
}

/** Threads that outlive the first one still hold the files of a process. */
export function isLiving(pid: number): boolean {
  const threads = attempt(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.length > 1 || (readStat(pid)?.state ?? 'Z') !== 'Z';
}

export async function gone(pid: number, timeout = 5000): Promise<void> {
  await vi.waitFor(
    () => {
      if (isLiving(pid)) throw new Error(`${pid} lives`);
    },
    { timeout, interval: 10 },
  );
}

function nobodyIn(folder: string): void {
  const left = processesIn(folder);
  if (left.length > 0) throw new Error(`Left behind: ${left.map(commandOf).join('; ')}`);
}

function processesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const cwd = attempt(() => readlinkSync(`/proc/${pid}/cwd`)) ?? '';
      return (cwd === folder || cwd.startsWith(`${folder}/`)) && isLiving(pid);
    });
}

function commandOf(pid: number): string {
  return (attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '').replaceAll('\0', ' ');
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
