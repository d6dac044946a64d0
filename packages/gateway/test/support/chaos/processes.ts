import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import { isRunning, type ProcStat, readAllStats, readStat } from '@isthmus/sdk/internal/process/proc-stat.js';

/** What the system says of the processes of a gateway, whatever the gateway says. */
export class Processes {
  /** Every process that was ever ready, with what makes its number its own. */
  readonly #seen = new Map<number, string>();
  /** When the system was first seen to have no such process any more. */
  readonly #deadSince = new Map<number, number>();
  /** The newest process of each server that has answered, and when. */
  readonly #latest = new Map<string, { readonly generation: number; readonly at: number }>();
  readonly #frozen = new Set<number>();

  readonly onHostEvent = (event: HostEvent): void => {
    if (event.kind !== 'ready' || event.pid === undefined) return;
    const stat = readStat(event.pid);
    if (stat) this.#seen.set(event.pid, stat.startTicks);
    this.#deadSince.delete(event.pid);
    this.#latest.set(event.server, { generation: event.generation, at: Date.now() });
  };

  get count(): number {
    return this.#seen.size;
  }

  /** The generation that was ready last, some time before that moment. */
  latest(server: string, before: number): number | undefined {
    const latest = this.#latest.get(server);
    return latest && latest.at < before ? latest.generation : undefined;
  }

  /** Looks who is there. */
  look(): void {
    for (const pid of this.#seen.keys()) {
      if (!this.#deadSince.has(pid) && !this.isAlive(pid)) this.#deadSince.set(pid, Date.now());
    }
  }

  /** It was seen to be dead before that moment. */
  wasDead(pid: number, before: number): boolean {
    return (this.#deadSince.get(pid) ?? Number.POSITIVE_INFINITY) < before;
  }

  /** A server that is taken out of the configuration begins to count anew when it comes back. */
  forget(server: string): void {
    this.#latest.delete(server);
  }

  /** A child of ours that runs; a zombie does not. */
  isAlive(pid: number): boolean {
    const stat = readStat(pid);
    return stat !== undefined && stat.parent === process.pid && isRunning(stat);
  }

  isFrozen(pid: number | undefined): boolean {
    return pid !== undefined && this.#frozen.has(pid);
  }

  kill(pid: number): boolean {
    return this.isAlive(pid) && send(pid, 'SIGKILL');
  }

  /** Stops it; the returned function lets it go on. */
  freeze(pid: number): (() => void) | undefined {
    if (!this.isAlive(pid) || !send(pid, 'SIGSTOP')) return undefined;
    this.#frozen.add(pid);
    return () => {
      // A number may have been given to somebody else.
      if (this.isAlive(pid)) send(pid, 'SIGCONT');
      this.#frozen.delete(pid);
    };
  }

  /** Whoever is left of them: those that were ready, and all that runs in their groups. */
  left(): number[] {
    return readAllStats()
      .filter((stat) => isRunning(stat) && this.#isOurs(stat))
      .map(({ pid }) => pid);
  }

  /** The last resort of a test that failed. */
  killAll(): void {
    for (const pid of this.left()) send(pid, 'SIGKILL');
  }

  #isOurs({ pid, group, startTicks }: ProcStat): boolean {
    const known = this.#seen.get(pid);
    if (known !== undefined) return known === startTicks;
    // Its leader may be gone; then nobody else can have got that number.
    return this.#seen.has(group);
  }
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
