/**
 * Text in which a program wrote an object or a list under a secret's name, as in `{"token": {"value": "…"}}`: all of
 * that value is replaced. Takes time that grows with the text and not with its square: each value is read once.
 */
export function withoutNestedSecrets(text: string, replacement: string): string {
  let clean = '';
  let copied = 0;
  NAMES.lastIndex = 0;
  for (let name = NAMES.exec(text); name; name = NAMES.exec(text)) {
    const begin = name.index + name[0].length;
    clean += `${text.slice(copied, begin)}${replacement}`;
    copied = endOfNested(text, begin);
    NAMES.lastIndex = copied;
  }
  return copied === 0 ? text : clean + text.slice(copied);
}

/** Where the object or list that begins here ends. One that was cut off ends with the text. */
export function endOfNested(text: string, begin: number): number {
  let depth = 0;
  PARTS.lastIndex = begin;
  for (let part = PARTS.exec(text); part; part = PARTS.exec(text)) {
    const sign = part[0].at(-1)!;
    if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '}' || sign === ']') depth -= 1;
    else PARTS.lastIndex = endOfString(text, PARTS.lastIndex, sign, part[0].length - 1);
    if (depth <= 0) return PARTS.lastIndex;
  }
  return text.length;
}

/** JSON within a string of JSON has a backslash before each quote, and within that again three. */
function endOfString(text: string, begin: number, quote: string, escapes: number): number {
  for (let at = text.indexOf(quote, begin); at >= 0; at = text.indexOf(quote, at + 1)) {
    let slashes = 0;
    while (at - slashes > begin && text[at - slashes - 1] === '\\') slashes += 1;
    if (escapes === 0 ? slashes % 2 === 0 : slashes <= escapes) return at + 1;
  }
  return text.length;
}

/** `"token": {` as JSON and Python write it, also within a string, and `{ token: {` as JavaScript shows it. */
const NAMES =
  /(?:["']|(?<=[{,]\s{0,4}))(?!progressToken)[\w-]{0,60}(?:token|secret|password|passwd|api[_-]?key|credentials?|authorization|cookie)\\{0,7}["']?\s{0,4}:\s{0,4}(?=[[{])/gi;
/** Brackets, and where strings begin: brackets in a string do not count. */
const PARTS = /[[\]{}]|\\{0,7}["'`]/g;
