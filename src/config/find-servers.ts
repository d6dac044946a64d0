import { basename } from 'node:path';
import { type Document, isTable, kindOf, type Path, type Table } from './document.js';
import { nearMiss } from './near-miss.js';
import type { Report } from './report.js';

/** A server of a file, not looked into yet. */
export interface FoundServer {
  readonly name: string;
  readonly path: Path;
  readonly value: unknown;
  /** Zed's files also list servers that its extensions bring. */
  readonly inZed: boolean;
}

/** The servers under any of the top keys in use. `report` is that of the file. */
export function findServers(
  { root, repeated }: Document,
  report: Report,
  { file, project }: { readonly file: string; readonly project: string },
): FoundServer[] {
  if (!isTable(root)) {
    report.error([], `must be an object with mcpServers, and is ${kindOf(root)}`);
    return [];
  }
  // Claude Code keeps what was added for one project, and not for all, among its own state.
  const ofProject = basename(file) === '.claude.json' ? [['projects', project, 'mcpServers']] : [];
  const sections = [...SECTIONS, ...ofProject].filter((path) => valueAt(root, path) !== undefined);
  if (sections.length === 0 && !root.has('gateway')) {
    const typo = [...root.keys()].find((key) => nearMiss(key, TOP_KEYS) !== undefined);
    if (typo === undefined) report.warning([], `names no servers: there is none of ${TOP_KEYS.join(', ')}`);
    else report.warning([typo], `is not known; did you mean ${nearMiss(typo, TOP_KEYS)}?`);
  }
  return sections.flatMap((path) => {
    const section = valueAt(root, path);
    if (!isTable(section)) {
      report.error(path, `must be an object of servers, and is ${kindOf(section)}`);
      return [];
    }
    for (const twice of repeated) {
      if (twice.length === path.length + 1 && path.every((step, at) => step === twice[at])) {
        report.warning(twice, 'is there twice; the last one counts');
      }
    }
    return [...section].map(([name, value]) => ({
      name,
      path: [...path, name],
      value,
      inZed: path[0] === 'context_servers',
    }));
  });
}

export const TOP_KEYS = ['mcpServers', 'servers', 'mcp_servers', 'context_servers'];

/** The last one is how the settings of VS Code had it before there was `mcp.json`. */
const SECTIONS: readonly (readonly string[])[] = [...TOP_KEYS.map((key) => [key]), ['mcp', 'servers']];

function valueAt(table: Table, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isTable(value) ? value.get(key) : undefined), table);
}

/** Why this cannot be the name of a server. */
export function nameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'the name of a server cannot be empty';
  if (name.length > MAX_NAME) return `the name of a server cannot be longer than ${MAX_NAME} characters`;
  if (/\p{C}/u.test(name)) return 'the name of a server cannot have characters that do not print';
  if (name === '.' || name === '..') return 'cannot be the name of a server: no address could have it';
  // Ours would bear it, but the objects of whoever reads the names may not.
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
