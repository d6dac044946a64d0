import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { type Clock, systemClock } from '../async/clock.js';
import { shareRuns } from '../async/share-runs.js';
import { eachStat, isRunning, readStat, systemUnits } from './proc-stat.js';

/** The resources of a child and all that it started, which on POSIX is its process group. */
export interface TreeFacts {
  readonly processes: number;
  readonly rssBytes: number;
  /** CPU time of the processes that exist now. It falls when one of them ends. */
  readonly cpuMs: number;
  /** The child itself does not run: it was stopped (SIGSTOP, a debugger), or it has ended and others go on. */
  readonly stopped: boolean;
}

/** The facts about the group that `pid` leads. Undefined when the group is empty or the system gives no facts. */
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
 * When a process was started, as a text that differs for the next process of the same number. Undefined when there is no
 * such process, and on Windows, where the query takes longer than the start of a process.
 */
export function startTimeOf(pid: number): string | undefined {
  if (process.platform === 'linux') return readStat(pid)?.startTicks;
  if (process.platform === 'win32') return undefined;
  return askPs(pid, 'lstart=') || undefined;
}

/** Whether exactly this process runs: not another one with its number, and not its zombie. */
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

/** One at a time: a hundred servers, or many clients that ask for the status, need no more. */
const snapshot = shareRuns(() => look().catch((): readonly TreeProcess[] => []));

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

/** Formatted times depend on language and time zone, and both may change while a process lives. */
const PS = {
  encoding: 'utf8',
  env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC0' },
  timeout: 5000,
  maxBuffer: 16 * 1024 * 1024,
} as const;

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

export interface DescriptorUse {
  readonly open: number;
  readonly limit: number;
}

/** How many file descriptors our process has open, and may open. Undefined without /proc. */
export function descriptorUse(): DescriptorUse | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    if (soft === undefined) return undefined;
    const limit = Number(soft);
    lastLimit = limit;
    return { open: readdirSync('/proc/self/fd').length, limit };
  } catch (error) {
    // Reading takes a descriptor as well.
    const isNoneLeft = (error as NodeJS.ErrnoException).code === 'EMFILE' && lastLimit !== undefined;
    return isNoneLeft ? { open: lastLimit!, limit: lastLimit! } : undefined;
  }
}

let lastLimit: number | undefined;

/**
 * Reports when file descriptors are nearly used up, and when there are enough again. Without descriptors the system closes
 * new connections silently, so nothing else reports it.
 */
export function watchDescriptors(
  onChange: (use: DescriptorUse, isScarce: boolean) => void,
  {
    clock = systemClock,
    look = descriptorUse,
  }: { clock?: Clock; look?: () => DescriptorUse | undefined } = {},
): () => void {
  let isScarce = false;
  let cancelTimer = () => {};
  const next = () => {
    const use = look();
    // Where the system does not give the numbers, it never will.
    if (!use) return;
    const share = use.open / use.limit;
    if (isScarce ? share < ENOUGH : share > SCARCE) {
      isScarce = !isScarce;
      onChange(use, isScarce);
    }
    cancelTimer = clock.after(LOOK_MS, next, { background: true });
  };
  next();
  return () => cancelTimer();
}

const SCARCE = 0.9;
const ENOUGH = 0.8;
const LOOK_MS = 2000;
