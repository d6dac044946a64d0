import type { LogRow } from '../contract.js';
import { Announcer } from './announcer.js';

/** The last lines of logs, stderr and process events, bounded by their number and their length. */
export class LogStore {
  readonly changes = new Announcer<LogRow>();
  readonly #maxLines: number;
  #rows: LogRow[] = [];
  #chars = 0;
  #number = 0;

  constructor(maxLines = 10_000) {
    this.#maxLines = maxLines;
  }

  add(line: Omit<LogRow, 'number' | 'at'> & { readonly at?: number }): LogRow {
    this.#number += 1;
    const text = line.text.length > MAX_LENGTH ? `${line.text.slice(0, MAX_LENGTH)}…` : line.text;
    const row: LogRow = { ...line, number: this.#number, at: line.at ?? Date.now(), text };
    this.#rows.push(row);
    this.#chars += text.length;
    // In bulk: to remove each one would cost more.
    if (this.#rows.length >= 2 * this.#maxLines || this.#chars >= 2 * MAX_CHARS) this.#forget();
    this.changes.tell(row);
    return row;
  }

  #forget(): void {
    let first = this.#rows.length;
    this.#chars = 0;
    while (first > 0 && this.#rows.length - first < this.#maxLines && this.#chars < MAX_CHARS) {
      first -= 1;
      this.#chars += this.#rows[first]!.text.length;
    }
    this.#rows = this.#rows.slice(first);
  }

  last(lines: number, server?: string): readonly LogRow[] {
    const rows = server === undefined ? this.#rows : this.#rows.filter((row) => row.server === server);
    return rows.slice(-lines);
  }

  after(number: number): readonly LogRow[] {
    return this.#rows.filter((row) => row.number > number).slice(-this.#maxLines);
  }
}

const MAX_LENGTH = 10_000;
const MAX_CHARS = 8 * 1024 * 1024;

/** Cuts what a process writes to stderr into lines. The end of a line may come later. */
export class LineCutter {
  readonly #rest = new Map<number, string>();

  add(connection: number, text: string): readonly string[] {
    const lines = `${this.#rest.get(connection) ?? ''}${text}`.split('\n');
    const rest = lines.pop()!;
    this.#rest.set(connection, rest.length > MAX_LENGTH ? '' : rest);
    if (rest.length > MAX_LENGTH) lines.push(rest);
    return lines.map((line) => line.replace(/\r$/, ''));
  }

  end(connection: number): readonly string[] {
    const rest = this.#rest.get(connection) ?? '';
    this.#rest.delete(connection);
    return rest === '' ? [] : [rest];
  }
}
