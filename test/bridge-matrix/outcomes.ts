import { LISTENERS, type Listener } from './bridge.js';
import { CLIENTS } from './clients/index.js';
import { FEATURES, type Feature } from './features/feature.js';
import { type Cell, LIMITS, type Limit } from './limits.js';
import { UPSTREAMS } from './upstreams.js';

export type Outcome = 'works' | 'fails' | Limit;

/** What a run found, cell by cell and feature by feature. */
export class Outcomes {
  readonly #found = new Map<string, Outcome>();

  set(cell: Cell, feature: Feature, outcome: Outcome): void {
    this.#found.set(keyOf(cell, feature), outcome);
  }

  get(cell: Cell, feature: Feature): Outcome | undefined {
    return this.#found.get(keyOf(cell, feature));
  }

  /** A run that was narrowed says nothing about the rest. */
  get areComplete(): boolean {
    return this.#found.size === CLIENTS.length * UPSTREAMS.length * LISTENERS.length * FEATURES.length;
  }

  /** The Markdown of the table and its notes. */
  toTable(): string {
    const rows = CLIENTS.flatMap((client) =>
      UPSTREAMS.map((upstream) => [
        client.title,
        upstream.title,
        ...FEATURES.map((feature) => this.#mark({ client: client.name, upstream: upstream.name }, feature)),
      ]),
    );
    const notes = LIMITS.map(({ reason }, index) => `${index + 1}. ${reason}`);
    return [...alignedTable([['client', 'server', ...FEATURES], ...rows]), '', ...notes].join('\n').trimEnd();
  }

  /** One mark when it is the same for all listeners. */
  #mark(cell: Omit<Cell, 'listener'>, feature: Feature): string {
    const marks = LISTENERS.map((listener) => [listener, markOf(this.get({ ...cell, listener }, feature))]);
    const [first] = marks;
    if (marks.every(([, mark]) => mark === first![1])) return first![1]!;
    return marks.map(([listener, mark]) => `${listener} ${mark}`).join(', ');
  }
}

function keyOf({ client, upstream, listener }: Cell & { listener: Listener }, feature: Feature): string {
  return [client, upstream, listener, feature].join(' | ');
}

function markOf(outcome: Outcome | undefined): string {
  if (outcome === undefined) return '?';
  if (outcome === 'works') return '✓';
  if (outcome === 'fails') return '✗';
  return `[${LIMITS.indexOf(outcome) + 1}]`;
}

function alignedTable(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const [head, ...body] = rows;
  return [line(head!), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)];
}
