import { homedir } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import { type Document, type DocumentTable, isTable, kindOf, type Path } from './documents/document.js';
import { type EnvFile, readEnvFile } from './documents/env-file.js';
import { readDocument } from './documents/read-document.js';
import { createFields, expand, resolverOf, type Variables } from './expand.js';
import { defaultInputs, type FoundServer, findServers, nameProblem } from './find-servers.js';
import { type GatewaySettings, readGateway } from './gateway/read-gateway.js';
import { projectOf } from './known-files.js';
import { readSettings, warnOfNearMisses, warnOfProcessSettings } from './options/read-options.js';
import { readAuth } from './read-auth.js';
import { readCommand, readUrl, transportOf } from './read-endpoint.js';
import { type ConfigProblem, type ConfigReport, createReport, sourceOf } from './report.js';
import type { ServerEntry, ServerSettings, Source } from './server-spec.js';

/** Where `readServers` looks, and how it fills in variables. */
export interface ReadOptions {
  /** Where `${NAME}` is looked up. Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The base of relative file names, and the workspace of files without a project. */
  readonly cwd?: string;
  /** `${workspaceFolder}`, and the base of relative paths in the files. Default: the project of each file. */
  readonly workspaceFolder?: string;
  readonly home?: string;
  /** Values of `${input:id}`, for which an editor would ask its user. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** A missing file is not an error: for `knownFiles()`. */
  readonly skipMissing?: boolean;
}

/** The content of a file, with its problems. */
export interface SurveyedFile {
  /** Absolute. */
  readonly file: string;
  /** Undefined when the file is missing or is not a document. */
  readonly document?: Document;
  /** In the order of the file. If several definitions have the same name, the last one counts. */
  readonly definitions: readonly Definition[];
  readonly gateway: GatewaySettings;
  /** The problems that belong to no server. */
  readonly problems: readonly ConfigProblem[];
}

/** A server as a file has it. */
export interface Definition {
  readonly name: string;
  readonly source: Source;
  /** The definition as it is in the file, not expanded. */
  readonly found: FoundServer;
  readonly settings: ServerSettings;
  /** Undefined: it has errors. */
  readonly entry: ServerEntry | undefined;
  /** Whether its only errors are missing values: it may be usable elsewhere. */
  readonly isPortable: boolean;
  readonly problems: readonly ConfigProblem[];
  /** The absolute path of its `envFile`, whether the file exists or not. */
  readonly envFile: string | undefined;
  /** Creates a further problem of this server. `keys` is the path from its definition. */
  problemAt(keys: Path, severity: ConfigProblem['severity'], message: string, hint?: string): ConfigProblem;
}

/** Reads all definitions of the files. The content of a file never causes an exception. */
export async function surveyServers(
  files: readonly string[],
  options: ReadOptions = {},
): Promise<readonly SurveyedFile[]> {
  const { cwd = process.cwd(), home = homedir(), env = process.env } = options;
  return Promise.all(
    files.map(async (given): Promise<SurveyedFile> => {
      const file = resolve(cwd, given);
      const result = await readDocument(file);
      if (result.kind !== 'document') {
        const skipped = result.kind === 'missing' && options.skipMissing;
        return { file, definitions: [], gateway: {}, problems: skipped ? [] : [result.problem] };
      }
      const { document } = result;
      const report = createReport(file, document);
      const workspaceFolder = resolve(cwd, options.workspaceFolder ?? projectOf(file, { cwd, home, env }));
      const inputs = new Map([...defaultInputs(document), ...Object.entries(options.inputs ?? {})]);
      const variables = { env, home, workspaceFolder, inputs };
      const found = findServers(document, report, { file, project: workspaceFolder });
      const definitions = await Promise.all(
        found.map(async (each) => {
          const place = envFileOf(each, variables);
          const envFile = typeof place === 'string' ? await readEnvFile(place) : place;
          const path = typeof place === 'string' ? place : undefined;
          return { ...readDefinition(file, document, each, variables, envFile), envFile: path };
        }),
      );
      const gateway = readGateway(document, report, {
        resolve: resolverOf(variables),
        folder: workspaceFolder,
      });
      return { file, document, definitions, gateway, problems: report.problems };
    }),
  );
}

function readDefinition(
  file: string,
  document: Document,
  found: FoundServer,
  variables: Variables,
  envFile: EnvFile | undefined,
): Omit<Definition, 'envFile'> {
  const { name, path } = found;
  const source = sourceOf(file, document, path);
  const report = createReport(file, document, name);
  const { settings, entry } = readServer();
  const lacksOnlyValues = report.problems.every(
    ({ severity, missing }) => severity === 'warning' || missing !== undefined,
  );
  // A disabled server is not used, so its problems are only warnings.
  const problems = settings.disabled
    ? report.problems.map((problem) => ({ ...problem, severity: 'warning' as const }))
    : report.problems;
  return {
    name,
    source,
    found,
    settings,
    entry,
    isPortable: lacksOnlyValues && isTable(found.value) && !isOfZed(found),
    problems,
    problemAt(keys, severity, message, hint) {
      const more = createReport(file, document, name);
      more[severity]([...path, ...keys], message, hint === undefined ? {} : { hint });
      return more.problems[0]!;
    },
  };

  function readServer(): Pick<Definition, 'settings' | 'entry'> {
    const { value, inZed, inSeconds } = found;
    const wrong = nameProblem(name);
    if (wrong !== undefined || !isTable(value)) {
      report.error(path, wrong ?? `must be an object, not ${kindOf(value)}`);
      return { settings: {}, entry: undefined };
    }
    if (isOfZed(found)) {
      report.warning(path, 'comes from a Zed extension; only Zed can start it');
      return { settings: {}, entry: undefined };
    }
    const settings = readSettings(value, path, inZed || inSeconds || countsInSeconds(file), report);
    if (envFile?.kind === 'broken') report.error([...path, 'envFile'], `cannot be read: ${envFile.reason}`);
    const fileEnv = envFile?.kind === 'variables' ? envFile.variables : {};
    return {
      settings,
      entry: readEntry(value, { name, path, source, variables, settings, report, fileEnv }),
    };
  }
}

/** Cursor and VS Code: a file with variables for the process, relative to the project. */
function envFileOf({ value }: FoundServer, variables: Variables): string | EnvFile | undefined {
  const given = isTable(value) ? value.get('envFile') : undefined;
  if (given === undefined || given === null || given === '') return undefined;
  if (typeof given !== 'string') return { kind: 'broken', reason: `must be a string, not ${kindOf(given)}` };
  const path = expand(given.replace(/^~(?=[\\/]|$)/, variables.home), resolverOf(variables));
  if (path.kind === 'failed') return { kind: 'broken', reason: path.failures[0]!.reason };
  return resolve(variables.workspaceFolder, path.text);
}

function isOfZed({ value, inZed }: FoundServer): boolean {
  return inZed && isTable(value) && !value.has('command') && !value.has('url');
}

/** Cline and Roo Code: `timeout` is always in seconds. */
function countsInSeconds(file: string): boolean {
  return /^(cline_)?mcp_settings\.json$/.test(basename(file)) || basename(dirname(file)) === '.roo';
}

interface EntryContext {
  readonly name: string;
  readonly path: Path;
  readonly source: Source;
  readonly variables: Variables;
  readonly settings: ServerSettings;
  readonly report: ConfigReport;
  /** From its `envFile`. */
  readonly fileEnv: Readonly<Record<string, string>>;
}

/** One server of a file. `undefined`: it has errors, which are in the report. */
function readEntry(table: DocumentTable, context: EntryContext): ServerEntry | undefined {
  const { name, path, source, variables, settings, report, fileEnv } = context;
  const fields = createFields(path, report, resolverOf(variables));
  warnOfNearMisses(table, path, report);
  const transport = transportOf(table);
  if (transport.kind === 'wrong') {
    const { key, message, hint } = transport;
    report.error(key === undefined ? path : [...path, key], message, hint === undefined ? {} : { hint });
    return undefined;
  }
  if (transport.kind === 'command') {
    const part = readCommand(table, fields, variables, fileEnv);
    if (!part || report.failed) return undefined;
    return { kind: 'command', name, ...part, ...settings, source };
  }
  warnOfProcessSettings(table, path, report);
  const part = readUrl(table, transport.key, fields, variables);
  const auth = readAuth(table, fields, variables);
  if (!part || report.failed) return undefined;
  return {
    ...{ kind: 'url', name, ...part, transport: transport.transport },
    ...(auth && { auth }),
    ...settings,
    source,
  };
}
