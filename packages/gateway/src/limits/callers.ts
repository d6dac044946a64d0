import type { Peer } from '@isthmus/sdk/internal/exchange/call.js';
import { clientKey } from '@isthmus/sdk/internal/exchange/client-key.js';

/** Whom something is kept for. */
export interface CallerFacts {
  /** The client that it belongs to, as fair limits count it: one client may have many sessions. */
  readonly client: string;
  /** Several modern clients may be behind it: without a principal nothing tells those of one address apart. */
  readonly isAnonymous: boolean;
}

export interface CallersOptions<T> {
  create(facts: CallerFacts): T;
  /** What is idle may be forgotten: it is as if it had never been. */
  isIdle(kept: T): boolean;
  /** Legacy sessions without a principal are counted with their address, so that new ones bring nothing. */
  readonly byAddress?: boolean;
  readonly max?: number | undefined;
}

/**
 * What is kept for each caller. Who is one: a principal; without one a legacy session; and all modern clients of one
 * address are one together, since nothing tells them apart.
 */
export class Callers<T> {
  readonly #options: CallersOptions<T>;
  readonly #known = new Map<string, T>();
  /** Goes with the session. */
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
      // Not with every call that ends: most callers come back, and a map is not made for coming and going.
      if (this.#known.size >= max) this.sweep();
      kept = create({ client, isAnonymous: principal === undefined });
      this.#known.set(client, kept);
    }
    return kept;
  }

  /** Forgets who is idle; and if that is not enough, who came first. */
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
