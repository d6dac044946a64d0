/** A call that waits for a slot. */
export interface Waiter {
  readonly caller: QueuingCaller;
}

/** What the queue keeps for a caller. */
export interface QueuingCaller {
  /** The client that it belongs to. One client may be several callers, one for each session. */
  readonly client: string;
  /** In order of arrival. */
  readonly waiting: Waiter[];
}

/** The waiting calls. Clients take turns, then the callers of a client, and each caller has its calls in order. */
export class FairQueue {
  /** The clients that have calls waiting. The first one is next. */
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

  /** Takes the next call whose caller passes `may`. That caller and its client go to the end of the line. */
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
   * The call that a full queue drops for one more call of `newcomer`: the latest call of the client that has most, if
   * that is more than the newcomer will have. So one client cannot fill the queue for the others.
   */
  displacedBy(newcomer: QueuingCaller): Waiter | undefined {
    const own = this.#clients.get(newcomer.client);
    let most: Client | undefined;
    for (const client of this.#clients.values()) if (client.waiting > (most?.waiting ?? 0)) most = client;
    if (!most) return undefined;
    // The same rule holds between the callers of one client.
    if (most.waiting > (own?.waiting ?? 0) + 1) return longestOf(most).waiting.at(-1);
    if (!own) return undefined;
    const longest = longestOf(own);
    return longest.waiting.length > newcomer.waiting.length + 1 ? longest.waiting.at(-1) : undefined;
  }
}

interface Client {
  readonly callers: Set<QueuingCaller>;
  /** The waiting calls of all its callers. */
  waiting: number;
}

function longestOf({ callers }: Client): QueuingCaller {
  const [first, ...others] = callers;
  let longest = first!;
  for (const caller of others) if (caller.waiting.length > longest.waiting.length) longest = caller;
  return longest;
}
