import { table, wrap } from './table.js';
import type { Terminal } from './terminal.js';

/** A page of our own documentation for a terminal. A pipe gets the Markdown as it is. */
export function renderMarkdown(text: string, { width, out }: Pick<Terminal, 'width' | 'out'>): string {
  const columns = Math.min(width, WIDEST);
  const lines: string[] = [];
  for (const block of blocksOf(text)) {
    if (lines.length > 0) lines.push('');
    switch (block.kind) {
      case 'heading':
        lines.push(
          out.bold(block.depth === 1 ? inline(block.text, out).toUpperCase() : inline(block.text, out)),
        );
        break;
      case 'code':
        lines.push(...block.lines.map((line) => `    ${out.cyan(line)}`.trimEnd()));
        break;
      case 'table':
        lines.push(...renderTable(block.rows, width, out));
        break;
      case 'list':
        for (const { mark, text: item } of block.items) {
          const indent = ' '.repeat(mark.length + 1);
          const wrapped = wrap(inline(item, out), columns - indent.length);
          lines.push(...wrapped.map((line, at) => `${at === 0 ? `${mark} ` : indent}${line}`));
        }
        break;
      case 'text':
        lines.push(...wrap(inline(block.text, out), columns));
    }
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** Long lines are hard to read. */
const WIDEST = 100;

type Block =
  | { readonly kind: 'heading'; readonly depth: number; readonly text: string }
  | { readonly kind: 'code'; readonly lines: readonly string[] }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'list'; readonly items: { mark: string; text: string }[] }
  | { readonly kind: 'text'; readonly text: string };

/** Without the comments of HTML. A comment that is never closed stays. */
function withoutComments(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf('<!--', from);
    const end = start < 0 ? -1 : text.indexOf('-->', start);
    if (end < 0) return parts.join('') + text.slice(from);
    parts.push(text.slice(from, start));
    from = text[end + 3] === '\n' ? end + 4 : end + 3;
  }
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  const lines = withoutComments(text).split('\n');
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!;
    const heading = /^(#{1,6}) (.*)$/.exec(line);
    const isFence = /^\s*```/.test(line);
    if (line.trim() === '') at += 1;
    else if (heading) {
      blocks.push({ kind: 'heading', depth: heading[1]!.length, text: heading[2]! });
      at += 1;
    } else if (isFence) {
      const end = lines.findIndex((each, other) => other > at && /^\s*```\s*$/.test(each));
      const stop = end < 0 ? lines.length : end;
      blocks.push({ kind: 'code', lines: lines.slice(at + 1, stop) });
      at = stop + 1;
    } else if (line.startsWith('|')) {
      const rows = takeWhile(lines, at, (each) => each.startsWith('|'));
      blocks.push({ kind: 'table', rows: rows.filter((row) => !/^[|\s:-]+$/.test(row)).map(cellsOf) });
      at += rows.length;
    } else if (ITEM.test(line)) {
      const taken = takeWhile(lines, at, (each) => ITEM.test(each) || /^\s+\S/.test(each));
      blocks.push({ kind: 'list', items: itemsOf(taken) });
      at += taken.length;
    } else {
      const taken = takeWhile(
        lines,
        at,
        (each) => each.trim() !== '' && !/^(#{1,6} |\s*```|\||\s*[-*] )/.test(each),
      );
      const own = taken.length > 0 ? taken : [line];
      blocks.push({ kind: 'text', text: own.join(' ').replace(/\s+/g, ' ').trim() });
      at += own.length;
    }
  }
  return blocks;
}

const ITEM = /^(\s*)([-*]|\d+\.) +(.*)$/;

function takeWhile(lines: readonly string[], from: number, is: (line: string) => boolean): string[] {
  const end = lines.findIndex((line, at) => at >= from && !is(line));
  return lines.slice(from, end < 0 ? lines.length : end);
}

function itemsOf(lines: readonly string[]): { mark: string; text: string }[] {
  const items: { mark: string; text: string }[] = [];
  for (const line of lines) {
    const [, indent = '', mark = '', text = ''] = ITEM.exec(line) ?? [];
    const last = items.at(-1);
    if (mark !== '') items.push({ mark: `${indent}${mark === '*' ? '-' : mark}`, text });
    else if (last) last.text = `${last.text} ${line.trim()}`;
  }
  return items;
}

/** The cells of a row. `\|` is a bar in a cell. */
function cellsOf(row: string): string[] {
  const inner = row.trim().replace(/^\||\|$/g, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.replaceAll('\\|', '|').trim());
}

function renderTable(rows: readonly (readonly string[])[], width: number, out: Terminal['out']): string[] {
  const plain = rows.map((row) => row.map((cell) => inline(cell, NO_STYLE)));
  const [head = [], ...body] = plain;
  // Many columns do not fit: each row becomes a list of its cells.
  if (head.length > 2 && head.length * NARROW_COLUMN > width) {
    return body.flatMap(([name = '', ...cells]) => [
      out.bold(name),
      ...cells.flatMap((cell, at) =>
        cell === '' ? [] : wrap(`${head[at + 1] ?? ''}: ${cell}`, width - 2).map((line) => `  ${line}`),
      ),
    ]);
  }
  let row = -1;
  const text = table(plain, {
    width,
    maxLines: Number.POSITIVE_INFINITY,
    paint(cell, column) {
      if (column === 0) row += 1;
      return row === 0 ? out.bold(cell) : cell;
    },
  });
  return text.trimEnd().split('\n');
}

/** Emphasis, code, and links: of a link to the web the address stays, of one to another page its name. */
function inline(text: string, out: Pick<Terminal['out'], 'bold' | 'cyan'>): string {
  return text
    .replace(/!?\[([^\]]*)\]\(([^)\s]+)[^)]*\)/g, (_, label: string, to: string) =>
      /^https?:/.test(to) && label !== to ? `${label} (${to})` : label,
    )
    .replace(/\*\*([^*]+)\*\*/g, (_, strong: string) => out.bold(strong))
    .replace(/`([^`]+)`/g, (_, code: string) => out.cyan(code));
}

const NARROW_COLUMN = 24;

const NO_STYLE = { bold: (text: string) => text, cyan: (text: string) => text };
