/**
 * Text of a server as a reader may see it: what is invisible, or would turn the direction of the text around, is
 * replaced by its number: `‹U+001B›`. Line ends and tabs stay. Nothing is left that XML 1.0 could not carry.
 */
export function cleanText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(SECRETIVE, (character) => {
    return `‹U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}›`;
  });
}

/** Controls but newline and tab, halves of pairs, characters of no width, turns of direction, non-characters. */
const SECRETIVE =
  /[^\P{Cc}\n\t]|\p{Cs}|[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]|[\u{e0000}-\u{e007f}]/gu;

/** The same on one line. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}

/** The first `most` characters, and how many are missing. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  // Never between the two halves of a pair.
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return `${text.slice(0, end)} … (${text.length - end} more characters; --json has them)`;
}
