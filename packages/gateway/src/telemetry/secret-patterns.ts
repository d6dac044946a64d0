/** The replacement of a secret. */
export const REDACTED = '[redacted]';

/** Whether the value under this name is a secret, whatever it looks like: a header, an option, a variable. */
export function isSecretName(name: string): boolean {
  return SECRET_NAMES.test(name);
}

/** Removes what looks like a secret. The time grows linearly with the text. */
export function withoutLikelySecrets(text: string): string {
  let clean = text;
  // Most text has none of these, and one test for all of them costs less than one for each.
  if (!SUSPICIOUS.test(text)) return text;
  for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement);
  return withoutNestedSecrets(clean, REDACTED);
}

const SECRET_NAMES =
  /^(?:(?:proxy-)?authorization|(?:set-)?cookie|.{0,60}[_-](?:token|secret|password|passwd|api[_-]?key|credentials?)|(?:access|refresh|id|auth|bearer)?token|(?:client)?secret|password|passwd|api[_-]?key|credentials?)$/i;

const SUSPICIOUS =
  /bearer|basic|authorization|cookie|:\/\/|token|key|secret|passw|credential|=|sk-|sk_|rk_|gh[opsur]_|github_pat_|glpat-|xox|AKIA|AIza|eyJ/i;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // A header as it is written: all that follows on the line belongs to it.
  [
    /\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key|api-key|x-auth-token)(["']?\s{0,4}[:=]\s{0,4}["']?)[^"'\r\n]+/gi,
    `$1$2${REDACTED}`,
  ],
  [/\b(bearer)\s{1,4}[\w.~+/=-]+/gi, `$1 ${REDACTED}`],
  // `Basic` is also an ordinary word. Credentials in Base64 do not look like the word after it.
  [/\b([Bb]asic) {1,4}(?=[a-z]{0,200}[A-Z0-9+/=])[\w+/=-]{6,}/g, `$1 ${REDACTED}`],
  // `scheme://user:password@host`
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"'<>]+@/gi, `$1${REDACTED}@`],
  [/([?&;](?:key|code|sig|signature|auth|session(?:_?id)?|state)=)[^&#\s"'<>]+/gi, `$1${REDACTED}`],
  // `?access_token=…`, `API_KEY=…`, `--api-key=…`
  [
    /(\b[\w-]{0,60}(?:token|secret|password|passwd|api[_-]?key|credentials?)=["']?)[^&#\s"'<>,;]+/gi,
    `$1${REDACTED}`,
  ],
  // The same as JSON.
  [
    /(["'](?!progressToken)[\w-]{0,60}(?:token|secret|password|passwd|api[_-]?key|credentials?)["']\s{0,4}:\s{0,4}["'])[^"']+/gi,
    `$1${REDACTED}`,
  ],
  // The same as JavaScript shows it.
  [
    /([{,]\s{0,4}(?!progressToken)[\w-]{0,60}(?:token|secret|password|passwd|api[_-]?key|credentials?)\s{0,4}:\s{0,4}["'`])[^"'`]+/gi,
    `$1${REDACTED}`,
  ],
  // Keys with a known prefix.
  [/\b(?:sk|pk|rk)[-_](?:[a-z]{2,10}[-_])?[A-Za-z0-9_-]{8,}/g, REDACTED],
  [/\b(?:gh[opsur]_|github_pat_|glpat-|npm_|hf_|xox[abeprs]-)[A-Za-z0-9_-]{10,}/g, REDACTED],
  [/\bAKIA[0-9A-Z]{16}\b/g, REDACTED],
  [/\bAIza[\w-]{30,}/g, REDACTED],
  [/\beyJ[\w-]{8,400}\.[\w-]{8,}\.[\w-]*/g, REDACTED],
];

/**
 * Replaces an object or a list under the name of a secret, as in `{"token": {"value": "…"}}`, as a whole. The time grows
 * linearly with the text, because each value is read once.
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

/** The end of the object or list that begins here. If it was cut off, the end of the text. */
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
