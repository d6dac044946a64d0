import type { RequestId } from '../wire/json-rpc.js';

/**
 * A map by request id for the requests in flight. `1` and `"1"` are two ids.
 *
 * Peers count their requests, so the ids in flight are close together: an entry has its place in a table by the low bits
 * of its number, and most are found without a search. A table that is too small grows. A `Map` and an object take three to
 * twenty times as long, since they live long while their entries do not; see `LiveSet`.
 */
export class IdMap<T> {
  /** Over HTTP most connections have one request, so the tables are created for the second. */
  #only: Entry<T> | undefined;
  #table: (Entry<T> | undefined)[] = NO_TABLE;
  /** Strings, and numbers whose place is taken in a table that does not grow any more. */
  #others: Record<string, Entry<T>> | undefined;
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
    else if (typeof id === 'number' && this.#table[id & (this.#table.length - 1)]?.id === id)
      this.#table[id & (this.#table.length - 1)] = undefined;
    else if (this.#others?.[keyOf(id)] !== undefined) delete this.#others[keyOf(id)];
    else return false;
    this.#size -= 1;
    return true;
  }

  /** In the order of arrival. A copy, so that entries may be added and removed during the iteration. */
  values(): T[] {
    return this.#entries().map(({ value }) => value);
  }

  /** In the order of arrival. */
  keys(): RequestId[] {
    return this.#entries().map(({ id }) => id);
  }

  #keep(entry: Entry<T>): void {
    const { id } = entry;
    if (typeof id === 'number') {
      if (this.#table === NO_TABLE) this.#table = emptyTable(FIRST_PLACES);
      while (this.#table[id & (this.#table.length - 1)] !== undefined && this.#table.length < MOST_PLACES)
        this.#table = grown(this.#table);
      const place = id & (this.#table.length - 1);
      if (this.#table[place] === undefined) {
        this.#table[place] = entry;
        return;
      }
    }
    this.#others ??= Object.create(null) as Record<string, Entry<T>>;
    this.#others[keyOf(id)] = entry;
  }

  #entry(id: RequestId): Entry<T> | undefined {
    if (this.#only?.id === id) return this.#only;
    if (typeof id === 'number') {
      const entry = this.#table[id & (this.#table.length - 1)];
      if (entry?.id === id) return entry;
    }
    return this.#others?.[keyOf(id)];
  }

  #entries(): Entry<T>[] {
    if (this.#size === 0) return [];
    const all = [...this.#table, ...Object.values(this.#others ?? {}), this.#only];
    return all.filter((entry) => entry !== undefined).sort((a, b) => a.at - b.at);
  }
}

interface Entry<T> {
  readonly id: RequestId;
  value: T;
  readonly at: number;
}

/** Both are powers of two. */
const FIRST_PLACES = 16;
const MOST_PLACES = 2048;
/** One place that is never taken. */
const NO_TABLE: undefined[] = [undefined];

function emptyTable(places: number): undefined[] {
  return new Array(places).fill(undefined);
}

/** Twice as large. Entries with different places in the smaller table have different places in the larger one. */
function grown<E extends Entry<unknown>>(table: readonly (E | undefined)[]): (E | undefined)[] {
  const larger: (E | undefined)[] = emptyTable(table.length * 2);
  for (const entry of table) if (entry) larger[(entry.id as number) & (larger.length - 1)] = entry;
  return larger;
}

/** A number gets a key that no string has. */
function keyOf(id: RequestId): string {
  return typeof id === 'number' ? `#${id}` : `"${id}`;
}
