/** The grammar of RFC 6570: literals, and expressions in braces. */
const OPERATOR = /^[+#./;?&=,!@|]/;
const VARIABLE = /^(?:\w|%[0-9a-f]{2})(?:\.?(?:\w|%[0-9a-f]{2}))*(?::[1-9]\d{0,3}|\*)?$/i;
/** Not in literals: controls, space, `"`, `'`, `<`, `>`, `\`, `^`, `` ` ``, `{`, `|`, `}`, and `%` but in `%41`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const BAD_LITERAL = /[\x00-\x20"'<>\\^`{|}\x7f]|%(?![0-9a-f]{2})/i;

export function isUriTemplate(value: string): boolean {
  const parts = value.split(/\{([^{}]*)\}/);
  return parts.every((part, index) => (index % 2 === 0 ? !BAD_LITERAL.test(part) : isExpression(part)));
}

/** `{a}`, `{+a,b*}`, `{?q:3}`. The operators `=`, `,`, `!`, `@` and `|` are reserved, and mean nothing yet. */
function isExpression(inside: string): boolean {
  const operator = OPERATOR.exec(inside)?.[0] ?? '';
  if ('=,!@|'.includes(operator) && operator !== '') return false;
  return inside
    .slice(operator.length)
    .split(',')
    .every((variable) => VARIABLE.test(variable));
}
