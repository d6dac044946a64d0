/** What an operator has switched in all processes of a cluster, and when. */
export interface Switch {
  readonly server: string;
  readonly isOff: boolean;
  /** Milliseconds since 1970, by the clock of the store. */
  readonly at: number;
}

/**
 * The switches of `stop --all` and `start --all`. Each process knows all of them and tells those that come later. The
 * latest one of a server counts, so that a process that missed one learns of it.
 */
export class MemberSwitches {
  readonly #known = new Map<string, Switch>();

  get all(): readonly Switch[] {
    return [...this.#known.values()];
  }

  isOff(server: string): boolean {
    return this.#known.get(server)?.isOff ?? false;
  }

  /** The time of another switch of this server: after all that are known, though clocks are read to some milliseconds only. */
  timeFor(server: string | undefined, now: number): number {
    const known = server === undefined ? undefined : this.#known.get(server);
    return Math.max(now, (known?.at ?? 0) + 1);
  }

  /** False: a later switch of this server is known. */
  note(given: Switch): boolean {
    const known = this.#known.get(given.server);
    if (known && known.at >= given.at) return false;
    // Deleted first, so that the oldest one comes first.
    this.#known.delete(given.server);
    this.#known.set(given.server, given);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_SWITCHES) break;
      this.#known.delete(oldest);
    }
    return true;
  }
}

const MAX_SWITCHES = 1000;
