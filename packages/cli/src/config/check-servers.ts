import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, delimiter, resolve } from 'node:path';
import {
  byName,
  type CommandSpec,
  type ConfigProblem,
  type Definition,
  doubtsAboutAccess,
  mergeGateways,
  type ReadOptions,
  type Servers,
  type Source,
  surveyServers,
  toPortable,
} from '@isthmus/sdk/internal/config/index.js';
import { eraOf } from '@isthmus/sdk/internal/era/classify/classify-probe.js';
import { REVISION_TABLE } from '@isthmus/sdk/internal/era/revisions.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { resolveDefinition } from '@isthmus/sdk/internal/host/definition.js';
import { childEnvironment } from '@isthmus/sdk/internal/process/environment.js';

/** The result of `config check`. It contains no arguments, variables or headers, which may be secrets. */
export interface CheckReport {
  /** Whether there is no error. */
  readonly ok: boolean;
  readonly files: readonly { readonly file: string; readonly servers: number }[];
  readonly servers: readonly CheckedServer[];
  readonly gateway: Servers['gateway'];
  /** The problems that belong to no server. */
  readonly problems: readonly ConfigProblem[];
}

export interface CheckedServer {
  readonly name: string;
  readonly state: 'ok' | 'broken' | 'disabled';
  readonly kind: 'command' | 'url' | undefined;
  /** The command as it is in the file, or the origin of the URL. */
  readonly what: string;
  /** The program that would be started. */
  readonly program?: string;
  readonly source: Source;
  /** Earlier definitions of the same name, which are not used. */
  readonly replaces: readonly Source[];
  /** Variables, and inputs as `input:ID`, that have no value here. */
  readonly missing: readonly string[];
  readonly problems: readonly ConfigProblem[];
}

export async function checkServers(
  files: readonly string[],
  options: ReadOptions = {},
): Promise<CheckReport> {
  const surveyed = await surveyServers(files, options);
  const definitions = surveyed.flatMap((each) => each.definitions);
  const servers = await Promise.all(
    byName(definitions).map(({ latest, earlier }) => checkServer(latest, earlier, options)),
  );
  const gateway = mergeGateways(...surveyed.map((each) => each.gateway));
  const problems = [...surveyed.flatMap((each) => each.problems), ...doubtsAboutAccess(surveyed)];
  const all = [...problems, ...servers.flatMap((each) => each.problems)];
  return {
    ok: all.every(({ severity }) => severity !== 'error'),
    files: surveyed.map(({ file, definitions }) => ({ file, servers: definitions.length })),
    servers,
    gateway: withoutPassword(gateway),
    problems,
  };
}

/** The address of Redis can hold a password. */
function withoutPassword(gateway: Servers['gateway']): Servers['gateway'] {
  const { url } = gateway.cluster ?? {};
  if (url === undefined) return gateway;
  return { ...gateway, cluster: { ...gateway.cluster, url: url.replace(/\/\/[^/@]*@/, '//…@') } };
}

async function checkServer(
  latest: Definition,
  earlier: readonly Definition[],
  { env = process.env }: ReadOptions,
): Promise<CheckedServer> {
  const { name, source, entry, settings } = latest;
  const here = entry && !entry.disabled ? await checkLocally(latest, env) : { problems: [] };
  const own = [...latest.problems, ...here.problems];
  const problems = [...own, ...earlier.flatMap((each) => each.problems)];
  const broken = !entry || own.some(({ severity }) => severity === 'error');
  return {
    name,
    state: settings.disabled ? 'disabled' : broken ? 'broken' : 'ok',
    ...describe(latest),
    ...(here.program !== undefined && { program: here.program }),
    source,
    replaces: earlier.map((each) => each.source),
    missing: [...new Set(own.flatMap(({ missing }) => missing ?? []))],
    problems,
  };
}

/** As it is in the file. Expanded values may be secrets. */
function describe(definition: Definition): Pick<CheckedServer, 'kind' | 'what'> {
  const portable = toPortable(definition, undefined) ?? {};
  const { command, url } = portable;
  if (typeof command === 'string') return { kind: 'command', what: command };
  // The path of a URL may be a secret, too.
  if (typeof url === 'string') return { kind: 'url', what: /^[^/]*\/\/[^/?#]*/.exec(url)?.[0] ?? '' };
  return { kind: undefined, what: '' };
}

interface LocalCheck {
  readonly program?: string;
  readonly problems: readonly ConfigProblem[];
}

/** Checks that depend on this machine and on this version of isthmus. */
async function checkLocally(
  definition: Definition,
  env: NonNullable<ReadOptions['env']>,
): Promise<LocalCheck> {
  const { mode } = definition.settings;
  if (mode !== undefined && !['auto', 'modern', 'legacy'].includes(mode) && eraOf(mode) === undefined) {
    return {
      problems: [
        definition.problemAt([], 'error', `needs an unknown revision; known revisions: ${REVISION_TABLE}`),
      ],
    };
  }
  const { entry } = definition;
  return entry?.kind === 'command' ? checkCommand(definition, entry, env) : { problems: [] };
}

async function checkCommand(
  definition: Definition,
  entry: CommandSpec,
  env: NonNullable<ReadOptions['env']>,
): Promise<LocalCheck> {
  try {
    resolveDefinition(entry.name, entry);
  } catch (error) {
    const message = messageOf(error).replace(`Server ${entry.name}: `, '');
    return { problems: [definition.problemAt([], 'error', message)] };
  }
  const problems: ConfigProblem[] = [];
  const folder = await stat(entry.cwd).catch(() => undefined);
  if (!folder?.isDirectory()) {
    const hint = 'create it, or set another cwd';
    problems.push(definition.problemAt(['cwd'], 'error', `there is no folder ${entry.cwd}`, hint));
  }
  const found = await findProgram(entry.command, { env: childEnvironment(entry, env), cwd: entry.cwd });
  if (found.kind === 'found') return { program: found.path, problems };
  problems.push(definition.problemAt(['command'], 'error', found.message, found.hint));
  return { problems };
}

export type FoundProgram =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'missing'; readonly message: string; readonly hint: string };

/** Finds the program that a command would start, with the environment of the process. */
export async function findProgram(
  command: string,
  { env, cwd }: { readonly env: Readonly<Record<string, string | undefined>>; readonly cwd: string },
  platform: NodeJS.Platform = process.platform,
): Promise<FoundProgram> {
  const isFile = /[\\/]/.test(command);
  const folders = isFile ? [cwd] : pathOf(env, platform).split(delimiter);
  const suffixes =
    platform === 'win32' ? ['', ...(lookUp(env, 'PATHEXT') ?? '.EXE;.CMD;.BAT').split(';')] : [''];
  let locked: string | undefined;
  for (const folder of folders) {
    for (const suffix of suffixes) {
      // An empty part of PATH is the working directory of the process.
      const path = resolve(cwd, folder, `${command}${suffix}`);
      const found = await stat(path).catch(() => undefined);
      if (!found?.isFile()) continue;
      if (await mayRun(path)) return { kind: 'found', path };
      locked ??= path;
    }
  }
  if (locked !== undefined) {
    const hint = `chmod +x ${locked}, or start it with its interpreter (node, python …)`;
    return { kind: 'missing', message: `${command} exists but is not executable`, hint };
  }
  if (isFile) {
    return {
      kind: 'missing',
      message: `there is no file ${command}`,
      hint: 'check the spelling, or build it first',
    };
  }
  const [program, ...args] = command.split(/\s+/);
  if (args.length > 0) {
    const hint = `write "command": ${JSON.stringify(program)}, "args": ${JSON.stringify(args)}`;
    return { kind: 'missing', message: `${command} is not in PATH`, hint };
  }
  const comes = COMES_WITH[basename(command)];
  return {
    kind: 'missing',
    message: `${command} is not in PATH`,
    hint: `${comes === undefined ? 'install it' : `install ${comes}, which includes it`}, or write the full path: /…/${command}`,
  };
}

const COMES_WITH: Readonly<Record<string, string>> = {
  npx: 'Node.js',
  npm: 'Node.js',
  node: 'Node.js',
  uvx: 'uv',
  uv: 'uv',
  bunx: 'Bun',
  pipx: 'pipx',
  docker: 'Docker',
};

async function mayRun(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** PATH, or a default search path. */
function pathOf(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform): string {
  return lookUp(env, 'PATH') ?? (platform === 'win32' ? '' : '/usr/local/bin:/bin:/usr/bin');
}

/** On Windows the names of variables are not case-sensitive. */
function lookUp(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  return env[name] ?? Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}
