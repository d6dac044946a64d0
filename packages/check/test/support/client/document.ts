import { readFileSync, writeFileSync } from 'node:fs';

const DOCUMENT = new URL('../../../../../docs/check-client.md', import.meta.url);

/** What the document has between `<!-- name:begin -->` and `<!-- name:end -->`. */
export function inDocument(name: string): string {
  return cut(name).block.trim();
}

export function writeToDocument(name: string, text: string): void {
  const { before, after } = cut(name);
  writeFileSync(DOCUMENT, `${before}\n\n${text}\n\n${after}`);
}

function cut(name: string): { before: string; block: string; after: string } {
  const text = readFileSync(DOCUMENT, 'utf8');
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf(end);
  if (from < begin.length || to < from) throw new Error(`docs/check-client.md has no ${begin} … ${end}`);
  return { before: text.slice(0, from), block: text.slice(from, to), after: text.slice(to) };
}

/** Columns as wide as their widest cell, as the formatter of the documents has them. */
export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, at) => Math.max(...lines.map((row) => row[at]!.length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
  return [line(lines[0]!), line(widths.map((width) => '-'.repeat(width))), ...lines.slice(1).map(line)].join(
    '\n',
  );
}
