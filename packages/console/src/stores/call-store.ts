import type { AnsweredQuestion, CallDetail, CallRow, CallsPage, CallsQuery, LogRow } from '../contract.js';
import { Announcer } from './announcer.js';

/** A call with what is known of it besides its row. */
export interface CallEntry {
  row: CallRow;
  /** Who made it in the console. */
  readonly who?: string | undefined;
  readonly params?: string | undefined;
  readonly progressed: CallDetail['progressed'][number][];
  readonly logs: LogRow[];
  readonly questions: AnsweredQuestion[];
  result?: string | undefined;
  error?: CallDetail['error'] | undefined;
  structured?: CallDetail['structured'] | undefined;
  /** Cancels it. Undefined once it is over. */
  cancel?: ((reason: string) => void) | undefined;
}

/** The calls that run, and the last ones that are over. */
export class CallStore {
  readonly changes = new Announcer<CallRow>();
  readonly #entries = new Map<number, CallEntry>();
  /** Requests of the page that are not calls of a person: lists, completions, subscriptions. */
  readonly #aside = new Set<number>();
  #count = 0;
  /** What the kept results take. */
  #resultChars = 0;

  /** A number for the next call. Frames that are recorded use the same numbers. */
  nextNumber(): number {
    this.#count += 1;
    return this.#count;
  }

  /** A number for a request that the page makes, and that no list of calls shows. */
  nextOwnNumber(): number {
    const number = this.nextNumber();
    this.#aside.add(number);
    if (this.#aside.size > MAX_ASIDE) this.#aside.delete(this.#aside.values().next().value!);
    return number;
  }

  /** The page made the request with this number. */
  isOwn(number: number): boolean {
    return this.#entries.get(number)?.row.own === true || this.#aside.has(number);
  }

  begin(entry: CallEntry): void {
    this.#count = Math.max(this.#count, entry.row.id);
    this.#entries.set(entry.row.id, entry);
    if (this.#entries.size > MAX_CALLS) this.#forget();
    this.changes.tell(entry.row);
  }

  get(id: number): CallEntry | undefined {
    return this.#entries.get(id);
  }

  change(entry: CallEntry, change: Partial<CallRow>): void {
    entry.row = { ...entry.row, ...change };
    this.changes.tell(entry.row);
  }

  end(entry: CallEntry, change: Partial<CallRow>): void {
    entry.cancel = undefined;
    this.#resultChars += entry.result?.length ?? 0;
    this.#dropResults(entry);
    this.change(entry, { ...change, state: 'done', place: undefined });
  }

  /** The calls that are not over, and the last ones that are. Oldest first. */
  current(done: number): readonly CallRow[] {
    const rows = [...this.#entries.values()].map(({ row }) => row);
    const over = rows.filter(({ state }) => state === 'done').slice(-done);
    const kept = new Set(over);
    return rows.filter((row) => row.state !== 'done' || kept.has(row));
  }

  /** Newest first. */
  find({ state, server, tool, caller, outcome, before, limit = 100 }: CallsQuery): CallsPage {
    const found: CallRow[] = [];
    const rows = [...this.#entries.values()].map(({ row }) => row).reverse();
    for (const row of rows) {
      if (before !== undefined && row.id >= before) continue;
      if (state !== undefined && (row.state === 'done') !== (state === 'done')) continue;
      if (server !== undefined && row.server !== server) continue;
      if (tool !== undefined && row.tool !== tool) continue;
      if (caller !== undefined && row.client?.principal !== caller) continue;
      if (outcome !== undefined && row.outcome !== outcome) continue;
      if (found.length === limit) return { calls: found, more: true };
      found.push(row);
    }
    return { calls: found, more: false };
  }

  all(): IterableIterator<CallEntry> {
    return this.#entries.values();
  }

  /** The oldest call that is over. Open calls are bounded elsewhere. */
  #forget(): void {
    for (const [id, { row, result }] of this.#entries) {
      if (row.state !== 'done') continue;
      this.#resultChars -= result?.length ?? 0;
      this.#entries.delete(id);
      return;
    }
  }

  /** The oldest results are dropped first. Their frames may still have them. */
  #dropResults(newest: CallEntry): void {
    for (const entry of this.#entries.values()) {
      if (this.#resultChars <= MAX_RESULT_CHARS || entry === newest) return;
      this.#resultChars -= entry.row.state === 'done' ? (entry.result?.length ?? 0) : 0;
      if (entry.row.state === 'done') entry.result = undefined;
    }
  }
}

const MAX_CALLS = 2000;
const MAX_ASIDE = 1000;
const MAX_RESULT_CHARS = 64 * 1024 * 1024;
