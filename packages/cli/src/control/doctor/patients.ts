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

/** The servers of some files, and what is wrong with the files themselves. */
export interface Patients {
  readonly files: readonly string[];
  readonly entries: readonly ServerEntry[];
  /** Servers that cannot even be tried. */
  readonly hopeless: readonly Diagnosis[];
  /** What is wrong with a file as a whole. */
  readonly problems: readonly string[];
  readonly whereOf: (entry: ServerEntry) => string;
}

/** Reads the files that were named, or else those of the applications that are known. */
export async function readPatients(
  config: readonly string[] | undefined,
  inputs: Readonly<Record<string, string>> | undefined,
): Promise<Patients> {
  const known = config ? [] : knownFiles().map(({ path }) => path);
  const { servers, problems } = await readServers(config ?? known, {
    skipMissing: config === undefined,
    ...(inputs && { inputs }),
  });
  const entries = Object.values(servers);
  // What is wrong with a file of another application is not ours to judge; that it has no servers is no fault.
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
    hopeless: [...broken].map(([name, wrong]) => hopeless(name, wrong)),
    problems: ofFiles.map((problem) => oneLine(describeProblem({ ...problem, file: near(problem.file) }))),
    whereOf: ({ source }) => `${near(source.file)}:${source.line}`,
  };
}

function hopeless(name: string, wrong: readonly ConfigProblem[]): Diagnosis {
  return {
    name,
    where: `${near(wrong[0]!.file)}:${wrong[0]!.line}`,
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
    message: oneLine(describeProblem({ ...problem, file: near(problem.file) })),
    advice:
      hint ??
      (missing === undefined
        ? 'Correct the file there'
        : isInput
          ? `--input ${missing.slice('input:'.length)}=VALUE answers what an editor would ask`
          : `export ${missing}=…, or write the value into the file`),
  };
}

/** As a person would write it: from here, when it is below. */
function near(file: string): string {
  const path = relative(process.cwd(), file);
  return path === '' || path.startsWith('..') ? file : path;
}
