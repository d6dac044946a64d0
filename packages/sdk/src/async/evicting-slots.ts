/**
 * Slots for items that wait for long, counted by client. When all slots are taken, the oldest item of the client that
 * has most is evicted. So a client evicts only its own items, or those of a client that has more.
 */
export class EvictingSlots<T> {
  /** The items of each client, in the order of arrival. */
  readonly #clients = new Map<string, Set<T>>();
  readonly #keys = new Map<T, string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#keys.size;
  }

  get max(): number {
    return this.#max;
  }

  has(item: T): boolean {
    return this.#keys.has(item);
  }

  values(): IterableIterator<T> {
    return this.#keys.keys();
  }

  /** Takes a slot, and returns the item that was evicted for it. With `max` 0 that is the new item itself. */
  add(client: string, item: T): T | undefined {
    this.#keys.set(item, client);
    const own = this.#clients.get(client);
    if (own) own.add(item);
    else this.#clients.set(client, new Set([item]));
    if (this.#keys.size <= this.#max) return undefined;
    const evicted = this.#oldestOfLargest(client);
    if (evicted !== undefined) this.delete(evicted);
    return evicted;
  }

  delete(item: T): boolean {
    const client = this.#keys.get(item);
    if (client === undefined) return false;
    this.#keys.delete(item);
    const own = this.#clients.get(client);
    own?.delete(item);
    if (own?.size === 0) this.#clients.delete(client);
    return true;
  }

  /** How many slots a client has taken. */
  countOf(client: string): number {
    return this.#clients.get(client)?.size ?? 0;
  }

  /** Among equals it is `client` itself, so that no client loses an item to one that has as many. */
  #oldestOfLargest(client: string): T | undefined {
    let largest = this.#clients.get(client);
    for (const own of this.#clients.values()) if (own.size > (largest?.size ?? 0)) largest = own;
    const [oldest] = largest ?? [];
    return oldest;
  }
}
