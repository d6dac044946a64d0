/**
 * How deep JSON from a peer may be nested. A parser builds one object for each level, and writing deep JSON recurses:
 * 4 MiB of brackets blocked the event loop for 1.8 s (S11).
 */
export const MAX_DEPTH = 1000;

/** Whether the JSON opens more than `MAX_DEPTH` arrays and objects inside each other. */
export function isTooDeep(json: string | Buffer): boolean {
  // Almost every message has fewer brackets in total, and `indexOf` scans text at memory speed.
  if (json.length <= MAX_DEPTH || hasFewBrackets(json)) return false;
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth -= 1;
  }
  return false;
}

function hasFewBrackets(json: string | Buffer): boolean {
  let count = 0;
  for (const opener of ['[', '{']) {
    for (let at = json.indexOf(opener); at >= 0; at = json.indexOf(opener, at + 1)) {
      count += 1;
      if (count > MAX_DEPTH) return false;
    }
  }
  return true;
}

/** The index of the closing quote, or the end. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
  }
  return bytes.length;
}

const QUOTE = 34;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
