import { padEnd, widthOf, wrapAndCut } from './text.js';

export interface TableOptions {
  /** Columns of the terminal, or infinity: then every row is one line. */
  readonly width: number;
  /** Cells longer than this are cut. Default 3. */
  readonly maxLines?: number;
  /** Before every line. */
  readonly indent?: string;
  /** Changes the looks of a cell, not its width. */
  readonly paint?: (text: string, column: number) => string;
}

/** Rows with aligned columns. The last column takes what is left of the width, and wraps within itself. */
export function table(rows: readonly (readonly string[])[], options: TableOptions): string {
  const { width, maxLines = 3, indent = '', paint = (text) => text } = options;
  const widths = columnWidths(rows, width - indent.length);
  const lines: string[] = [];
  for (const row of rows) {
    const cells = row.map((cell, column) => wrapAndCut(cell, widths[column]!, maxLines));
    const height = Math.max(...cells.map((cell) => cell.length));
    for (let at = 0; at < height; at += 1) {
      const parts = cells.map((cell, column) => {
        const text = cell[at] ?? '';
        const last = column === cells.length - 1;
        return paint(text, column) + (last ? '' : ' '.repeat(padding(text, widths[column]!)));
      });
      lines.push(`${indent}${parts.join(GAP)}`.trimEnd());
    }
  }
  return lines.map((line) => `${line}\n`).join('');
}

const GAP = '  ';
const NARROWEST = 4;

function columnWidths(rows: readonly (readonly string[])[], width: number): number[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const natural = Array.from({ length: count }, (_, column) =>
    Math.max(0, ...rows.map((row) => widthOf(row[column] ?? ''))),
  );
  if (!Number.isFinite(width))
    return natural.map((each, at) => (at === count - 1 ? Number.POSITIVE_INFINITY : each));
  let left = width;
  return natural.map((each, column) => {
    const rest = count - column - 1;
    const most = rest === 0 ? left : Math.max(NARROWEST, Math.floor(left * SHARE));
    const taken = rest === 0 ? Math.max(NARROWEST, most) : Math.min(each, most);
    left -= taken + GAP.length;
    return taken;
  });
}

/** Of what is left, a column that is not the last takes at most this part. */
const SHARE = 0.45;

function padding(text: string, width: number): number {
  return padEnd(text, width).length - text.length;
}
