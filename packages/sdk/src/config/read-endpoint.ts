import { isAbsolute, resolve } from 'node:path';
import { type DocumentTable, isTable, type Path } from './documents/document.js';
import type { Fields, Variables } from './expand.js';
import type { CommandSpec, UrlSpec } from './server-spec.js';

/** The kind of server that a definition describes. */
export type EntryTransport =
  | { readonly kind: 'command' }
  /** `key` is the key of the address in this file. */
  | { readonly kind: 'url'; readonly key: string; readonly transport: 'http' | 'sse' | 'auto' }
  /** The problem is at `key`, or at the definition as a whole. */
  | { readonly kind: 'wrong'; readonly key?: string; readonly message: string; readonly hint?: string };

/** Decides by `type` if it is set, otherwise by the keys. */
export function transportOf(table: DocumentTable): EntryTransport {
  const urlKey = URL_KEYS.find((key) => table.has(key));
  const typeKey = TYPE_KEYS.find((key) => table.has(key));
  const type = typeKey === undefined ? undefined : TYPES.get(table.get(typeKey));
  if (typeKey !== undefined && type === undefined) {
    return { kind: 'wrong', key: typeKey, message: 'must be stdio, http, streamable-http or sse' };
  }
  if (type === undefined && table.has('command') && urlKey !== undefined) {
    return { kind: 'wrong', message: `has both command and ${urlKey}; set type to say which one counts` };
  }
  if (type === 'command' || (type === undefined && table.has('command'))) {
    if (table.has('command')) return { kind: 'command' };
    return { kind: 'wrong', message: 'has no command, but its type needs one' };
  }
  if (urlKey !== undefined) {
    return { kind: 'url', key: urlKey, transport: type ?? (urlKey === 'httpUrl' ? 'http' : 'auto') };
  }
  if (type !== undefined) return { kind: 'wrong', message: 'has no url, but its type needs one' };
  const hint = 'set a command to start, or a url to connect to';
  return { kind: 'wrong', message: 'has neither command nor url', hint };
}

/** `serverUrl` is from Windsurf, `httpUrl` from Gemini. */
export const URL_KEYS: readonly string[] = ['url', 'serverUrl', 'httpUrl'];
export const TYPE_KEYS: readonly string[] = ['type', 'transport', 'transportType'];

export const TYPES: ReadonlyMap<unknown, 'command' | 'http' | 'sse' | 'auto'> = new Map([
  ['stdio', 'command'],
  ['local', 'command'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamableHttp', 'http'],
  ['streamable_http', 'http'],
  ['sse', 'sse'],
  ['remote', 'auto'],
  ['auto', 'auto'],
] as const);

export type CommandPart = Pick<CommandSpec, 'command' | 'args' | 'env' | 'cwd'>;

/** `command` is a string next to `args`, a list with its arguments, or an object of `path`, `args` and `env`. */
export function readCommand(
  table: DocumentTable,
  fields: Fields,
  variables: Variables,
  fileEnv: Readonly<Record<string, string>>,
): CommandPart | undefined {
  const { path, report } = fields;
  const given = toGiven(table, path);
  const text = fields.text(tilde(given.command, variables.home), given.at);
  const args = [...fields.texts(given.listed, given.at), ...fields.texts(given.args, given.argsAt)];
  const env = {
    ...passedOn(table.get('env_vars'), fields, variables),
    ...fileEnv,
    ...fields.pairs(given.env, given.envAt),
    ...fields.pairs(table.get('env'), [...path, 'env']),
  };
  for (const name of Object.keys(env)) {
    if (name === '' || name.includes('='))
      report.error([...path, 'env', name], 'is not a valid variable name');
  }
  const folder = fields.text(tilde(table.get('cwd'), variables.home), [...path, 'cwd']);
  if (text === undefined) return undefined;
  if (/\s/.test(text) && !/[\\/]/.test(text) && !table.has('args')) {
    report.warning(given.at, 'looks like a whole command line; put its arguments into args');
  }
  const cwd = resolve(variables.workspaceFolder, folder ?? '.');
  return { command: isRelativeFile(text) ? resolve(cwd, text) : text, args, env, cwd };
}

interface Given {
  readonly command: unknown;
  readonly at: Path;
  /** The arguments in a command that is a list. */
  readonly listed?: unknown;
  readonly args: unknown;
  readonly argsAt: Path;
  readonly env?: unknown;
  readonly envAt: Path;
}

function toGiven(table: DocumentTable, path: Path): Given {
  const command = table.get('command');
  const at = [...path, 'command'];
  const beside = { args: table.get('args'), argsAt: [...path, 'args'], envAt: [...at, 'env'] };
  if (Array.isArray(command)) return { ...beside, command: command[0] ?? '', at, listed: command.slice(1) };
  if (!isTable(command)) return { ...beside, command, at };
  return {
    command: command.get('path') ?? '',
    at: [...at, 'path'],
    args: command.get('args'),
    argsAt: [...at, 'args'],
    env: command.get('env'),
    envAt: [...at, 'env'],
  };
}

/** Replaces a tilde that is written in the file, not one that comes from a variable. */
function tilde(value: unknown, home: string): unknown {
  if (typeof value !== 'string' || !/^~(?=[\\/]|$)/.test(value)) return value;
  // The home folder must not be expanded as a reference.
  return `${home.replaceAll('${', () => '$${')}${value.slice(1)}`;
}

/** A name without a folder is looked up in PATH. */
function isRelativeFile(command: string): boolean {
  return /[\\/]/.test(command) && !isAbsolute(command) && !/^[A-Za-z]:[\\/]/.test(command);
}

/** Codex: names of variables that are copied from our environment if they are set. */
function passedOn(value: unknown, { path, report }: Fields, { env }: Variables): Record<string, string> {
  if (value === undefined || value === null) return {};
  const names = Array.isArray(value)
    ? value.map((item) => (isTable(item) ? item.get('name') : item))
    : [value];
  if (!Array.isArray(value) || names.some((name) => typeof name !== 'string')) {
    report.warning([...path, 'env_vars'], 'is not used: it must be a list of names');
    return {};
  }
  const entries = (names as string[]).flatMap((name) => {
    const own: unknown = env[name];
    return typeof own === 'string' ? [[name, own] as const] : [];
  });
  return Object.fromEntries(entries);
}

export type UrlPart = Pick<UrlSpec, 'url' | 'headers'>;

/** `key` is the key of the address in this file. */
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
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) report.error(header, 'is not a valid header name');
    else if (/[\r\n]/.test(value)) report.error(header, 'must be a single line');
    else if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      report.error(header, 'has characters that a header cannot contain');
    }
  }
  if (url === undefined) return undefined;
  if (!isHttp(url)) {
    report.error(at, 'must be a URL that begins with http:// or https://');
    return undefined;
  }
  if (hasCredentials(url)) {
    report.error(at, 'cannot contain a user name or password', {
      hint: 'use the Authorization header instead',
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

/** Codex: headers with values from variables that the file names. */
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
      const [message, hint] = [`the variable ${name} is not set`, `set ${name} in the environment`];
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
