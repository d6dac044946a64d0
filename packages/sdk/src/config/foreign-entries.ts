import { type DocumentTable, isTable } from './document.js';

/** A definition of another application under the names that we read; undefined for what is not a server at all. */
export type Translate = (table: DocumentTable) => DocumentTable | undefined;

/** Goose: `cmd`, `envs`, `env_keys` and `uri`; its built-in extensions run inside of it and are not servers. */
export const fromGoose: Translate = (given) => {
  const table = flat(given);
  return GOOSE_SERVERS.has(table.get('type')) ? renamed(table, GOOSE) : undefined;
};

/** Whether this is an extension of Goose, a server or not. */
export function isExtension(value: unknown): boolean {
  return isTable(value) && typeof flat(value).get('type') === 'string';
}

/** Some files have the definition one level deeper, beside `enabled`. */
function flat(table: DocumentTable): DocumentTable {
  const inner = table.get('config');
  return isTable(inner) ? new Map([...table, ...inner]) : table;
}

const GOOSE_SERVERS: ReadonlySet<unknown> = new Set(['stdio', 'sse', 'streamable_http']);
const GOOSE = new Map([
  ['cmd', 'command'],
  ['envs', 'env'],
  ['env_keys', 'env_vars'],
  ['uri', 'url'],
  // The name that people see; the key is the name of the server.
  ['name', undefined],
  ['config', undefined],
]);

/** opencode: `environment`, and `{env:NAME}` where we have `${NAME}`. */
export const fromOpencode: Translate = (table) => withReferences(renamed(table, OPENCODE)) as DocumentTable;

const OPENCODE = new Map([['environment', 'env']]);

/** Continue: an item of a list, with its headers among the options of requests. */
export function fromContinue(table: DocumentTable): DocumentTable {
  const options = table.get('requestOptions');
  const headers = isTable(options) ? options.get('headers') : undefined;
  const named = renamed(table, CONTINUE);
  return headers === undefined || named.has('headers') ? named : new Map([...named, ['headers', headers]]);
}

const CONTINUE = new Map([
  ['name', undefined],
  ['requestOptions', undefined],
]);

/** What has our name already stays as it is. */
function renamed(table: DocumentTable, names: ReadonlyMap<string, string | undefined>): DocumentTable {
  const result = new Map<string, unknown>();
  for (const [key, value] of table) {
    const name = names.has(key) ? names.get(key) : key;
    if (name !== undefined && (name === key || !table.has(name))) result.set(name, value);
  }
  return result;
}

function withReferences(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\{env:([A-Za-z_]\w*)\}/g, (_, name) => `\${${name}}`);
  if (Array.isArray(value)) return value.map(withReferences);
  if (!isTable(value)) return value;
  return new Map([...value].map(([key, inner]) => [key, withReferences(inner)]));
}
