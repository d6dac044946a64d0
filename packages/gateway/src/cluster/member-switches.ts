/** What an operator has switched in all processes of a cluster, and when. */
export interface Switch {
  readonly server: string;
  readonly isOff: boolean;
  /** Milliseconds since 1970, of the process that was asked. */
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
