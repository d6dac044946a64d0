/** A call that waits for a place. */
export interface Waiter {
  readonly caller: QueuingCaller;
}

/** What the queue keeps for a caller. */
export interface QueuingCaller {
  /** Whom it belongs to: one client may be many callers, each a session of it. */
  readonly client: string;
  /** In order of arrival. */
  readonly waiting: Waiter[];
}

/** Who waits for a place: the clients in turns, of each its callers in turns, of each its calls in their order. */
export class FairQueue {
  /** Whoever has calls waiting; the first is the next. */
  readonly #clients = new Map<string, Client>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(waiter: Waiter): void {
    const { caller } = waiter;
    caller.waiting.push(waiter);
    this.#size += 1;
    const client = this.#clients.get(caller.client);
    if (!client) {
      this.#clients.set(caller.client, { callers: new Set([caller]), waiting: 1 });
      return;
    }
    client.callers.add(caller);
    client.waiting += 1;
  }

  remove(waiter: Waiter): boolean {
    const { caller } = waiter;
    const at = caller.waiting.indexOf(waiter);
    if (at < 0) return false;
    caller.waiting.splice(at, 1);
    this.#size -= 1;
    const client = this.#clients.get(caller.client)!;
    client.waiting -= 1;
    if (caller.waiting.length === 0) client.callers.delete(caller);
    if (client.waiting === 0) this.#clients.delete(caller.client);
    return true;
  }

  /** The next call of the next caller that `may`; that caller is the last one then, and so is its client. */
  take(may: (caller: QueuingCaller) => boolean): Waiter | undefined {
    for (const [key, client] of this.#clients) {
      for (const caller of client.callers) {
        if (!may(caller)) continue;
        const waiter = caller.waiting[0]!;
        this.remove(waiter);
        if (client.callers.delete(caller)) client.callers.add(caller);
        if (this.#clients.delete(key)) this.#clients.set(key, client);
        return waiter;
      }
    }
    return undefined;
  }

  /**
   * Who has to go so that a full queue can take one more call of `newcomer`: the latest of the client that has most of
   * them, if that is more than the newcomer will have. So nobody can fill the queue for the others.
   */
  displacedBy(newcomer: QueuingCaller): Waiter | undefined {
    const own = this.#clients.get(newcomer.client);
    let most: Client | undefined;
    for (const client of this.#clients.values()) if (client.waiting > (most?.waiting ?? 0)) most = client;
    if (!most) return undefined;
    // Inside one client the same holds between its callers.
    if (most.waiting > (own?.waiting ?? 0) + 1) return longestOf(most).waiting.at(-1);
    if (!own) return undefined;
    const longest = longestOf(own);
    return longest.waiting.length > newcomer.waiting.length + 1 ? longest.waiting.at(-1) : undefined;
  }
}

interface Client {
  readonly callers: Set<QueuingCaller>;
  /** Of all its callers. */
  waiting: number;
}

function longestOf({ callers }: Client): QueuingCaller {
  const [first, ...others] = callers;
  let longest = first!;
  for (const caller of others) if (caller.waiting.length > longest.waiting.length) longest = caller;
  return longest;
}
