import type { RequestId } from '../wire/json-rpc.js';

/**
 * A map by request id for the requests in flight. `1` and `"1"` are two ids. It lives long while its entries do not,
 * which is slow with a `Map`; see `LiveSet`.
 */
export class IdMap<T> {
  /** Over HTTP most connections have one request, so the tables are created for the second. */
  #only: Entry<T> | undefined;
  #numbers: Record<number, Entry<T>> | undefined;
  #strings: Record<string, Entry<T>> | undefined;
  #size = 0;
  #count = 0;

  get size(): number {
    return this.#size;
  }

  get(id: RequestId): T | undefined {
    return this.#entry(id)?.value;
  }

  has(id: RequestId): boolean {
    return this.#entry(id) !== undefined;
  }

  set(id: RequestId, value: T): void {
    const entry = this.#entry(id);
    if (entry) {
      entry.value = value;
      return;
    }
    this.#count += 1;
    const fresh: Entry<T> = { id, value, at: this.#count };
    if (this.#size === 0) this.#only = fresh;
    else this.#keep(fresh);
    this.#size += 1;
  }

  delete(id: RequestId): boolean {
    if (this.#size === 0) return false;
    if (this.#only?.id === id) this.#only = undefined;
    else if (!this.has(id)) return false;
    else if (typeof id === 'number') delete this.#numbers![id];
    else delete this.#strings![id];
    this.#size -= 1;
    return true;
  }

  /** In the order of arrival. A copy, so that entries may be added and removed during the iteration. */
  values(): T[] {
    return this.#entries().map(({ value }) => value);
  }

  #keep(entry: Entry<T>): void {
    const { id } = entry;
    if (typeof id === 'number') {
      this.#numbers ??= Object.create(null) as Record<number, Entry<T>>;
      this.#numbers[id] = entry;
    } else {
      this.#strings ??= Object.create(null) as Record<string, Entry<T>>;
      this.#strings[id] = entry;
    }
  }

  #entry(id: RequestId): Entry<T> | undefined {
    if (this.#only?.id === id) return this.#only;
    return typeof id === 'number' ? this.#numbers?.[id] : this.#strings?.[id];
  }

  #entries(): Entry<T>[] {
    if (this.#size === 0) return [];
    const all = [...Object.values(this.#numbers ?? {}), ...Object.values(this.#strings ?? {})];
    if (this.#only) all.push(this.#only);
    return all.sort((a, b) => a.at - b.at);
  }
}

interface Entry<T> {
  readonly id: RequestId;
  value: T;
  readonly at: number;
}
