import { readdirSync, readFileSync } from 'node:fs';
import { eachStat, type ProcStat, systemUnits } from '@isthmus/sdk/internal/process/proc-stat.js';

/** What a process and all that it started have cost until now. */
export interface TreeCost {
  /** Of those that are there, to the nanosecond; that of a thread that ended is missing. */
  readonly fineCpuMs: number | undefined;
  /** With that of children that ended, in steps of a tick. */
  readonly coarseCpuMs: number;
  /** Of those that are there, the most that each of them ever held. */
  readonly peakRssBytes: number;
  readonly processes: number;
}

/** Undefined where nobody is there any more, or the system is not Linux. */
export async function readTreeCost(pid: number | undefined): Promise<TreeCost | undefined> {
  if (pid === undefined || process.platform !== 'linux') return undefined;
  const members = await treeOf(pid);
  if (members.length === 0) return undefined;
  const fine = members.map(readThreads);
  return {
    fineCpuMs: fine.includes(undefined) ? undefined : sum(fine.map((ms) => ms ?? 0)),
    coarseCpuMs: sum(members.map(readTicks)) * tickMs(),
    peakRssBytes: sum(members.map(readPeak)),
    processes: members.length,
  };
}

/**
 * The time on a processor between two looks. The fine number is taken, unless so much is missing there that it cannot be
 * the truncation of the coarse one.
 */
export function cpuMsBetween(before: TreeCost, after: TreeCost): number {
  const coarse = after.coarseCpuMs - before.coarseCpuMs;
  if (before.fineCpuMs === undefined || after.fineCpuMs === undefined) return Math.max(0, coarse);
  const truncated = 2 * tickMs() * Math.max(before.processes, after.processes);
  return Math.max(0, after.fineCpuMs - before.fineCpuMs, coarse - truncated);
}

/** Its group, and whoever descends from it: a descendant may have left the group. */
async function treeOf(pid: number): Promise<readonly ProcStat[]> {
  const all: ProcStat[] = [];
  for await (const stat of eachStat()) all.push(stat);
  const tree = new Map(all.filter((stat) => stat.group === pid || stat.pid === pid).map((s) => [s.pid, s]));
  for (let before = -1; before !== tree.size; ) {
    before = tree.size;
    for (const stat of all) if (tree.has(stat.parent)) tree.set(stat.pid, stat);
  }
  return [...tree.values()];
}

/** The first number of a thread's schedstat is its time on a processor in nanoseconds. Some kernels have none. */
function readThreads({ pid }: ProcStat): number | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const nanos = threads.map((id) => Number.parseInt(read(`/proc/${pid}/task/${id}/schedstat`), 10));
    return sum(nanos) / 1e6;
  } catch {
    return undefined;
  }
}

/** Its own time and that of children that ended: fields 14 to 17 of the manual, which counts from 1. */
function readTicks({ pid, cpuTicks }: ProcStat): number {
  try {
    const stat = read(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return sum(fields.slice(14 - 3, 18 - 3).map(Number));
  } catch {
    return cpuTicks;
  }
}

function readPeak({ pid, rssPages }: ProcStat): number {
  try {
    const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`)) ?? [];
    return Number(kib ?? 0) * 1024;
  } catch {
    return rssPages * systemUnits().pageBytes;
  }
}

function read(file: string): string {
  return readFileSync(file, 'latin1');
}

function tickMs(): number {
  return 1000 / systemUnits().ticksPerSecond;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
