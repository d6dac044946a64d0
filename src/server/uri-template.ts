import { IsthmusError } from '../errors.js';

/** Variables of a matched URI: a string, or a list where the template explodes (`{path*}`). */
export type TemplateVariables = Record<string, string | string[]>;

/** An RFC 6570 template read backwards: which values of its variables give this URI? */
export interface UriTemplate {
  readonly text: string;
  readonly variables: readonly string[];
  match(uri: string): TemplateVariables | undefined;
}

export function parseUriTemplate(text: string): UriTemplate {
  const captures: Capture[] = [];
  let pattern = '^';
  let literal = 0;
  for (const expression of text.matchAll(/\{([^{}]*)\}/g)) {
    pattern += literalPattern(text.slice(literal, expression.index), text);
    pattern += expressionPattern(expression[1]!, captures, text);
    literal = expression.index + expression[0].length;
  }
  pattern += `${literalPattern(text.slice(literal), text)}$`;
  const regex = new RegExp(pattern);
  return {
    text,
    variables: captures.map((capture) => capture.name),
    match(uri) {
      const found = regex.exec(uri);
      return found ? readVariables(captures, found) : undefined;
    },
  };
}

interface Operator {
  readonly first: string;
  readonly separator: string;
  /** `name=value` pairs. */
  readonly named: boolean;
  /** Characters a value may contain, as a regular expression class without its quantifier. */
  readonly value: string;
}

/** RFC 6570 §3.2, by operator. Values stop at the characters that delimit the next part. */
const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ['', { first: '', separator: ',', named: false, value: '[^/?#&,]' }],
  ['+', { first: '', separator: ',', named: false, value: '[^?#,]' }],
  ['#', { first: '#', separator: ',', named: false, value: '[^,]' }],
  ['.', { first: '.', separator: '.', named: false, value: '[^/?#.]' }],
  ['/', { first: '/', separator: '/', named: false, value: '[^/?#]' }],
  [';', { first: ';', separator: ';', named: true, value: '[^/?#;]' }],
  ['?', { first: '?', separator: '&', named: true, value: '[^&#]' }],
  ['&', { first: '&', separator: '&', named: true, value: '[^&#]' }],
]);

interface Capture {
  readonly name: string;
  readonly explode: boolean;
  readonly separator: string;
}

function expressionPattern(expression: string, captures: Capture[], template: string): string {
  const symbol = /^[+#./;?&]/.test(expression) ? expression[0]! : '';
  const operator = OPERATORS.get(symbol)!;
  const specs = expression.slice(symbol.length).split(',');
  return specs
    .map((spec, index) => {
      const parsed = /^([A-Za-z0-9_%][A-Za-z0-9_.%]*)(\*|:\d{1,4})?$/.exec(spec);
      if (!parsed) throw invalid(template, `{${expression}} is not an RFC 6570 expression`);
      const name = parsed[1]!;
      if (captures.some((capture) => capture.name === name))
        throw invalid(template, `"${name}" occurs twice`);
      const explode = parsed[2] === '*';
      captures.push({ name, explode, separator: operator.separator });
      return variablePattern(operator, name, explode, index === 0);
    })
    .join('');
}

/** A variable that is undefined leaves out its prefix too, except where there is none. */
function variablePattern(operator: Operator, name: string, explode: boolean, isFirst: boolean): string {
  const { separator, named, value } = operator;
  const prefix = literally(isFirst ? operator.first : separator);
  const one = named ? `${literally(name)}(?:=${value}*)?` : `${value}*`;
  const many = explode ? `${one}(?:${literally(separator)}${one})*` : one;
  const captured = `(${many})`;
  return prefix === '' ? captured : `(?:${prefix}${captured})?`;
}

function readVariables(captures: readonly Capture[], found: RegExpExecArray): TemplateVariables | undefined {
  const variables: [string, string | string[]][] = [];
  for (const [index, { name, explode, separator }] of captures.entries()) {
    const raw = found[index + 1];
    if (raw === undefined) continue;
    try {
      const values = (explode ? raw.split(separator) : [raw]).map((part) =>
        decodeURIComponent(
          part.startsWith(`${name}=`) ? part.slice(name.length + 1) : part === name ? '' : part,
        ),
      );
      variables.push([name, explode ? values : values[0]!]);
    } catch {
      return undefined; // not percent-encoded text: no expansion gives this URI
    }
  }
  return Object.fromEntries(variables);
}

function literalPattern(literal: string, template: string): string {
  if (/[{}]/.test(literal)) throw invalid(template, 'a brace is not closed');
  return literally(literal);
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

function invalid(template: string, why: string): IsthmusError {
  return new IsthmusError('INVALID_OPTION', `The URI template ${template} cannot be used: ${why}`);
}
