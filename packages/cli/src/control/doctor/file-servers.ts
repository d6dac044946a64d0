import { relative } from 'node:path';
import {
  type ConfigProblem,
  describeProblem,
  knownFiles,
  readServers,
  type ServerEntry,
} from '@isthmus/sdk/internal/config/index.js';
import { oneLine } from '../../terminal/text.js';
import type { Diagnosis, Problem } from './diagnosis.js';

/** The servers of configuration files, and the problems of the files. */
export interface FileServers {
  readonly files: readonly string[];
  readonly entries: readonly ServerEntry[];
  /** Servers whose definition is invalid. */
  readonly invalid: readonly Diagnosis[];
  /** Problems of whole files. */
  readonly problems: readonly string[];
  readonly whereOf: (entry: ServerEntry) => string;
}

/** Reads the given files, or else the files of the known applications. */
export async function readFileServers(
  config: readonly string[] | undefined,
  inputs: Readonly<Record<string, string>> | undefined,
): Promise<FileServers> {
  const known = config ? [] : knownFiles().map(({ path }) => path);
  const { servers, problems } = await readServers(config ?? known, {
    skipMissing: config === undefined,
    ...(inputs && { inputs }),
  });
  const entries = Object.values(servers);
  // Whole files of other applications are not judged: such a file may have no servers.
  const ofFiles = problems.filter(
    ({ server, severity }) => server === undefined && severity === 'error' && config,
  );
  const broken = new Map<string, ConfigProblem[]>();
  for (const problem of problems) {
    const { server, severity } = problem;
    if (server === undefined || severity !== 'error' || Object.hasOwn(servers, server)) continue;
    broken.set(server, [...(broken.get(server) ?? []), problem]);
  }
  return {
    files: config ?? [...new Set(entries.map(({ source }) => source.file))],
    entries,
    invalid: [...broken].map(([name, wrong]) => invalidServer(name, wrong)),
    problems: ofFiles.map((problem) =>
      oneLine(describeProblem({ ...problem, file: shortPath(problem.file) })),
    ),
    whereOf: ({ source }) => `${shortPath(source.file)}:${source.line}`,
  };
}

function invalidServer(name: string, wrong: readonly ConfigProblem[]): Diagnosis {
  return {
    name,
    where: `${shortPath(wrong[0]!.file)}:${wrong[0]!.line}`,
    health: 'ill',
    how: 'not started',
    problems: wrong.map(toProblem),
    odd: [],
    stderr: [],
  };
}

function toProblem(problem: ConfigProblem): Problem {
  const { missing, hint } = problem;
  const isInput = missing?.startsWith('input:');
  return {
    code: missing === undefined ? 'configuration' : 'variable-missing',
    message: oneLine(describeProblem({ ...problem, file: shortPath(problem.file) })),
    advice:
      hint ??
      (missing === undefined
        ? 'Correct the file at this line'
        : isInput
          ? `--input ${missing.slice('input:'.length)}=VALUE gives the value that an editor would ask for`
          : `export ${missing}=…, or write the value into the file`),
  };
}

/** Relative when the file is below the current folder. */
function shortPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path === '' || path.startsWith('..') ? file : path;
}
