import { basename } from 'node:path';
import { nearMiss } from '../near-miss.js';
import {
  type Document,
  type DocumentTable,
  isTable,
  keyOf,
  kindOf,
  type Path,
} from './documents/document.js';
import type { ConfigReport } from './report.js';

/** A server of a file, not checked yet. */
export interface FoundServer {
  readonly name: string;
  readonly path: Path;
  readonly value: unknown;
  /** It is from a file of Zed, which also lists servers of its extensions. */
  readonly inZed: boolean;
  /** Its `timeout` is in seconds. */
  readonly inSeconds: boolean;
}

/** The servers under any of the known top keys. `report` is that of the file. */
export function findServers(
  { root, repeated }: Document,
  report: ConfigReport,
  { file, project }: { readonly file: string; readonly project: string },
): FoundServer[] {
  if (!isTable(root)) {
    report.error([], `must be an object with mcpServers, not ${kindOf(root)}`);
    return [];
  }
  // Claude Code keeps the servers of a single project in its state file.
  const ofProject = basename(file) === '.claude.json' ? [['projects', project, 'mcpServers']] : [];
  const sections = [...SECTIONS, ...ofProject].filter((path) => isThere(root, path));
  if (sections.length === 0 && !root.has('gateway')) {
    const typo = [...root.keys()].find((key) => nearMiss(key, TOP_KEYS) !== undefined);
    const isBare = [...root.values()].some(
      (value) => isTable(value) && (value.has('command') || value.has('url')),
    );
    if (isBare) report.warning([], 'has servers without "mcpServers": write {"mcpServers": {"NAME": {…}}}');
    else if (typo === undefined)
      report.warning([], `names no servers; expected one of ${TOP_KEYS.join(', ')}`);
    else report.warning([typo], `is not known; did you mean ${nearMiss(typo, TOP_KEYS)}?`);
  }
  return sections.flatMap((path) => {
    const section = valueAt(root, path);
    if (Array.isArray(section) && /\.ya?ml$/i.test(file)) return inList(section, path, report);
    if (!isTable(section)) {
      report.error(path, `must be an object of servers, not ${kindOf(section)}`);
      return [];
    }
    for (const twice of repeated) {
      if (twice.length === path.length + 1 && path.every((step, at) => step === twice[at])) {
        report.warning(twice, 'is defined twice; the last definition counts');
      }
    }
    const translate = TRANSLATIONS.get(keyOf(path));
    return [...section].flatMap(([name, value]): FoundServer[] => {
      // `mcp` of opencode may also contain the section `mcp.servers`, and settings that are not servers.
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
      // An item with `uses` names a block of its hub, which only Continue can look up.
      const isBlock = isTable(item) && item.has('uses');
      if (isBlock) report.warning([...path, at], 'is a block of the Continue hub; only Continue can use it');
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

/** `mcp.servers`: settings of VS Code before `mcp.json`. opencode uses `mcp` and `mcp.servers`. */
const SECTIONS: readonly (readonly string[])[] = [
  ...[...TOP_KEYS, 'amp.mcpServers', 'extensions', 'mcp'].map((key) => [key]),
  ['mcp', 'servers'],
];

/** By section. A translation does not change keys that already have our names. */
const TRANSLATIONS: ReadonlyMap<string, Translate> = new Map([
  [keyOf(['extensions']), fromGoose],
  [keyOf(['mcp']), fromOpencode],
  [keyOf(['mcp', 'servers']), fromOpencode],
]);

/** `extensions` and `mcp` also have other meanings, so they count only if they contain servers. */
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

/** Why the name is not valid for a server. */
export function nameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'the name of a server cannot be empty';
  if (name.length > MAX_NAME) return `the name of a server cannot be longer than ${MAX_NAME} characters`;
  if (/\p{C}/u.test(name)) return 'the name of a server cannot contain unprintable characters';
  if (name === '.' || name === '..') return 'cannot be the name of a server: a URL path cannot contain it';
  // Programs that put the names into plain objects could not store it.
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

/** Translates a definition of another application to our names. Undefined: it is not a server. */
type Translate = (table: DocumentTable) => DocumentTable | undefined;

/** Goose: `cmd`, `envs`, `env_keys` and `uri`. Its built-in extensions are not servers. */
function fromGoose(given: DocumentTable): DocumentTable | undefined {
  const table = flat(given);
  return GOOSE_SERVERS.has(table.get('type')) ? renamed(table, GOOSE) : undefined;
}

/** Whether this is an extension of Goose, which may be a server. */
function isExtension(value: unknown): boolean {
  return isTable(value) && typeof flat(value).get('type') === 'string';
}

/** Some files have the definition one level deeper, next to `enabled`. */
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
  // The display name. The key is the name of the server.
  ['name', undefined],
  ['config', undefined],
]);

/** opencode: `environment`, and `{env:NAME}` for `${NAME}`. */
function fromOpencode(table: DocumentTable): DocumentTable {
  return withReferences(renamed(table, OPENCODE)) as DocumentTable;
}

const OPENCODE = new Map([['environment', 'env']]);

/** Continue: a list item, with the headers in `requestOptions`. */
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

/** Keys that already have our name are kept. */
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
