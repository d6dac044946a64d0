/** Strings with a defined format. */
import { text } from './shape.js';

/** RFC 3986: a scheme, then allowed or percent-encoded characters. */
export const uri = text('a URI (RFC 3986)', isUri);

export const uriTemplate = text('a URI template (RFC 6570)', isUriTemplate);

/** RFC 4648 with its padding, on one line. */
export const base64 = text('base64 (RFC 4648, padded)', isBase64);

/** `type/subtype`, with parameters or without. */
export const mediaType = text('a media type such as "text/plain"', (value) => MEDIA_TYPE.test(value));

export const iso8601 = text('a date or time of ISO 8601', isIso8601);

const URI = /^[a-z][a-z0-9+.-]*:(?:[a-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9a-f]{2})*$/i;

export function isUri(value: string): boolean {
  return URI.test(value) && value.indexOf('#') === value.lastIndexOf('#');
}

function isBase64(value: string): boolean {
  return value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
}

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const MEDIA_TYPE = new RegExp(
  `^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*(?:${TOKEN}=(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*"))?)*$`,
);

const ISO_8601 =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T([01]\d|2[0-4]):([0-5]\d)(?::([0-5]\d|60)(?:[.,]\d+)?)?(?:Z|[+-]\d\d(?::?[0-5]\d)?)?)?)?)?$/;

function isIso8601(value: string): boolean {
  const [whole, year, month, day] = ISO_8601.exec(value) ?? [];
  if (whole === undefined) return false;
  const days = new Date(Date.UTC(Number(year), Number(month ?? 1), 0)).getUTCDate();
  return isWithin(month, 12) && isWithin(day, days);
}

function isWithin(part: string | undefined, most: number): boolean {
  return part === undefined || (Number(part) >= 1 && Number(part) <= most);
}

/** The grammar of RFC 6570: literals, and expressions in braces. */
const OPERATOR = /^[+#./;?&=,!@|]/;
const VARIABLE = /^(?:\w|%[0-9a-f]{2})(?:\.?(?:\w|%[0-9a-f]{2}))*(?::[1-9]\d{0,3}|\*)?$/i;
/** Forbidden in literals: controls, space, `"`, `'`, `<`, `>`, `\`, `^`, `` ` ``, `{`, `|`, `}`, and a lone `%`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const BAD_LITERAL = /[\x00-\x20"'<>\\^`{|}\x7f]|%(?![0-9a-f]{2})/i;

export function isUriTemplate(value: string): boolean {
  const parts = value.split(/\{([^{}]*)\}/);
  return parts.every((part, index) => (index % 2 === 0 ? !BAD_LITERAL.test(part) : isExpression(part)));
}

/** `{a}`, `{+a,b*}`, `{?q:3}`. The operators `=`, `,`, `!`, `@` and `|` are reserved. */
function isExpression(inside: string): boolean {
  const operator = OPERATOR.exec(inside)?.[0] ?? '';
  if ('=,!@|'.includes(operator) && operator !== '') return false;
  return inside
    .slice(operator.length)
    .split(',')
    .every((variable) => VARIABLE.test(variable));
}
