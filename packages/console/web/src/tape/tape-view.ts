import { KINDS, type RowStore, type WireRow } from '../state/rows.js';

/** Which rows are wanted. Empty: all. */
export interface TapeFilter {
  readonly connections?: ReadonlySet<number> | undefined;
  readonly direction?: 0 | 1 | undefined;
  readonly kind?: string | undefined;
  readonly call?: number | undefined;
  /** In the method, the name, the id. */
  readonly text?: string | undefined;
  /** The frames whose bodies have a text, as the process found them. */
  readonly found?: ReadonlySet<number> | undefined;
}

/** The rows of a store that pass a filter. New rows are looked at once, when they come. */
export class TapeView {
  readonly #rows: RowStore;
  readonly #fits: ((row: WireRow) => boolean) | undefined;
  #places: number[] = [];
  #start = 0;
  #looked: number;
  /** Rows from here on are not shown. Undefined: all are. */
  pausedAt: number | undefined;

  constructor(rows: RowStore, filter: TapeFilter) {
    this.#rows = rows;
    this.#fits = fitsOf(filter);
    this.#looked = rows.first;
  }

  /** Takes what has come since. */
  catchUp(): void {
    if (!this.#fits) return;
    const { first } = this.#rows;
    for (let place = Math.max(this.#looked, first); place < this.#end; place += 1)
      if (this.#fits(this.#rows.at(place))) this.#places.push(place);
    this.#looked = this.#end;
    while (this.#start < this.#places.length && this.#places[this.#start]! < first) this.#start += 1;
    if (this.#start > 50_000) {
      this.#places = this.#places.slice(this.#start);
      this.#start = 0;
    }
  }

  get length(): number {
    return this.#fits ? this.#places.length - this.#start : Math.max(0, this.#end - this.#rows.first);
  }

  /** The place of the row at an index. */
  placeAt(index: number): number {
    return this.#fits ? this.#places[this.#start + index]! : this.#rows.first + index;
  }

  /** The index of a place, or of the next one that is shown. */
  indexOf(place: number): number {
    if (!this.#fits) return place - this.#rows.first;
    let low = this.#start;
    let high = this.#places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#places[middle]! < place) low = middle + 1;
      else high = middle;
    }
    return low - this.#start;
  }

  get #end(): number {
    return this.pausedAt === undefined ? this.#rows.end : Math.max(this.pausedAt, this.#rows.first);
  }
}

function fitsOf(filter: TapeFilter): ((row: WireRow) => boolean) | undefined {
  const { connections, direction, kind, call, found } = filter;
  const text = filter.text?.toLowerCase() ?? '';
  const kindNumber = kind ? KINDS.indexOf(kind as (typeof KINDS)[number]) : -1;
  const isEmpty = !connections && direction === undefined && kindNumber < 0 && !call && text === '' && !found;
  if (isEmpty) return undefined;
  return (row) =>
    (!connections || connections.has(row.connection)) &&
    (direction === undefined || row.direction === direction) &&
    (kindNumber < 0 || row.kind === kindNumber) &&
    (!call || row.call === call) &&
    (!found || found.has(row.seq)) &&
    (text === '' ||
      `${row.method} ${row.about} ${row.id ?? ''} ${KINDS[row.kind]}`.toLowerCase().includes(text));
}
