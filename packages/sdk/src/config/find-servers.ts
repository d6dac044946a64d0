import { basename } from 'node:path';
import {
  type Document,
  type DocumentTable,
  isTable,
  keyOf,
  kindOf,
  type Path,
} from './documents/document.js';
import { nearMiss } from './options/option-kinds.js';
import type { ConfigReport } from './report.js';

/** A server of a file, not looked into yet. */
export interface FoundServer {
  readonly name: string;
  readonly path: Path;
  readonly value: unknown;
  /** Zed's files also list servers that its extensions bring. */
  readonly inZed: boolean;
  /** `timeout` counts seconds there. */
  readonly inSeconds: boolean;
}

/** The servers under any of the top keys in use. `report` is that of the file. */
export function findServers(
  { root, repeated }: Document,
  report: ConfigReport,
  { file, project }: { readonly file: string; readonly project: string },
): FoundServer[] {
  if (!isTable(root)) {
    report.error([], `must be an object with mcpServers, and is ${kindOf(root)}`);
    return [];
  }
  // Claude Code keeps what was added for one project, and not for all, among its own state.
  const ofProject = basename(file) === '.claude.json' ? [['projects', project, 'mcpServers']] : [];
  const sections = [...SECTIONS, ...ofProject].filter((path) => isThere(root, path));
  if (sections.length === 0 && !root.has('gateway')) {
    const typo = [...root.keys()].find((key) => nearMiss(key, TOP_KEYS) !== undefined);
    if (typo === undefined) report.warning([], `names no servers: there is none of ${TOP_KEYS.join(', ')}`);
    else report.warning([typo], `is not known; did you mean ${nearMiss(typo, TOP_KEYS)}?`);
  }
  return sections.flatMap((path) => {
    const section = valueAt(root, path);
    if (Array.isArray(section) && /\.ya?ml$/i.test(file)) return inList(section, path, report);
    if (!isTable(section)) {
      report.error(path, `must be an object of servers, and is ${kindOf(section)}`);
      return [];
    }
    for (const twice of repeated) {
      if (twice.length === path.length + 1 && path.every((step, at) => step === twice[at])) {
        report.warning(twice, 'is there twice; the last one counts');
      }
    }
    const translate = TRANSLATIONS.get(keyOf(path));
    return [...section].flatMap(([name, value]): FoundServer[] => {
      // Beside the servers of opencode there may be `mcp.servers`, a section of its own, and settings of others.
      if (path.length === 1 && path[0] === 'mcp' && !isServer(value)) return [];
      const own = translate && isTable(value) ? translate(value) : value;
      if (own === undefined) return [];
      return [
        {
          name,
          path: [...path, name],
          value: own,
          inZed: path[0] === 'context_servers',
          inSeconds: path[0] === 'extensions',
        },
      ];
    });
  });
}

/** Continue: a list of servers, each with its name. */
function inList(items: readonly unknown[], path: Path, report: ConfigReport): FoundServer[] {
  return items.flatMap((item, at): FoundServer[] => {
    const name = isTable(item) ? item.get('name') : undefined;
    if (!isTable(item) || typeof name !== 'string') {
      // Blocks of its hub are named with `uses`, and only Continue can look them up.
      const isBlock = isTable(item) && item.has('uses');
      if (isBlock)
        report.warning([...path, at], 'is a block of the hub of Continue, and only Continue can use it');
      else report.error([...path, at], 'must be an object with a name');
      return [];
    }
    const value = fromContinue(item);
    return [{ name, path: [...path, at], value, inZed: false, inSeconds: false }];
  });
}

function isServer(value: unknown): boolean {
  return isTable(value) && (value.has('command') || value.has('url'));
}

export const TOP_KEYS = ['mcpServers', 'servers', 'mcp_servers', 'context_servers'];

/** `mcp.servers` is how the settings of VS Code had it before there was `mcp.json`; opencode has `mcp` and both. */
const SECTIONS: readonly (readonly string[])[] = [
  ...[...TOP_KEYS, 'amp.mcpServers', 'extensions', 'mcp'].map((key) => [key]),
  ['mcp', 'servers'],
];

/** By the section. What has our names already is not changed by them. */
const TRANSLATIONS: ReadonlyMap<string, Translate> = new Map([
  [keyOf(['extensions']), fromGoose],
  [keyOf(['mcp']), fromOpencode],
  [keyOf(['mcp', 'servers']), fromOpencode],
]);

/** Words that others use for something else count only where they hold servers. */
function isThere(root: DocumentTable, path: readonly string[]): boolean {
  const value = valueAt(root, path);
  if (path.length > 1) return value !== undefined;
  if (path[0] !== 'extensions' && path[0] !== 'mcp') return value !== undefined;
  const isOne = path[0] === 'mcp' ? isServer : isExtension;
  return isTable(value) && [...value.values()].some(isOne);
}

function valueAt(table: DocumentTable, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isTable(value) ? value.get(key) : undefined), table);
}

/** Why this cannot be the name of a server. */
export function nameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'the name of a server cannot be empty';
  if (name.length > MAX_NAME) return `the name of a server cannot be longer than ${MAX_NAME} characters`;
  if (/\p{C}/u.test(name)) return 'the name of a server cannot have characters that do not print';
  if (name === '.' || name === '..') return 'cannot be the name of a server: no address could have it';
  // Our maps can hold it; plain objects of programs that read the names cannot.
  return name === '__proto__' ? 'is not allowed as the name of a server' : undefined;
}

const MAX_NAME = 128;

/** The values that an editor would offer for `${input:id}`. */
export function defaultInputs({ root }: Document): Map<string, string> {
  const inputs = isTable(root) ? root.get('inputs') : undefined;
  const defaults = new Map<string, string>();
  for (const input of Array.isArray(inputs) ? inputs : []) {
    const [id, value] = isTable(input) ? [input.get('id'), input.get('default')] : [];
    if (typeof id === 'string' && typeof value === 'string') defaults.set(id, value);
  }
  return defaults;
}

/** A definition of another application under the names that we read; undefined for what is not a server at all. */
type Translate = (table: DocumentTable) => DocumentTable | undefined;

/** Goose: `cmd`, `envs`, `env_keys` and `uri`; its built-in extensions run inside of it and are not servers. */
function fromGoose(given: DocumentTable): DocumentTable | undefined {
  const table = flat(given);
  return GOOSE_SERVERS.has(table.get('type')) ? renamed(table, GOOSE) : undefined;
}

/** Whether this is an extension of Goose, a server or not. */
function isExtension(value: unknown): boolean {
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
function fromOpencode(table: DocumentTable): DocumentTable {
  return withReferences(renamed(table, OPENCODE)) as DocumentTable;
}

const OPENCODE = new Map([['environment', 'env']]);

/** Continue: an item of a list, with its headers among the options of requests. */
function fromContinue(table: DocumentTable): DocumentTable {
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
