import type { RequestId } from '../wire/json-rpc.js';

/**
 * What belongs to the requests in flight, by their ids, with their JSON type: `1` and `"1"` are two ids. Lives long
 * while its entries do not, which a `Map` is not made for; see `LiveSet`.
 */
export class IdMap<T> {
  /** Made when they are needed: over HTTP most connections have one request. */
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
    this.#size += 1;
    this.#count += 1;
    const fresh: Entry<T> = { id, value, at: this.#count };
    if (typeof id === 'number') {
      this.#numbers ??= Object.create(null) as Record<number, Entry<T>>;
      this.#numbers[id] = fresh;
    } else {
      this.#strings ??= Object.create(null) as Record<string, Entry<T>>;
      this.#strings[id] = fresh;
    }
  }

  delete(id: RequestId): boolean {
    if (!this.has(id)) return false;
    this.#size -= 1;
    if (typeof id === 'number') delete this.#numbers![id];
    else delete this.#strings![id];
    return true;
  }

  /** In the order in which they came. A copy: entries may come and go meanwhile. */
  values(): T[] {
    return this.#entries().map(({ value }) => value);
  }

  entries(): [RequestId, T][] {
    return this.#entries().map(({ id, value }) => [id, value]);
  }

  #entry(id: RequestId): Entry<T> | undefined {
    return typeof id === 'number' ? this.#numbers?.[id] : this.#strings?.[id];
  }

  #entries(): Entry<T>[] {
    if (this.#size === 0) return [];
    const all = [...Object.values(this.#numbers ?? {}), ...Object.values(this.#strings ?? {})];
    return all.sort((a, b) => a.at - b.at);
  }
}

interface Entry<T> {
  readonly id: RequestId;
  value: T;
  readonly at: number;
}
