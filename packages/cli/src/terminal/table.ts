import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';

export interface TableOptions {
  /** Columns of the terminal. With infinity every row is one line. */
  readonly width: number;
  /** Cells longer than this are cut. Default 3. */
  readonly maxLines?: number;
  /** Before every line. */
  readonly indent?: string;
  /** Colours a cell. It must not change its width. */
  readonly paint?: (text: string, column: number) => string;
}

/** Rows with aligned columns. The last column gets the rest of the width, and wraps. */
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
        const isLast = column === cells.length - 1;
        return paint(text, column) + (isLast ? '' : ' '.repeat(Math.max(0, widths[column]! - widthOf(text))));
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

/** The largest part of the remaining width that a column before the last may take. */
const SHARE = 0.45;

/** The width of the text in columns. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Lines of at most `width` columns, broken at spaces where there are any. */
export function wrap(text: string, width: number): string[] {
  if (!Number.isFinite(width)) return [text];
  // A long word, such as a URL, begins on its own line before it is broken.
  return linesOf(text, width, {}).flatMap((line) =>
    widthOf(line) > width ? linesOf(line, width, NO_WORDS) : [line],
  );
}

/** At most `maxLines` lines; an ellipsis marks that the text is longer. */
export function wrapAndCut(text: string, width: number, maxLines: number): string[] {
  const lines = wrap(text, width);
  if (lines.length <= maxLines) return lines;
  return [...lines.slice(0, maxLines - 1), fit(`${lines[maxLines - 1]!}…`, width)];
}

/** Shortened to `width` columns, with an ellipsis at the end. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return width < 2 ? '…' : `${linesOf(text.replace(/…$/, ''), width - 1, NO_WORDS)[0]}…`;
}

function linesOf(text: string, width: number, options: Parameters<typeof wrapAnsi>[2]): string[] {
  return wrapAnsi(text, width, options).split('\n');
}

/** Fills every line, without regard to spaces. */
const NO_WORDS = { hard: true, wordWrap: false, trim: false };
