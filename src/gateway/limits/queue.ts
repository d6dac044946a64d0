/** A call that waits for a place. */
export interface Waiter {
  readonly caller: QueuingCaller;
}

/** What the queue keeps for a caller. */
export interface QueuingCaller {
  /** In order of arrival. */
  readonly waiting: Waiter[];
}

/** Who waits for a place: each caller in the order of its calls, the callers in turns. */
export class FairQueue {
  /** Whoever has calls waiting; the first is the next. */
  readonly #callers = new Set<QueuingCaller>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(waiter: Waiter): void {
    waiter.caller.waiting.push(waiter);
    this.#callers.add(waiter.caller);
    this.#size += 1;
  }

  remove(waiter: Waiter): boolean {
    const { caller } = waiter;
    const at = caller.waiting.indexOf(waiter);
    if (at < 0) return false;
    caller.waiting.splice(at, 1);
    this.#size -= 1;
    if (caller.waiting.length === 0) this.#callers.delete(caller);
    return true;
  }

  /** The next call of the next caller that `may`; that caller is the last one then. */
  take(may: (caller: QueuingCaller) => boolean): Waiter | undefined {
    for (const caller of this.#callers) {
      if (!may(caller)) continue;
      const waiter = caller.waiting[0]!;
      this.remove(waiter);
      if (this.#callers.delete(caller)) this.#callers.add(caller);
      return waiter;
    }
    return undefined;
  }

  /**
   * Who has to go so that a full queue can take one more call of `newcomer`: the latest of the caller that has most
   * of them, if that is more than the newcomer will have. So nobody can fill the queue for the others.
   */
  displacedBy(newcomer: QueuingCaller): Waiter | undefined {
    let longest = newcomer;
    for (const caller of this.#callers) if (caller.waiting.length > longest.waiting.length) longest = caller;
    return longest.waiting.length > newcomer.waiting.length + 1 ? longest.waiting.at(-1) : undefined;
  }
}
