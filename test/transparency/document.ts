import { readFileSync, writeFileSync } from 'node:fs';
import { DIFFERENCES } from './differences.js';

const BEGIN = '<!-- differences:begin -->';
const END = '<!-- differences:end -->';
const DOCUMENT = new URL('../../docs/bridge.md', import.meta.url);

/** The differences, for people. */
export function toList(): string {
  return DIFFERENCES.map(({ what, why }) => wrapped(`- ${what}, because ${why}.`)).join('\n');
}

/** The list as the document has it. */
export function listInDocument(): string {
  return placeInDocument().list.trim();
}

export function writeList(): void {
  const { before, after } = placeInDocument();
  writeFileSync(DOCUMENT, `${before}${BEGIN}\n\n${toList()}\n\n${END}${after}`);
}

function placeInDocument(): { before: string; list: string; after: string } {
  const text = readFileSync(DOCUMENT, 'utf8');
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`docs/bridge.md has no ${BEGIN} … ${END}`);
  return {
    before: text.slice(0, begin),
    list: text.slice(begin + BEGIN.length, end),
    after: text.slice(end + END.length),
  };
}

/** In lines like those of the rest of the document. */
function wrapped(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line.length + word.length > 115) lines.push(`  ${word}`);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\n');
}
