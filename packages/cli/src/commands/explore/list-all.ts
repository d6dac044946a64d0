import { relative } from 'node:path';
import {
  type ConfigProblem,
  describeProblem,
  knownFiles,
  readServers,
  type ServerEntry,
} from '@isthmus/sdk/internal/config/index.js';
import { configFiles } from '../../attach/find-server.js';
import type { GivenOptions } from '../../choose-target.js';
import { CliError, EXIT } from '../../cli-error.js';
import { inOrder } from '../../control/doctor/run-doctor.js';
import { withSession } from '../../session/session.js';
import { type Terminal, writeJson } from '../../terminal/terminal.js';
import { oneLine } from '../../terminal/text.js';
import { findItems, type ListedItems, type ListKind, MEMBERS } from '../list.js';

type Listed = { readonly name: string; readonly source: { readonly file: string; readonly line: number } } & (
  | { readonly kind: 'listed'; readonly found: ListedItems }
  | { readonly kind: 'failed'; readonly why: string }
);

/** Lists all servers of the files of `--config`, or else of the files that isthmus and the known applications have. */
export async function listAll(
  kind: ListKind,
  { config, input, timeout, json }: GivenOptions,
  terminal: Terminal,
): Promise<number> {
  const files = config ?? [...ownFiles(), ...knownFiles().map(({ path }) => path)];
  const { servers, problems } = await readServers(files, {
    skipMissing: config === undefined,
    ...(input && { inputs: input }),
  });
  const entries = Object.values(servers).filter(({ disabled }) => !disabled);
  // Files of other applications are not judged: such a file may have no servers.
  const ofFile = problems.find(({ server, severity }) => server === undefined && severity === 'error');
  if (config && ofFile) throw new CliError(EXIT.usage, oneLine(describeProblem(ofFile)));
  const invalid = invalidServers(problems, servers);
  if (entries.length + invalid.length === 0) throw noServers(config);
  const settings = { mode: 'auto', cache: true, roots: false, ...(timeout !== undefined && { timeout }) };
  const work = [
    ...entries.map((entry) => () => listOne(kind, entry, settings, terminal)),
    ...invalid.map((each) => async () => each),
  ];
  const all: Listed[] = [];
  for await (const listed of inOrder(work, AT_ONCE)) {
    all.push(listed);
    if (!json) terminal.stdout.write(`${all.length > 1 ? '\n' : ''}${render(listed, terminal)}`);
  }
  if (json) writeJson(terminal, { servers: Object.fromEntries(all.map((each) => toJson(kind, each))) });
  return all.some((each) => each.kind === 'failed') ? EXIT.cannotConnect : EXIT.ok;
}

/** The servers whose definition has an error. */
function invalidServers(
  problems: readonly ConfigProblem[],
  servers: Readonly<Record<string, ServerEntry>>,
): Listed[] {
  const found = new Map<string, Listed>();
  for (const problem of problems) {
    const { server: name, severity, file, line } = problem;
    if (name === undefined || severity !== 'error' || Object.hasOwn(servers, name) || found.has(name))
      continue;
    const why = describeProblem(problem);
    found.set(name, { kind: 'failed', name, source: { file, line: line ?? 1 }, why });
  }
  return [...found.values()];
}

/** Servers that are started at the same time. */
const AT_ONCE = 4;

/** Those of `ISTHMUS_CONFIG`, or the file of the user; none where there is no file. */
function ownFiles(): readonly string[] {
  try {
    return configFiles(undefined);
  } catch {
    return [];
  }
}

function noServers(config: readonly string[] | undefined): CliError {
  if (config) return new CliError(EXIT.usage, `${config.map(oneLine).join(', ')} names no servers`);
  return new CliError(EXIT.usage, 'No server given, and no servers are configured on this machine', {
    hint: 'isthmus config list shows the files that were looked for; isthmus list TARGET and isthmus list -- COMMAND list one server',
  });
}

async function listOne(
  kind: ListKind,
  entry: ServerEntry,
  settings: Omit<Parameters<typeof withSession>[1], 'json'>,
  terminal: Terminal,
): Promise<Listed> {
  // Several servers are asked at the same time: none of them may ask questions or draw on the terminal.
  const quiet = { ...terminal, readsErrors: false, canAsk: false };
  const target = { ...entry, files: [entry.source.file] };
  const options = { ...settings, mode: entry.mode ?? settings.mode };
  try {
    let found: ListedItems | undefined;
    await withSession(target, options, quiet, async (session) => {
      found = await findItems(kind, session);
      return EXIT.ok;
    });
    return { kind: 'listed', name: entry.name, source: entry.source, found: found! };
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.interrupted) throw error;
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'failed', name: entry.name, source: entry.source, why };
  }
}

function render(listed: Listed, terminal: Terminal): string {
  const { out } = terminal;
  const { name, source } = listed;
  const head = `${out.bold(oneLine(name))} ${out.dim(`(${shortPath(source.file)}:${source.line})`)}\n`;
  if (listed.kind === 'failed') return `${head}  ${out.red(oneLine(listed.why))}\n`;
  const { items, none, render: renderItems } = listed.found;
  if (items.length === 0) return `${head}  ${out.dim(none)}\n`;
  const lines = renderItems({ ...terminal, width: terminal.width - 2 })
    .trimEnd()
    .split('\n');
  return `${head}${lines.map((line) => `  ${line}\n`).join('')}`;
}

function toJson(kind: ListKind, listed: Listed): [string, unknown] {
  const { name, source } = listed;
  const where = { file: source.file, line: source.line };
  if (listed.kind === 'failed') return [name, { ...where, error: listed.why }];
  return [name, { ...where, [MEMBERS[kind]]: listed.found.items }];
}

function shortPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path === '' || path.startsWith('..') ? file : path;
}
