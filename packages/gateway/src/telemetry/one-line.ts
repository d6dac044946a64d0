import { stripVTControlCharacters } from 'node:util';

/** Text of others on one line: it must not move the cursor or look like another line of a log. */
export function oneLine(value: unknown): string {
  return stripVTControlCharacters(String(value ?? ''))
    .replace(CONTROLS, ' ')
    .trimEnd();
}

/** JSON on one line, also for readers that end lines at more characters than a line feed. */
export function escapedJson(value: unknown): string {
  return JSON.stringify(value).replace(
    EIGHT_BITS,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Control characters above 7 bits, and those that end lines or turn text round. JSON does not escape them. */
export const EIGHT_BITS = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** Also the characters that change the direction of text, because they can change how a line reads (S11). */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;
