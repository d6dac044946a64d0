import { homedir } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import { IsthmusError } from '../errors.js';
import { type Document, isTable, kindOf } from './document.js';
import type { ConfigProblem, GatewaySettings, ReadOptions, ServerEntry, Servers, Source } from './entry.js';
import { defaultInputs, type FoundServer, findServers, nameProblem } from './find-servers.js';
import { projectOf } from './known-files.js';
import { readDocument } from './read-document.js';
import { readEntry } from './read-entry.js';
import { mergeGateways, readGateway } from './read-gateway.js';
import { createReport, describeProblem, type Report, sourceOf } from './report.js';
import { readSettings } from './settings.js';
import { resolverOf, type Variables } from './variables.js';

/**
 * Reads the servers of one file or of several, where a later file replaces the servers of an earlier one by name.
 * The content of a file never throws: what is wrong is in `problems`, and costs no other server.
 */
export async function readServers(
  files: string | readonly string[],
  options: ReadOptions = {},
): Promise<Servers> {
  const { cwd = process.cwd(), home = homedir(), env = process.env } = options;
  const paths = (typeof files === 'string' ? [files] : files).map((file) => resolve(cwd, file));
  const results = await Promise.all(paths.map(readDocument));
  const merged = new Map<string, Definition>();
  const problems: ConfigProblem[] = [];
  let gateway: GatewaySettings = {};
  for (const [at, result] of results.entries()) {
    const file = paths[at]!;
    if (result.kind === 'document') {
      const workspaceFolder = resolve(cwd, options.workspaceFolder ?? projectOf(file, { cwd, home, env }));
      const inputs = new Map([...defaultInputs(result.document), ...Object.entries(options.inputs ?? {})]);
      const read = readFileServers(file, result.document, { env, home, workspaceFolder, inputs });
      problems.push(...read.problems);
      gateway = mergeGateways(gateway, read.gateway);
      for (const definition of read.definitions) {
        const before = merged.get(definition.name);
        const overrides = before ? [before.source, ...before.overrides] : [];
        merged.set(definition.name, { ...definition, overrides });
      }
    } else if (result.kind === 'broken' || !options.skipMissing) {
      problems.push(result.problem);
    }
  }
  return { servers: toRecord(merged.values()), problems, gateway };
}

/** The same for those who want all or nothing: one `INVALID_OPTION` error that lists what is wrong. */
export async function requireServers(
  files: string | readonly string[],
  options: ReadOptions = {},
): Promise<Servers['servers']> {
  const { servers, problems } = await readServers(files, options);
  const errors = problems.filter(({ severity }) => severity === 'error').map(describeProblem);
  if (errors.length === 0) return servers;
  throw new IsthmusError('INVALID_OPTION', `The configuration has errors:\n${errors.join('\n')}`, {
    evidence: errors,
  });
}

/** A name that is defined; without an entry when the definition cannot be used. */
interface Definition {
  readonly name: string;
  readonly source: Source;
  readonly entry: ServerEntry | undefined;
  readonly overrides: readonly Source[];
}

function readFileServers(file: string, document: Document, variables: Variables) {
  const report = createReport(file, document);
  const found = findServers(document, report);
  const gateway = readGateway(document, report, resolverOf(variables));
  const problems: ConfigProblem[] = [...report.problems];
  const definitions = found.map((server): Definition => {
    const source = sourceOf(file, document, server.path);
    const read = readServer(server, source, createReport(file, document, server.name), variables);
    problems.push(...read.problems);
    return { name: server.name, source, entry: read.entry, overrides: [] };
  });
  return { definitions, gateway, problems };
}

interface ReadServer {
  readonly entry?: ServerEntry | undefined;
  readonly problems: readonly ConfigProblem[];
}

function readServer(found: FoundServer, source: Source, report: Report, variables: Variables): ReadServer {
  const { name, path, value, inZed } = found;
  const { problems } = report;
  const wrong = nameProblem(name);
  if (wrong !== undefined || !isTable(value)) {
    report.error(path, wrong ?? `must be an object, and is ${kindOf(value)}`);
    return { problems };
  }
  if (inZed && !value.has('command') && !value.has('url')) {
    report.warning(path, 'is brought by an extension of Zed, and only Zed can start it');
    return { problems };
  }
  const settings = readSettings(value, path, inZed || countsInSeconds(source.file), report);
  const entry = readEntry(value, { name, path, source, variables, settings, report });
  if (!settings.disabled) return { entry, problems };
  // Nobody wants to use it, so nothing about it is worth an error.
  return { entry, problems: problems.map((problem) => ({ ...problem, severity: 'warning' })) };
}

/** Cline and Roo Code: `timeout` is in seconds there, however large the number. */
function countsInSeconds(file: string): boolean {
  return /^(cline_)?mcp_settings\.json$/.test(basename(file)) || basename(dirname(file)) === '.roo';
}

function toRecord(definitions: Iterable<Definition>): Servers['servers'] {
  const record: Record<string, ServerEntry> = Object.create(null);
  for (const { name, entry, overrides } of definitions) {
    if (entry) record[name] = overrides.length > 0 ? { ...entry, overrides } : entry;
  }
  return record;
}
