import { stripVTControlCharacters } from 'node:util';

/**
 * Text of a server, made safe for a terminal: it cannot move the cursor, change colours or reverse its direction. Line
 * ends and tabs stay.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replaceAll('\r\n', '\n').replace(UNPRINTABLE, '');
}

/** The same on one line. */
export function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}

/** Control characters except newline and tab, and those that change the direction of text. */
const UNPRINTABLE = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Shortened to `length` characters, with an ellipsis at the end. table.ts has `fit`, which counts columns. */
export function cut(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}
