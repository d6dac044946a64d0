import { readdirSync, readFileSync } from 'node:fs';
import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { eachStat, type ProcStat, systemUnits } from '@isthmus/sdk/internal/process/proc-stat.js';
import type { DriverCost, ProcessCost } from './model.js';
import type { Tally } from './tally.js';
import { threeFigures } from './times.js';

/** What the turns of one target cost: the server, and the load generator itself. */
export class CostAccount {
  readonly #pid: number | undefined;
  #cpuMs = 0;
  #peak: Pick<TreeCost, 'peakRssBytes' | 'processes'> | undefined;
  #driverMicros = 0;
  #activeMs = 0;
  #idleMs = 0;
  #pauseMs = 0;

  constructor(pid: number | undefined) {
    this.#pid = pid;
  }

  /** Measures before and after `work`, so that measuring is not part of it. */
  async around(work: () => Promise<void>): Promise<void> {
    const before = await readTreeCost(this.#pid);
    const cpu = process.cpuUsage();
    const loop = performance.eventLoopUtilization();
    const pauses = monitorEventLoopDelay({ resolution: LOOK_MS });
    pauses.enable();
    try {
      await work();
    } finally {
      const { user, system } = process.cpuUsage(cpu);
      this.#driverMicros += user + system;
      this.#addLoop(performance.eventLoopUtilization(loop));
      // A pause at the end is seen only at the next sample, and one that this wait falls into at the one after that.
      await sleep(2 * LOOK_MS);
      await sleep(LOOK_MS);
      pauses.disable();
      this.#pauseMs = Math.max(this.#pauseMs, pauses.max / 1e6 - LOOK_MS);
      const after = await readTreeCost(this.#pid);
      if (before && after) this.#addServer(before, after);
    }
  }

  server({ answered, failed }: Tally): ProcessCost | null {
    if (!this.#peak) return null;
    const { peakRssBytes, processes } = this.#peak;
    return {
      cpuMs: Math.round(this.#cpuMs * 10) / 10,
      cpuMicrosPerRequest: each(this.#cpuMs * 1000, answered + failed),
      peakRssBytes,
      processes,
    };
  }

  driver({ answered, failed, late }: Tally, isOpenLoop: boolean): DriverCost {
    const time = this.#activeMs + this.#idleMs;
    return {
      busy: time > 0 ? Math.round((100 * this.#activeMs) / time) / 100 : 0,
      cpuMicrosPerRequest: time > 0 ? each(this.#driverMicros, answered + failed) : null,
      cpu: time > 0 ? Math.round(this.#driverMicros / 10 / time) / 100 : 0,
      longestPauseMs: threeFigures(this.#pauseMs),
      lateMs: isOpenLoop ? late.summary() : null,
    };
  }

  #addLoop({ active, idle }: EventLoopUtilization): void {
    this.#activeMs += active;
    this.#idleMs += idle;
  }

  #addServer(before: TreeCost, after: TreeCost): void {
    this.#cpuMs += cpuMsBetween(before, after);
    this.#peak = {
      peakRssBytes: Math.max(this.#peak?.peakRssBytes ?? 0, before.peakRssBytes, after.peakRssBytes),
      processes: Math.max(this.#peak?.processes ?? 0, after.processes),
    };
  }
}

/** The sampling interval of the event loop. An interval of this length is not a pause. */
const LOOK_MS = 10;

function each(total: number, count: number): number | null {
  return count > 0 ? threeFigures(total / count) : null;
}

/** What a process and its descendants have used until now. */
export interface TreeCost {
  /** Of running processes, in nanosecond resolution. Threads that have ended are missing. */
  readonly fineCpuMs: number | undefined;
  /** Includes children that have ended, in steps of a tick. */
  readonly coarseCpuMs: number;
  /** The sum of the peaks of the running processes. */
  readonly peakRssBytes: number;
  readonly processes: number;
}

/** Undefined if no process is left, or the system is not Linux. */
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
 * The CPU time between two measurements. The fine value is used, unless it is so much smaller than the coarse one that
 * truncation to ticks cannot explain it.
 */
export function cpuMsBetween(before: TreeCost, after: TreeCost): number {
  const coarse = after.coarseCpuMs - before.coarseCpuMs;
  if (before.fineCpuMs === undefined || after.fineCpuMs === undefined) return Math.max(0, coarse);
  const truncated = 2 * tickMs() * Math.max(before.processes, after.processes);
  return Math.max(0, after.fineCpuMs - before.fineCpuMs, coarse - truncated);
}

/** The process group and all descendants. A descendant may have left the group. */
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

/** The first field of a thread's schedstat is its CPU time in nanoseconds. Some kernels do not have it. */
function readThreads({ pid }: ProcStat): number | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const nanos = threads.map((id) => Number.parseInt(read(`/proc/${pid}/task/${id}/schedstat`), 10));
    return sum(nanos) / 1e6;
  } catch {
    return undefined;
  }
}

/** The CPU time of the process and of ended children: fields 14 to 17 in proc(5), which counts from 1. */
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
