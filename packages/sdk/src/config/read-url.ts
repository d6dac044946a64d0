import { type DocumentTable, isTable, type Path } from './document.js';
import type { Fields } from './fields.js';
import type { UrlSpec } from './server-spec.js';
import type { Variables } from './variables.js';

export type UrlPart = Pick<UrlSpec, 'url' | 'headers'>;

/** `key` is the name under which this application has the address. */
export function readUrl(
  table: DocumentTable,
  key: string,
  fields: Fields,
  variables: Variables,
): UrlPart | undefined {
  const { path, report } = fields;
  const at = [...path, key];
  const url = fields.text(table.get(key), at);
  const headers = {
    ...fields.pairs(table.get('http_headers'), [...path, 'http_headers']),
    ...fields.pairs(table.get('headers'), [...path, 'headers']),
    ...fromVariables(table, fields, variables),
  };
  for (const [name, value] of Object.entries(headers)) {
    const header = [...path, 'headers', name];
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) report.error(header, 'is no name of a header');
    else if (/[\r\n]/.test(value)) report.error(header, 'cannot have more than one line');
    else if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      report.error(header, 'has characters that a header cannot hold');
    }
  }
  if (url === undefined) return undefined;
  if (!isHttp(url)) {
    report.error(at, 'must be a URL that begins with http:// or https://');
    return undefined;
  }
  if (hasCredentials(url)) {
    report.error(at, 'cannot have a user and a password', {
      hint: 'they belong into the header Authorization',
    });
  }
  return { url, headers };
}

function isHttp(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

function hasCredentials(text: string): boolean {
  const { username, password } = new URL(text);
  return username !== '' || password !== '';
}

/** Codex: headers whose values are in variables that the file names. */
function fromVariables(
  table: DocumentTable,
  { path, report }: Fields,
  { env }: Variables,
): Record<string, string> {
  const headers: Record<string, string> = {};
  const lookUp = (name: unknown, at: Path): string | undefined => {
    const value: unknown = typeof name === 'string' ? env[name] : undefined;
    if (typeof value === 'string') return value;
    if (typeof name !== 'string') report.error(at, 'must be the name of a variable');
    else {
      const [message, hint] = [`the variable ${name} is not set`, `set ${name} where this runs`];
      report.error(at, message, { hint, missing: name });
    }
    return undefined;
  };
  const named = table.get('env_http_headers') ?? undefined;
  if (named !== undefined && !isTable(named)) {
    report.error([...path, 'env_http_headers'], 'must be an object of names of variables');
  }
  for (const [header, name] of isTable(named) ? named : []) {
    const value = lookUp(name, [...path, 'env_http_headers', header]);
    if (value !== undefined) Object.defineProperty(headers, header, { value, enumerable: true });
  }
  const token = table.get('bearer_token_env_var');
  if (token !== undefined) {
    const value = lookUp(token, [...path, 'bearer_token_env_var']);
    if (value !== undefined) headers['Authorization'] = `Bearer ${value}`;
  }
  return headers;
}
