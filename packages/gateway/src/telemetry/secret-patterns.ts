import { withoutNestedSecrets } from './nested-secrets.js';

/** What stands in the place of a secret. */
export const REDACTED = '[redacted]';

/** Whether the value under this name is a secret, whatever it looks like: a header, an option, a variable. */
export function isSecretName(name: string): boolean {
  return SECRET_NAMES.test(name);
}

/** Text without what looks like a secret. Takes time that grows with the text and not with its square. */
export function withoutLikelySecrets(text: string): string {
  let clean = text;
  // Almost no text has any of these, and asking for all of them at once is cheaper than looking for each.
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
  // `Basic` is a word of its own, too; credentials in Base64 do not look like one.
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
  // Keys that say of themselves what they are.
  [/\b(?:sk|pk|rk)[-_](?:[a-z]{2,10}[-_])?[A-Za-z0-9_-]{8,}/g, REDACTED],
  [/\b(?:gh[opsur]_|github_pat_|glpat-|npm_|hf_|xox[abeprs]-)[A-Za-z0-9_-]{10,}/g, REDACTED],
  [/\bAKIA[0-9A-Z]{16}\b/g, REDACTED],
  [/\bAIza[\w-]{30,}/g, REDACTED],
  [/\beyJ[\w-]{8,400}\.[\w-]{8,}\.[\w-]*/g, REDACTED],
];
