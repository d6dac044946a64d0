import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { eachStat, isRunning, readStat } from './proc-stat.js';
import { systemUnits } from './system-units.js';

/** What a child and all that it started cost, which on POSIX is its process group. */
export interface TreeFacts {
  readonly processes: number;
  readonly rssBytes: number;
  /** Time on a processor of those that are there now; it falls when one of them ends. */
  readonly cpuMs: number;
  /** The child itself does nothing: it was stopped (SIGSTOP, a debugger), or it has ended and others go on. */
  readonly stopped: boolean;
}

/** The facts about the group that `pid` leads; undefined when nobody is in it, or the system does not tell. */
export async function treeFacts(pid: number): Promise<TreeFacts | undefined> {
  const members = (await snapshot()).filter(({ group }) => group === pid);
  if (members.length === 0) return undefined;
  const leader = members.find((member) => member.pid === pid);
  return {
    processes: members.filter(isRunning).length,
    rssBytes: sum(members.map(({ rssBytes }) => rssBytes)),
    cpuMs: sum(members.map(({ cpuMs }) => cpuMs)),
    stopped: leader === undefined || /^[TtZX]/.test(leader.state),
  };
}

/**
 * When a process was started, in words that differ for the next one of the same number. Undefined when there is
 * no such process, and on Windows, where asking would take longer than starting one.
 */
export function startTimeOf(pid: number): string | undefined {
  if (process.platform === 'linux') return readStat(pid)?.startTicks;
  if (process.platform === 'win32') return undefined;
  return askPs(pid, 'lstart=') || undefined;
}

/** Whether exactly this process runs: not the next one of its number, nor what is left of it as a zombie. */
export function isStillRunning(pid: number, startTime: string): boolean {
  if (startTimeOf(pid) !== startTime) return false;
  if (process.platform === 'linux') {
    const stat = readStat(pid);
    return stat !== undefined && isRunning(stat);
  }
  return !/^(Z|$)/.test(askPs(pid, 'state='));
}

export interface TreeProcess {
  readonly pid: number;
  readonly group: number;
  readonly rssBytes: number;
  readonly cpuMs: number;
  readonly state: string;
}

/** What `ps -A -o pid=,pgid=,rss=,time=,state=` prints: memory in KiB, time as `[[days-]hours:]minutes:seconds`. */
export function parsePs(text: string): readonly TreeProcess[] {
  return text.split('\n').flatMap((line) => {
    const [pid, group, rss, time, state] = line.trim().split(/\s+/);
    if (!time || !state) return [];
    const [seconds = 0, minutes = 0, hours = 0, days = 0] = time.split(/[-:]/).map(Number).reverse();
    const cpuMs = Math.round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000);
    return [{ pid: Number(pid), group: Number(group), rssBytes: Number(rss) * 1024, cpuMs, state }];
  });
}

/** Whoever asks in the same turn, say about each of a hundred servers, shares one look at the system. */
function snapshot(): Promise<readonly TreeProcess[]> {
  shared ??= Promise.resolve().then(() => {
    shared = undefined;
    return look().catch(() => []);
  });
  return shared;
}

let shared: Promise<readonly TreeProcess[]> | undefined;

async function look(): Promise<readonly TreeProcess[]> {
  if (process.platform === 'win32') return [];
  if (process.platform !== 'linux') {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,pgid=,rss=,time=,state='], PS);
    return parsePs(stdout);
  }
  const { pageBytes, ticksPerSecond } = systemUnits();
  const members: TreeProcess[] = [];
  for await (const { pid, group, state, rssPages, cpuTicks } of eachStat()) {
    const cpuMs = (cpuTicks * 1000) / ticksPerSecond;
    members.push({ pid, group, state, rssBytes: rssPages * pageBytes, cpuMs });
  }
  return members;
}

function askPs(pid: number, what: string): string {
  const { stdout } = spawnSync('ps', ['-o', what, '-p', String(pid)], PS);
  return typeof stdout === 'string' ? stdout.trim() : '';
}

/** Times in words depend on the language and the time zone, and both may change while a process lives. */
const PS = {
  encoding: 'utf8',
  env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC0' },
  timeout: 5000,
  maxBuffer: 16 * 1024 * 1024,
} as const;

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
