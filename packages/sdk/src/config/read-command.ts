import { isAbsolute, resolve } from 'node:path';
import { type DocumentTable, isTable, type Path } from './document.js';
import type { Fields } from './fields.js';
import type { CommandSpec } from './server-spec.js';
import type { Variables } from './variables.js';

export type CommandPart = Pick<CommandSpec, 'command' | 'args' | 'env' | 'cwd'>;

/** `command` as a string beside `args`, as a list of all words, or as an object of `path`, `args` and `env`. */
export function readCommand(
  table: DocumentTable,
  fields: Fields,
  variables: Variables,
  fileEnv: Readonly<Record<string, string>>,
): CommandPart | undefined {
  const { path, report } = fields;
  const given = toGiven(table, path);
  const text = fields.text(tilde(given.command, variables.home), given.at);
  const args = [...fields.texts(given.words, given.at), ...fields.texts(given.args, given.argsAt)];
  const env = {
    ...passedOn(table.get('env_vars'), fields, variables),
    ...fileEnv,
    ...fields.pairs(given.env, given.envAt),
    ...fields.pairs(table.get('env'), [...path, 'env']),
  };
  for (const name of Object.keys(env)) {
    if (name === '' || name.includes('=')) report.error([...path, 'env', name], 'is no name of a variable');
  }
  const folder = fields.text(tilde(table.get('cwd'), variables.home), [...path, 'cwd']);
  if (text === undefined) return undefined;
  if (/\s/.test(text) && !/[\\/]/.test(text) && !table.has('args')) {
    report.warning(given.at, 'looks like a whole command line: its words belong into args');
  }
  const cwd = resolve(variables.workspaceFolder, folder ?? '.');
  return { command: isRelativeFile(text) ? resolve(cwd, text) : text, args, env, cwd };
}

interface Given {
  readonly command: unknown;
  readonly at: Path;
  /** The rest of a command that is a list. */
  readonly words?: unknown;
  readonly args: unknown;
  readonly argsAt: Path;
  readonly env?: unknown;
  readonly envAt: Path;
}

function toGiven(table: DocumentTable, path: Path): Given {
  const command = table.get('command');
  const at = [...path, 'command'];
  const beside = { args: table.get('args'), argsAt: [...path, 'args'], envAt: [...at, 'env'] };
  if (Array.isArray(command)) return { ...beside, command: command[0] ?? '', at, words: command.slice(1) };
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

/** Only as it stands in the file: a variable that begins with a tilde is passed on as it is. */
function tilde(value: unknown, home: string): unknown {
  if (typeof value !== 'string' || !/^~(?=[\\/]|$)/.test(value)) return value;
  // The home folder is a value, and values are not expanded.
  return `${home.replaceAll('${', () => '$${')}${value.slice(1)}`;
}

/** A name without a folder is for the path of the system. */
function isRelativeFile(command: string): boolean {
  return /[\\/]/.test(command) && !isAbsolute(command) && !/^[A-Za-z]:[\\/]/.test(command);
}

/** Codex: names of variables that the server gets from ours, where we have them. */
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
    const ours: unknown = env[name];
    return typeof ours === 'string' ? [[name, ours] as const] : [];
  });
  return Object.fromEntries(entries);
}
