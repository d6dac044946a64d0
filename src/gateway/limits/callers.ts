import type { Peer } from '../../exchange/call.js';

/**
 * What is kept for each caller. Who is one: a principal; without one a legacy session; and all modern clients that
 * nobody knows are one together, since nothing tells them apart.
 */
export class Callers<T> {
  readonly #create: () => T;
  readonly #isIdle: (kept: T) => boolean;
  readonly #max: number;
  readonly #known = new Map<string, T>();
  /** Goes with the session. */
  readonly #sessions = new WeakMap<Peer, T>();
  /** Of the modern clients without a principal. */
  readonly anonymous: T;

  /** What is idle may be forgotten: it is as if it had never been. */
  constructor(create: () => T, isIdle: (kept: T) => boolean, max = MAX_CALLERS) {
    this.#create = create;
    this.#isIdle = isIdle;
    this.#max = max;
    this.anonymous = create();
  }

  get size(): number {
    return this.#known.size;
  }

  of(peer: Peer): T {
    const { principal } = peer;
    if (principal === undefined) return peer.era === 'legacy' ? this.#ofSession(peer) : this.anonymous;
    let kept = this.#known.get(principal);
    if (kept === undefined) {
      // Not with every call that ends: most callers come back, and a map is not made for coming and going.
      if (this.#known.size >= this.#max) this.sweep();
      kept = this.#create();
      this.#known.set(principal, kept);
    }
    return kept;
  }

  /** Forgets who is idle; and if that is not enough, who came first. */
  sweep(): void {
    for (const [principal, kept] of this.#known) if (this.#isIdle(kept)) this.#known.delete(principal);
    for (const principal of this.#known.keys()) {
      if (this.#known.size < this.#max) return;
      this.#known.delete(principal);
    }
  }

  #ofSession(peer: Peer): T {
    let kept = this.#sessions.get(peer);
    if (kept === undefined) {
      kept = this.#create();
      this.#sessions.set(peer, kept);
    }
    return kept;
  }
}

const MAX_CALLERS = 10_000;
