import { signal } from '@preact/signals';
import type { FrameRow, RowsEvent, Seq } from '../../../src/contract.js';
import { soon } from './soon.js';

/** One frame as a list shows it. */
export interface WireRow {
  readonly seq: Seq;
  readonly at: number;
  readonly connection: number;
  readonly direction: 0 | 1;
  readonly kind: number;
  readonly method: string;
  readonly about: string;
  readonly id: string | number | null;
  readonly call: number;
  readonly bytes: number;
  readonly took: number;
  readonly flags: number;
}

/**
 * The newest rows, in typed arrays: 100,000 objects would make the collector of the browser stop the page. A place is the
 * count of rows before it since the beginning; `first` is the oldest place that is still here.
 */
export class RowStore {
  /** Rises when rows have come, at most once a frame. */
  readonly version = signal(0);
  /** How many rows of all that came were errors. */
  errors = 0;
  readonly names: string[] = [''];
  #capacity: number;
  #count = 0;
  /** The number of the newest frame that was told of, to resume from. */
  lastSeq = 0;
  readonly #seq: Float64Array;
  readonly #at: Float64Array;
  readonly #connection: Uint32Array;
  readonly #packed: Uint16Array;
  readonly #method: Uint32Array;
  readonly #about: Uint32Array;
  readonly #call: Uint32Array;
  readonly #bytes: Uint32Array;
  readonly #took: Float32Array;
  #ids: (string | number | null)[] = [];
  /** Places before which rows were left out, with how many. */
  readonly gaps = new Map<number, { readonly from: Seq; readonly to: Seq; readonly lost: boolean }>();
  /** The numbers of the names of notifications that a list has changed. */
  readonly #listNews = new Map<number, 'tools' | 'resources' | 'prompts'>();
  /** A server said that a list has changed, so long after the process began. */
  onListNews: ((what: 'tools' | 'resources' | 'prompts', at: number) => void) | undefined;
  readonly #changed = soon(() => {
    this.version.value += 1;
  }, 80);

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#seq = new Float64Array(capacity);
    this.#at = new Float64Array(capacity);
    this.#connection = new Uint32Array(capacity);
    this.#packed = new Uint16Array(capacity);
    this.#method = new Uint32Array(capacity);
    this.#about = new Uint32Array(capacity);
    this.#call = new Uint32Array(capacity);
    this.#bytes = new Uint32Array(capacity);
    this.#took = new Float32Array(capacity);
  }

  get first(): number {
    return Math.max(0, this.#count - this.#capacity);
  }

  /** One more than the newest place. */
  get end(): number {
    return this.#count;
  }

  add({ names, rows }: RowsEvent): void {
    for (const [number, text] of names) {
      this.names[number] = text;
      const [, what] = /^notifications\/(tools|resources|prompts)\/list_changed$/.exec(text) ?? [];
      if (what !== undefined) this.#listNews.set(number, what as 'tools' | 'resources' | 'prompts');
    }
    for (const row of rows) this.#put(row);
    this.#changed();
  }

  /** A gap that a search of the ring can fill is told with `lost: false`. */
  addGap(from: Seq, to: Seq, lost: boolean): void {
    this.gaps.set(this.#count, { from, to, lost });
    if (this.gaps.size > 1000) this.gaps.delete(this.gaps.keys().next().value!);
    this.lastSeq = Math.max(this.lastSeq, to);
    this.#changed();
  }

  clear(): void {
    this.#count = 0;
    this.lastSeq = 0;
    this.#ids = [];
    this.names.splice(1);
    this.#listNews.clear();
    this.gaps.clear();
    this.#changed();
  }

  at(place: number): WireRow {
    const slot = place % this.#capacity;
    const packed = this.#packed[slot]!;
    return {
      seq: this.#seq[slot]!,
      at: this.#at[slot]!,
      connection: this.#connection[slot]!,
      direction: (packed & 1) as 0 | 1,
      kind: (packed >> 1) & 15,
      flags: packed >> 5,
      method: this.names[this.#method[slot]!] ?? '',
      about: this.names[this.#about[slot]!] ?? '',
      id: this.#ids[slot] ?? null,
      call: this.#call[slot]!,
      bytes: this.#bytes[slot]!,
      took: this.#took[slot]!,
    };
  }

  /** The place of a frame. Rows are in the order of their numbers. */
  placeOf(seq: Seq): number | undefined {
    let low = this.first;
    let high = this.#count - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.#seq[middle % this.#capacity]!;
      if (found === seq) return middle;
      if (found < seq) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  #put([seq, at, connection, direction, kind, method, about, id, call, bytes, took, flags]: FrameRow): void {
    if (seq <= this.lastSeq) return;
    const slot = this.#count % this.#capacity;
    this.#seq[slot] = seq;
    this.#at[slot] = at;
    this.#connection[slot] = connection;
    this.#packed[slot] = direction | (kind << 1) | (flags << 5);
    this.#method[slot] = method;
    this.#about[slot] = about;
    this.#ids[slot] = id;
    this.#call[slot] = call;
    this.#bytes[slot] = bytes;
    this.#took[slot] = took;
    this.#count += 1;
    this.lastSeq = seq;
    if (kind === 2) this.errors += 1;
    if (kind !== 3) return;
    const news = this.#listNews.get(method);
    if (news) this.onListNews?.(news, at);
  }
}

/** By the number of a kind. */
export const KINDS = [
  'request',
  'result',
  'error',
  'notification',
  'http',
  'stderr',
  'noise',
  'process',
  'note',
  'batch',
] as const;
