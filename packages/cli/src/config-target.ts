import { relative } from 'node:path';
import {
  type ConfigProblem,
  describeProblem,
  readServers,
  type ServerEntry,
  type Servers,
} from '@isthmus/sdk/internal/config/index.js';
import { suggest } from './arguments/suggest.js';
import { usageError } from './cli-error.js';
import { commandLineFor } from './target.js';
import { oneLine } from './terminal/text.js';

export interface ConfiguredTarget {
  readonly target: ServerEntry & { readonly files: readonly string[] };
  /** For stderr. */
  readonly warnings: readonly string[];
}

/** Finds a server by name in the files of `--config`. `command` is the subcommand, for hints. */
export async function findConfigured(
  command: string,
  files: readonly string[],
  name: string | undefined,
  inputs: Readonly<Record<string, string>> | undefined,
): Promise<ConfiguredTarget> {
  const read = await readServers(files, { ...(inputs && { inputs }) });
  const entry = name === undefined ? undefined : read.servers[name];
  const ofFiles = read.problems.filter(({ server }) => server === undefined);
  const ofServer = read.problems.filter(({ server }) => server !== undefined && server === name);
  if (!entry) {
    if (ofServer.length > 0) throw unusable(ofServer);
    const broken = ofFiles.filter(({ severity }) => severity === 'error');
    throw broken.length > 0 ? unusable(broken) : unknown(command, files, name, read);
  }
  const warnings = [...ofFiles, ...ofServer].map(describe);
  if (entry.disabled) warnings.push(`${place(entry)}: ${oneLine(entry.name)} is disabled there`);
  return { target: { ...entry, files }, warnings };
}

/** Errors come first: they are the reason. */
function unusable(problems: readonly ConfigProblem[]): Error {
  const sorted = [...problems].sort((a, b) => a.severity.localeCompare(b.severity));
  const [first, ...more] = sorted.map(describe);
  const asks = problems.some(({ message }) => message.startsWith('${input:'));
  return usageError(first!, asks ? 'Set it with --input ID=VALUE' : undefined, more);
}

function unknown(
  command: string,
  files: readonly string[],
  name: string | undefined,
  { servers, problems }: Servers,
): Error {
  const where = files.map((file) => oneLine(file)).join(', ');
  const bad = problems.flatMap(({ server }) => (server !== undefined && !servers[server] ? [server] : []));
  const names = [...new Set([...Object.keys(servers), ...bad])];
  const [first] = names;
  if (first === undefined) return usageError(`${where} names no servers`);
  const width = Math.max(...names.map((each) => oneLine(each).length));
  const list = names.map((each) => `  ${oneLine(each).padEnd(width)}  ${kindOf(servers[each])}`);
  const meant = name === undefined ? undefined : suggest(name, names);
  return usageError(
    name === undefined ? `No server name given for ${where}` : `${where} has no server "${oneLine(name)}"`,
    meant === undefined ? commandLineFor(command, files, first) : `Did you mean ${oneLine(meant)}?`,
    ['servers:', ...list],
  );
}

function kindOf(entry: ServerEntry | undefined): string {
  if (!entry) return 'unusable: name it to see why';
  const off = entry.disabled ? ', disabled' : '';
  return `${entry.kind === 'command' ? 'a command' : 'a URL'}${off}`;
}

function describe(problem: ConfigProblem): string {
  return oneLine(describeProblem({ ...problem, file: shortPath(problem.file) }));
}

function place({ source }: ServerEntry): string {
  return `${shortPath(source.file)}:${source.line}`;
}

/** Relative to the working directory, if the file is below it. */
function shortPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path === '' || path.startsWith('..') ? file : path;
}
