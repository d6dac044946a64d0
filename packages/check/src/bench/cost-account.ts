import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DriverCost, ProcessCost } from './model.js';
import { cpuMsBetween, readTreeCost, type TreeCost } from './server-cost.js';
import type { Tally } from './tally.js';
import { threeFigures } from './times.js';

/** What the turns of one target cost: the server, and the driver that measures it. */
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

  /** Looks before and after, so that looking is no part of what is measured. */
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
      // A pause at the very end is seen when the loop is looked at once more.
      await sleep(2 * LOOK_MS);
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

/** How often the loop is looked at: an interval of this length is no pause. */
const LOOK_MS = 10;

function each(total: number, count: number): number | null {
  return count > 0 ? threeFigures(total / count) : null;
}
