/**
 * Places for what waits long, counted by client. When all are taken, the oldest of the client that has most makes
 * room, so that a client can only push out its own, or those of a client that has more.
 */
export class EvictingSlots<T> {
  /** By client, each in the order of arrival. */
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

  /** Takes a place. Gives back what lost its place for it; that may be the item itself, where there are no places. */
  add(client: string, item: T): T | undefined {
    this.#keys.set(item, client);
    const own = this.#clients.get(client);
    if (own) own.add(item);
    else this.#clients.set(client, new Set([item]));
    if (this.#keys.size <= this.#max) return undefined;
    const loser = this.#oldestOfGreediest(client);
    if (loser !== undefined) this.delete(loser);
    return loser;
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

  /** How many of its places a client has taken. */
  countOf(client: string): number {
    return this.#clients.get(client)?.size ?? 0;
  }

  /** Of several that have most it is `client`, so that nobody makes room for one that has as much. */
  #oldestOfGreediest(client: string): T | undefined {
    let greediest = this.#clients.get(client);
    for (const own of this.#clients.values()) if (own.size > (greediest?.size ?? 0)) greediest = own;
    const [oldest] = greediest ?? [];
    return oldest;
  }
}
