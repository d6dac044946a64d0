import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ReadServers } from '@isthmus/gateway/internal/run-gateway.js';
import { type GatewayServerSpec, withGatewayDefaults } from '@isthmus/gateway/internal/server-definition.js';
import {
  describeProblem,
  type GatewaySettings,
  knownFiles,
  plain,
  type ServerEntry,
  type Servers,
  type ServersChange,
  surveyServers,
} from '@isthmus/sdk/internal/config/index.js';
import { usageError } from '../cli-error.js';
import type { Prompter } from '../terminal/ask-form.js';
import { oneLine } from '../terminal/text.js';

/** The files of `--config`, and those of the applications that `--import` names. */
export function filesOf(
  config: readonly string[] | undefined,
  imports: readonly string[] | undefined,
): { readonly files: readonly string[]; readonly skipMissing: boolean } {
  const imported = (imports ?? []).flatMap((name) => {
    const found = knownFiles().filter(
      ({ application }) => name === 'all' || idOf(application) === idOf(name),
    );
    if (found.length > 0) return found.map(({ path }) => path);
    const known = [...new Set(knownFiles().map(({ application }) => idOf(application)))];
    throw usageError(`"${name}" is not a known application`, `Write all, or one of ${known.join(', ')}`);
  });
  return { files: [...imported, ...(config ?? [])], skipMissing: imported.length > 0 };
}

/** `Claude Desktop` is claude-desktop. */
function idOf(application: string): string {
  return application.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

export interface ServerRules {
  readonly hasPrincipals: boolean;
  /** What the command line says for all servers; the files win. */
  readonly gateway: GatewaySettings;
  /** The block `gateway` with which it was started. */
  readonly started: GatewaySettings;
  readonly maxParked?: number | undefined;
}

/** What the files say, as the gateway takes it. Servers with errors keep their earlier definition, if they had one. */
export function toGatewayServers(
  change: ServersChange,
  rules: ServerRules,
  before: readonly GatewayServerSpec[],
): ReadServers {
  const { servers } = change;
  const warnings = servers.problems.filter(({ server }) => server !== undefined || change.kind === 'read');
  // A value that is only missing is not an error of the file: the user can give it.
  const lines = warnings.map((problem) =>
    problem.missing !== undefined && problem.hint !== undefined
      ? `${describeProblem(problem)}; ${problem.hint}`
      : describeProblem(problem),
  );
  if (change.kind === 'broken') {
    const problem = change.problems.map(describeProblem).join('; ');
    return { units: before, problem, kept: undefined, warnings: [] };
  }
  const limits = { ...rules.gateway.limits, ...servers.gateway?.limits };
  const defaults = { hasPrincipals: rules.hasPrincipals, limits };
  const entries = Object.values(servers.servers);
  const placed: Placed[] = entries.map((entry) => ({
    unit: withGatewayDefaults(withStoredLogin(withParking(entry, rules)), defaults),
    place: entry.source,
  }));
  const kept: string[] = [];
  for (const each of unusable(servers, before)) {
    insert(placed, each);
    if (each.why !== undefined) kept.push(`${each.why}; ${each.unit.name} goes on as it was`);
  }
  return {
    units: placed.map(({ unit }) => unit),
    // A file without the block restricts nothing.
    access: servers.gateway?.access ?? {},
    problem: undefined,
    kept: kept.length > 0 ? kept.join('; ') : undefined,
    later: changedSettings(rules.started, servers.gateway ?? {}),
    warnings: lines,
  };
}

/** The settings of the block `gateway` that have changed and cannot change while it runs. */
function changedSettings(before: GatewaySettings, after: GatewaySettings): readonly string[] {
  const { cluster: clusterBefore = {} } = before;
  const { cluster: clusterAfter = {} } = after;
  return [
    ...namesOfChanges(before, after).filter((name) => !APPLIED.has(name)),
    ...namesOfChanges(clusterBefore, clusterAfter).map((name) => `cluster.${name}`),
  ].map((name) => `gateway.${name}`);
}

function namesOfChanges(before: object, after: object): readonly string[] {
  const [known, given] = [before, after] as Readonly<Record<string, unknown>>[];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !isDeepStrictEqual(known![name], given![name]));
}

/** These change with each reading. The settings of the cluster are named one by one. */
const APPLIED: ReadonlySet<string> = new Set(['limits', 'access', 'cluster']);

function withParking(entry: ServerEntry, { maxParked }: ServerRules): ServerEntry {
  return maxParked !== undefined && entry.kind === 'command' ? { maxParked, ...entry } : entry;
}

/** The logins of the operator are used and renewed. A gateway never begins one. */
function withStoredLogin(entry: ServerEntry): ServerEntry {
  return entry.kind === 'url' ? { auth: { mode: 'stored' }, ...entry } : entry;
}

interface Placed {
  readonly unit: GatewayServerSpec;
  readonly place: { readonly file: string; readonly line: number };
  /** Why it is not as the file has it now. */
  readonly why?: string | undefined;
}

/** Where its file has it. */
function insert(placed: Placed[], one: Placed): void {
  const { file, line } = one.place;
  const next = placed.findIndex(({ place }) => place.file === file && place.line > line);
  const last = placed.findLastIndex(({ place }) => place.file === file);
  placed.splice(next >= 0 ? next : last >= 0 ? last + 1 : placed.length, 0, one);
}

/** Servers with errors: as they were before, or else as what they are. */
function unusable(servers: Servers, before: readonly GatewayServerSpec[]): Placed[] {
  const errors = servers.problems.filter(({ severity }) => severity === 'error');
  const names = new Set(errors.flatMap(({ server }) => (server === undefined ? [] : [server])));
  return [...names]
    .filter((name) => !Object.hasOwn(servers.servers, name) && /^(?!\.\.?$)\s*\S/.test(name))
    .map((name) => {
      const known = before.find((unit) => unit.name === name && unit.kind !== 'broken');
      const own = errors.filter(({ server }) => server === name);
      const why = own.map(describeProblem).join('; ');
      return known
        ? { unit: known, place: own[0]!, why }
        : { unit: { kind: 'broken', name, reason: why }, place: own[0]! };
    });
}

/** How a person would call the files together. */
export function labelOf(files: readonly string[]): string {
  return files.length === 1 ? basename(files[0]!) : `${files.length} files`;
}

export interface GivenInputs {
  /** By their ids: those of `--input`, and those that were typed. */
  readonly inputs: Readonly<Record<string, string>>;
  /** Values that the files call passwords, for the redactor. */
  readonly secrets: readonly string[];
}

/**
 * What VS Code would ask its user for (`${input:ID}`), as far as servers need it and it has no value yet. Without
 * somebody to ask, what is missing stays missing, and the servers that need it say so.
 */
export async function askInputs(
  files: readonly string[],
  given: Readonly<Record<string, string>>,
  prompter: Prompter | undefined,
  signal: AbortSignal,
): Promise<GivenInputs> {
  const surveyed = await surveyServers(files, { inputs: given, skipMissing: true });
  const declared = new Map(surveyed.flatMap(({ document }) => declarationsIn(plain(document?.root))));
  const inputs = { ...given };
  for (const id of prompter ? missingIn(surveyed.flatMap((file) => file.definitions)) : []) {
    const { description, password = false, options } = declared.get(id) ?? {};
    const choice = options ? ` (${options.map(oneLine).join(', ')})` : '';
    const prompt = `${oneLine(description ?? id)}${choice} [--input ${oneLine(id)}]: `;
    const typed = await prompter!.ask(prompt, signal, { hidden: password });
    // The input has ended, so the other questions are not answered either.
    if (typed === undefined) break;
    if (typed !== '') inputs[id] = typed;
  }
  const secrets = [...declared].flatMap(([id, { password }]) => (password && inputs[id] ? [inputs[id]] : []));
  return { inputs, secrets };
}

/** The inputs without a value, once each, in the order of the servers that need them. */
function missingIn(definitions: Awaited<ReturnType<typeof surveyServers>>[number]['definitions']): string[] {
  const needed = definitions.filter(({ settings }) => !settings.disabled);
  const names = needed.flatMap(({ problems }) => problems.map(({ missing = '' }) => missing));
  return [...new Set(names)].flatMap((name) =>
    name.startsWith('input:') ? [name.slice('input:'.length)] : [],
  );
}

interface Declared {
  readonly description?: string | undefined;
  readonly password?: boolean | undefined;
  readonly options?: readonly string[] | undefined;
}

function declarationsIn(root: unknown): [id: string, Declared][] {
  const inputs = (root as { inputs?: unknown } | undefined)?.inputs;
  const list: unknown[] = Array.isArray(inputs) ? inputs : [];
  return list.flatMap((item): [string, Declared][] => {
    const { id, description, password, options } = Object(item) as Record<string, unknown>;
    if (typeof id !== 'string') return [];
    const texts = Array.isArray(options) ? options.filter((each) => typeof each === 'string') : [];
    return [
      [
        id,
        {
          description: typeof description === 'string' && description !== '' ? description : undefined,
          password: password === true,
          options: texts.length > 0 ? texts : undefined,
        },
      ],
    ];
  });
}
