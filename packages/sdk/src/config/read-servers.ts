import { IsthmusError } from '../errors.js';
import { type GatewaySettings, mergeGateways } from './read-gateway.js';
import { type ConfigProblem, describeProblem } from './report.js';
import type { ServerEntry } from './server-spec.js';
import { type Definition, type ReadOptions, type SurveyedFile, surveyServers } from './survey.js';

/** The servers of the files that can be used, and the problems of the rest. */
export interface Servers {
  /** By name. A server with an error is not in it. The object has no prototype, so any name is safe to look up. */
  readonly servers: Readonly<Record<string, ServerEntry>>;
  readonly problems: readonly ConfigProblem[];
  /** The blocks `gateway` of all files as one: what a later file says wins, word by word. */
  readonly gateway: GatewaySettings;
}

/**
 * Reads the servers of one file or of several, where a later file replaces the servers of an earlier one by name.
 * The content of a file never throws: what is wrong is in `problems`, and costs no other server.
 */
export async function readServers(
  files: string | readonly string[],
  options: ReadOptions = {},
): Promise<Servers> {
  return toServers(await surveyServers(typeof files === 'string' ? [files] : files, options));
}

/** The same, but accepts no errors: throws one `INVALID_OPTION` error that lists them. */
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

/** The last definition of each name, in the order of the first; without those that cannot be used. */
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
  return { servers, problems, gateway: mergeGateways(...files.map(({ gateway }) => gateway)) };
}

/** The definitions that replace each other; `earlier` has the latest of them first. */
export function byName(
  definitions: readonly Definition[],
): { readonly latest: Definition; readonly earlier: readonly Definition[] }[] {
  const names = new Map<string, Definition[]>();
  for (const definition of definitions) {
    names.set(definition.name, [definition, ...(names.get(definition.name) ?? [])]);
  }
  return [...names.values()].map(([latest, ...earlier]) => ({ latest: latest!, earlier }));
}
