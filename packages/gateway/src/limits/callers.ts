import type { Peer } from '@isthmus/sdk/internal/exchange/call.js';
import { clientKey } from '@isthmus/sdk/internal/exchange/client-key.js';

/** The caller that an entry belongs to. */
export interface CallerFacts {
  /** The client that it belongs to, as fair limits count it: one client may have many sessions. */
  readonly client: string;
  /** It may be several modern clients: without a principal, those of one address cannot be told apart. */
  readonly isAnonymous: boolean;
}

export interface CallersOptions<T> {
  create(facts: CallerFacts): T;
  /** An idle entry may be dropped: a new one would be the same. */
  isIdle(kept: T): boolean;
  /** Legacy sessions without a principal are counted by their address, so that a new session is not a new caller. */
  readonly byAddress?: boolean;
  readonly max?: number | undefined;
}

/**
 * One entry for each caller. A caller is a principal. Without one, a legacy session is a caller, and all modern clients of
 * one address are one caller together, because they cannot be told apart.
 */
export class Callers<T> {
  readonly #options: CallersOptions<T>;
  readonly #known = new Map<string, T>();
  /** Collected with the session. */
  readonly #sessions = new WeakMap<Peer, T>();

  constructor(options: CallersOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#known.size;
  }

  of(peer: Peer): T {
    const { principal, remote, era } = peer;
    const { byAddress = false, max = MAX_CALLERS, create } = this.#options;
    if (principal === undefined && era === 'legacy' && !(byAddress && remote !== undefined)) {
      return this.#ofSession(peer);
    }
    const client = clientKey(peer);
    let kept = this.#known.get(client);
    if (kept === undefined) {
      // Not at the end of each call: most callers come back, and deleting and adding again costs more.
      if (this.#known.size >= max) this.sweep();
      kept = create({ client, isAnonymous: principal === undefined });
      this.#known.set(client, kept);
    }
    return kept;
  }

  /** Drops idle entries, and then the oldest ones while there are too many. */
  sweep(): void {
    const { isIdle, max = MAX_CALLERS } = this.#options;
    for (const [client, kept] of this.#known) if (isIdle(kept)) this.#known.delete(client);
    for (const client of this.#known.keys()) {
      if (this.#known.size < max) return;
      this.#known.delete(client);
    }
  }

  #ofSession(peer: Peer): T {
    let kept = this.#sessions.get(peer);
    if (kept === undefined) {
      kept = this.#options.create({ client: clientKey(peer), isAnonymous: false });
      this.#sessions.set(peer, kept);
    }
    return kept;
  }
}

const MAX_CALLERS = 10_000;
