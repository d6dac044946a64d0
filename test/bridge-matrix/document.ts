import { readFileSync, writeFileSync } from 'node:fs';

const BEGIN = '<!-- matrix:begin -->';
const END = '<!-- matrix:end -->';
const DOCUMENT = new URL('../../docs/bridge.md', import.meta.url);

/** The table as the document has it. */
export function tableInDocument(): string {
  return cut(readFileSync(DOCUMENT, 'utf8')).table.trim();
}

/** Replaces the table in the document. */
export function writeTable(table: string): void {
  const { before, after } = cut(readFileSync(DOCUMENT, 'utf8'));
  writeFileSync(DOCUMENT, `${before}${BEGIN}\n\n${table}\n\n${END}${after}`);
}

function cut(text: string): { before: string; table: string; after: string } {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`docs/bridge.md has no ${BEGIN} … ${END}`);
  return {
    before: text.slice(0, begin),
    table: text.slice(begin + BEGIN.length, end),
    after: text.slice(end + END.length),
  };
}
