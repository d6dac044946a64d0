import { stripVTControlCharacters } from 'node:util';

/**
 * Text of a server, safe to show: it must not move the cursor, change colours or hide what it really says. Line
 * ends and tabs stay.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replaceAll('\r\n', '\n').replace(UNPRINTABLE, '');
}

/** The same on one line. */
export function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}

/** Control characters except newline and tab, and those that turn the direction of text around. */
const UNPRINTABLE = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Columns that the text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    if (INVISIBLE.test(character)) continue;
    width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}

const INVISIBLE = /\p{Mn}|\p{Me}|[\u200b-\u200d]/u;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Lines of at most `width` columns, broken at spaces where there are any. */
export function wrap(text: string, width: number): string[] {
  if (!Number.isFinite(width)) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((each) => pieces(each, width))) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line];
}

/** At most `maxLines` of them; the last says that there was more. */
export function wrapAndCut(text: string, width: number, maxLines: number): string[] {
  const lines = wrap(text, width);
  if (lines.length <= maxLines) return lines;
  return [...lines.slice(0, maxLines - 1), cut(`${lines[maxLines - 1]!}…`, width)];
}

/** Shortened to `width` columns, with an ellipsis where something is missing. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let result = '';
  for (const character of text.replace(/…$/, '')) {
    if (widthOf(result + character) >= width) break;
    result += character;
  }
  return `${result}…`;
}

/** A word that does not fit on a line, in parts that do. */
function pieces(word: string, width: number): string[] {
  if (widthOf(word) <= width) return [word];
  const parts: string[] = [];
  let part = '';
  for (const character of word) {
    if (widthOf(part + character) > width) {
      parts.push(part);
      part = '';
    }
    part += character;
  }
  return [...parts, part];
}
