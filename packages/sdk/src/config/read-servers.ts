import { IsthmusError } from '../errors.js';
import { accessDoubts } from './gateway/read-access.js';
import { type GatewaySettings, mergeGateways } from './gateway/read-gateway.js';
import { type ConfigProblem, describeProblem } from './report.js';
import type { ServerEntry } from './server-spec.js';
import { type Definition, type ReadOptions, type SurveyedFile, surveyServers } from './survey.js';

/** The usable servers of the files, and the problems of the others. */
export interface Servers {
  /** By name. Servers with errors are left out. The object has no prototype, so any name is safe to look up. */
  readonly servers: Readonly<Record<string, ServerEntry>>;
  readonly problems: readonly ConfigProblem[];
  /** The merged blocks `gateway` of all files. A later file overrides single keys of an earlier one. */
  readonly gateway: GatewaySettings;
}

/**
 * Reads the servers of one or several files. A server of a later file replaces one of the same name. The content of a file
 * never causes an exception: `problems` has the errors, and they do not affect other servers.
 */
export async function readServers(
  files: string | readonly string[],
  options: ReadOptions = {},
): Promise<Servers> {
  return toServers(await surveyServers(typeof files === 'string' ? [files] : files, options));
}

/** Like `readServers`, but throws one `INVALID_OPTION` error with all errors, if there are any. */
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

/** The last usable definition of each name, in the order of the first definitions. */
export function toServers(files: readonly SurveyedFile[]): Servers {
  const servers: Record<string, ServerEntry> = Object.create(null);
  for (const { latest, earlier } of byName(files.flatMap(({ definitions }) => definitions))) {
    if (!latest.entry) continue;
    const overrides = earlier.map(({ source }) => source);
    servers[latest.name] = overrides.length > 0 ? { ...latest.entry, overrides } : latest.entry;
  }
  const problems = files.flatMap(({ problems, definitions }) => [
    ...problems,
    ...definitions.flatMap((each) => each.problems),
  ]);
  const gateway = mergeGateways(...files.map(({ gateway }) => gateway));
  return { servers, problems: [...problems, ...doubtsAboutAccess(files)], gateway };
}

/** Warnings about the block `access`, which names servers of any file. */
export function doubtsAboutAccess(files: readonly SurveyedFile[]): readonly ConfigProblem[] {
  const names = files.flatMap(({ definitions }) => definitions.map(({ name }) => name));
  return files.flatMap(({ file, gateway }) =>
    accessDoubts(gateway.access ?? {}, names).map(({ key, message }) => ({
      ...({ severity: 'warning', file, line: 0, column: 0 } as const),
      ...{ key: `gateway.access.${key}`, message },
    })),
  );
}

/** Groups definitions by name. `earlier` starts with the most recent one. */
export function byName(
  definitions: readonly Definition[],
): { readonly latest: Definition; readonly earlier: readonly Definition[] }[] {
  const names = new Map<string, Definition[]>();
  for (const definition of definitions) {
    names.set(definition.name, [definition, ...(names.get(definition.name) ?? [])]);
  }
  return [...names.values()].map(([latest, ...earlier]) => ({ latest: latest!, earlier }));
}
