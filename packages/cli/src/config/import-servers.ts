import { randomBytes } from 'node:crypto';
import { realpath, rename, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  type ConfigProblem,
  type Definition,
  type KnownFile,
  knownFiles,
  type PortableServer,
  plain,
  type Source,
  type SurveyedFile,
  surveyServers,
  toPortable,
  type Whereabouts,
} from '@isthmus/sdk/internal/config/index.js';
import { suggest } from '../arguments/suggest.js';
import { usageError, writeHint, writeReason } from '../cli-error.js';

/** The result of `config import`, with the document to write. */
export interface ImportReport {
  readonly document: PortableDocument;
  readonly imported: readonly ImportedServer[];
  readonly skipped: readonly (Found & { readonly reason: string })[];
  /** Variables, and inputs as `input:ID`, that have no value here. */
  readonly missing: readonly string[];
  /** Problems of files that cannot be read. */
  readonly problems: readonly ConfigProblem[];
  readonly files: readonly KnownFile[];
}

export interface PortableDocument {
  readonly inputs?: readonly unknown[];
  readonly mcpServers: Readonly<Record<string, PortableServer>>;
}

interface Found {
  readonly name: string;
  readonly application: string;
  readonly source: Source;
}

export interface ImportedServer extends Found {
  /** Its original name, if another server already has that name. */
  readonly renamedFrom?: string;
  /** Other files with an identical definition. */
  readonly alsoIn: readonly Found[];
}

/** Reads the files of other applications. `hosts`: only of these applications; empty for all. Does not write. */
export async function importServers(
  hosts: readonly string[],
  where: Whereabouts = {},
): Promise<ImportReport> {
  const known = ofHosts(knownFiles(where), hosts);
  const { cwd = process.cwd(), env, home } = where;
  const options = { cwd, skipMissing: true, ...(env && { env }), ...(home !== undefined && { home }) };
  const surveyed = await surveyServers(
    known.map(({ path }) => path),
    options,
  );
  const servers = new Map<string, PortableServer>();
  const imported: ImportedServer[] = [];
  const skipped: (Found & { reason: string })[] = [];
  const missing = new Set<string>();
  for (const [at, { definitions }] of surveyed.entries()) {
    const { application, scope } = known[at]!;
    for (const definition of definitions) {
      const { name, source, found, problems } = definition;
      const ofProject = scope === 'project' || found.path[0] === 'projects';
      const server = definition.isPortable ? toPortable(definition, ofProject ? cwd : undefined) : undefined;
      const reason = server ? reasonToSkip(server) : (problems[0]?.message ?? 'cannot be read');
      if (!server || reason !== undefined) {
        skipped.push({ name, application, source, reason: reason ?? '' });
        continue;
      }
      for (const problem of problems) if (problem.missing !== undefined) missing.add(problem.missing);
      place(definition, server, application);
    }
  }
  const inputs = inputsOf(surveyed, [...servers.values()]);
  return {
    document: {
      ...(inputs.length > 0 && { inputs }),
      mcpServers: Object.fromEntries(servers),
    },
    imported,
    skipped,
    missing: [...missing],
    problems: problemsOf(surveyed),
    files: known.filter((_, at) => surveyed[at]!.document !== undefined),
  };

  function place({ name, source }: Definition, server: PortableServer, application: string): void {
    const twin = [...servers].find(
      ([other, each]) => isNameOf(other, name, imported) && isDeepStrictEqual(each, server),
    );
    const at = imported.findIndex((each) => each.name === twin?.[0]);
    if (at >= 0) {
      const before = imported[at]!;
      imported[at] = { ...before, alsoIn: [...before.alsoIn, { name, application, source }] };
      return;
    }
    const free = freeName(name, application, servers);
    servers.set(free, server);
    imported.push({
      name: free,
      application,
      source,
      alsoIn: [],
      ...(free !== name && { renamedFrom: name }),
    });
  }
}

/** The name of a host on the command line: `vscode`, `claude-code`. */
export function hostName(application: string): string {
  if (application === 'VS Code') return 'vscode';
  return application.toLowerCase().replace(' cli', '').replaceAll(' ', '-');
}

function ofHosts(files: readonly KnownFile[], hosts: readonly string[]): readonly KnownFile[] {
  if (hosts.length === 0) return files;
  const names = [...new Set(files.map(({ application }) => hostName(application)))];
  const bare = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '');
  const wanted = hosts.map((host) => {
    const name = names.find((each) => bare(each) === bare(host));
    if (name !== undefined) return name;
    const meant = suggest(host, names);
    throw usageError(
      `"${host}" is not a known host`,
      meant === undefined ? `Known hosts: ${names.join(', ')}` : `Did you mean ${meant}?`,
    );
  });
  return files.filter(({ application }) => wanted.includes(hostName(application)));
}

function isNameOf(name: string, original: string, imported: readonly ImportedServer[]): boolean {
  return name === original || imported.some((each) => each.name === name && each.renamedFrom === original);
}

function freeName(name: string, application: string, taken: ReadonlyMap<string, unknown>): string {
  if (!taken.has(name)) return name;
  const base = `${name}-${hostName(application)}`;
  for (let number = 2, free = base; ; number += 1) {
    if (!taken.has(free)) return free;
    free = `${base}-${number}`;
  }
}

/** Why the server is not imported. A host that already uses Isthmus would make Isthmus a server of itself. */
function reasonToSkip({ command, args }: PortableServer): string | undefined {
  const parts = [command, ...(Array.isArray(args) ? args : [])].filter((part) => typeof part === 'string');
  const at = parts.findIndex((part) => /(^|[\\/])isthmus(\.js|\.cmd|@[\w.-]+)?$/.test(part));
  const verb = at < 0 ? undefined : parts[at + 1];
  return verb === 'serve' || verb === 'attach' ? 'is Isthmus itself' : undefined;
}

function problemsOf(surveyed: readonly SurveyedFile[]): ConfigProblem[] {
  return surveyed.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'error'));
}

/** The `inputs` of VS Code that these servers refer to. */
function inputsOf(files: readonly SurveyedFile[], servers: readonly unknown[]): readonly unknown[] {
  const text = JSON.stringify(servers);
  const inputs = new Map<string, unknown>();
  for (const { document } of files) {
    const root = plain(document?.root);
    for (const input of listOf((root as { inputs?: unknown } | undefined)?.inputs)) {
      const { id } = input;
      if (typeof id !== 'string' || inputs.has(id)) continue;
      if (text.includes(JSON.stringify(`\${input:${id}}`).slice(1, -1))) inputs.set(id, input);
    }
  }
  return [...inputs.values()];
}

function listOf(value: unknown): { readonly id?: unknown }[] {
  const list: unknown[] = Array.isArray(value) ? value : [];
  return list.filter((item) => typeof item === 'object' && item !== null);
}

/** Writes a new file that only its owner can read: it may contain secrets. */
export async function writeDocument(
  file: string,
  text: string,
  force: boolean,
  where: Whereabouts = {},
): Promise<void> {
  const path = resolve(where.cwd ?? '.', file);
  await refuseForeign(path, where);
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    if (!force) return await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    // A rename is atomic: a program that reads the file never sees a part of it.
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
    await rename(temporary, path);
  } catch (error) {
    if (force) await rm(temporary, { force: true });
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      throw usageError(`${file} already exists`, 'Use another name, or --force to replace it');
    }
    throw usageError(`${file} cannot be written: ${writeReason(error)}`, writeHint(error));
  }
}

/** Never writes a file of another application, even with --force. */
async function refuseForeign(path: string, where: Whereabouts): Promise<void> {
  const real = await realpath(path).catch(() => path);
  for (const known of knownFiles(where)) {
    const knownPath = await realpath(known.path).catch(() => known.path);
    if (real !== knownPath && path !== known.path) continue;
    throw usageError(
      `${path} belongs to ${known.application}; isthmus does not write it`,
      'Name another file: --output isthmus.json',
    );
  }
}
