import { LISTENERS } from './bridge.js';
import { CLIENTS } from './clients/index.js';
import { FEATURES, type Feature } from './features/feature.js';
import type { Cell } from './limits.js';
import { UPSTREAMS } from './upstreams.js';

/** `because`: why it cannot work, in words. */
export type Outcome =
  | 'fails'
  | { readonly works: true; readonly remark?: string }
  | { readonly because: string };

/** What a run found, cell by cell and feature by feature. */
export class Outcomes {
  readonly #found = new Map<string, Outcome>();

  set(cell: Cell, feature: Feature, outcome: Outcome): void {
    this.#found.set(keyOf(cell, feature), outcome);
  }

  /** A run that was narrowed says nothing about the rest. */
  get areComplete(): boolean {
    return this.#found.size === CLIENTS.length * UPSTREAMS.length * LISTENERS.length * FEATURES.length;
  }

  /** The Markdown of the table and its notes. */
  toTable(): string {
    const notes: string[] = [];
    const rows = CLIENTS.flatMap((client) =>
      UPSTREAMS.map((upstream) => {
        const place = { client: client.name, upstream: upstream.name };
        return [
          client.title,
          upstream.title,
          ...FEATURES.map((feature) => this.#mark(place, feature, notes)),
        ];
      }),
    );
    const table = alignedTable([['client', 'server', ...FEATURES], ...rows]);
    return [...table, '', ...notes.map((note, index) => `${index + 1}. ${note}`)].join('\n').trimEnd();
  }

  /** One mark when it is the same for all listeners. */
  #mark(place: Omit<Cell, 'listener'>, feature: Feature, notes: string[]): string {
    const marks = LISTENERS.map((listener) => {
      const outcome = this.#found.get(keyOf({ ...place, listener }, feature));
      return { listener, mark: markOf(outcome, notes) };
    });
    const [first] = marks;
    if (marks.every(({ mark }) => mark === first!.mark)) return first!.mark;
    return marks.map(({ listener, mark }) => `${listener} ${mark}`).join(', ');
  }
}

function keyOf({ client, upstream, listener }: Cell, feature: Feature): string {
  return [client, upstream, listener, feature].join(' | ');
}

function markOf(outcome: Outcome | undefined, notes: string[]): string {
  if (outcome === undefined) return '?';
  if (outcome === 'fails') return '✗';
  if ('because' in outcome) return `– ${numberOf(outcome.because, notes)}`;
  return outcome.remark === undefined ? '✓' : `✓ ${numberOf(outcome.remark, notes)}`;
}

/** Notes are numbered in the order in which they are needed. */
function numberOf(note: string, notes: string[]): string {
  if (!notes.includes(note)) notes.push(note);
  return `[${notes.indexOf(note) + 1}]`;
}

function alignedTable(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const [head, ...body] = rows;
  return [line(head!), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)];
}
