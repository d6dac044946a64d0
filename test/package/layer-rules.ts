import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import type { SourceImport } from './read-imports.js';

/** One import that breaks a rule, ready to print: `packages/sdk/src/wire/codec.ts:3 imports "…": why not`. */
export type Offence = string;

/** A package of the repository, as its manifest and the table of docs/architecture.md have it. */
export interface PackageRules {
  /** Its folder in packages/. */
  readonly name: string;
  readonly dependencies: readonly string[];
}

/** The levels inside of each package, lowest first: what each part of its src/ may import besides itself. */
const LEVELS: Readonly<Record<string, readonly Level[]>> = {
  sdk: [
    { parts: ['errors', 'events', 'near-miss', 'version', 'async'], mayImportUpTo: -1 },
    { parts: ['arguments', 'wire', 'process', 'config'], mayImportUpTo: 0 },
    { parts: ['cluster'], mayImportUpTo: 1 },
    { parts: ['exchange', 'schema'], mayImportUpTo: 2 },
    { parts: ['era'], mayImportUpTo: 3 },
    { parts: ['transport'], mayImportUpTo: 4 },
    { parts: ['server', 'client'], mayImportUpTo: 4 },
    { parts: ['oauth'], mayImportUpTo: 5 },
    { parts: ['host', 'bridge'], mayImportUpTo: 7 },
    { parts: ['llm'], mayImportUpTo: 8 },
    { parts: ['index'], mayImportUpTo: 9 },
  ],
};

interface Level {
  readonly parts: readonly string[];
  readonly mayImportUpTo: number;
}

/** The modules through which a program starts another one. */
const spawners = ['child_process', 'cross-spawn'];

/** Files that the level table of their package has no place for. */
export function findStrays(name: string, files: readonly string[]): Offence[] {
  if (!LEVELS[name]) return [];
  return files
    .filter((file) => levelOf(name, partOf(file)) === undefined)
    .map((file) => `packages/${name}/src/${file} belongs to no level: "${partOf(file)}" is not in the table`);
}

/** Imports that the levels, the wall between the eras, or the dependencies of the package do not allow. */
export function findOffences(of: PackageRules, imports: readonly SourceImport[]): Offence[] {
  return imports.flatMap((found) => {
    const reason = found.specifier.startsWith('.') ? judgeOwn(of.name, found) : judgeForeign(of, found);
    return reason === undefined
      ? []
      : [`packages/${of.name}/src/${found.file}:${found.line} imports "${found.specifier}": ${reason}`];
  });
}

function judgeOwn(name: string, { file, specifier }: SourceImport): string | undefined {
  const target = posix.join(posix.dirname(file), specifier);
  if (target.startsWith('..')) return 'it is outside of the package';
  const from = partOf(file);
  const to = partOf(target);
  const levels = LEVELS[name];
  if (from === to) return crossesEras(file, target) ? 'the two eras do not import each other' : undefined;
  if (!levels) return undefined;
  const fromLevel = levelOf(name, from);
  const toLevel = levelOf(name, to);
  if (toLevel === undefined) return `"${to}" is not in the table`;
  if (fromLevel === undefined) return undefined; // The file itself is reported as a stray.
  const limit = levels[fromLevel]!.mayImportUpTo;
  if (toLevel <= limit) return undefined;
  const allowed = limit < 0 ? 'nothing of ours' : `levels 0 to ${limit}`;
  return `${from} (level ${fromLevel}) may import ${allowed}, and ${to} is level ${toLevel}`;
}

function judgeForeign(of: PackageRules, { file, specifier }: SourceImport): string | undefined {
  const name = packageOf(specifier);
  const isOfProcess = of.name === 'sdk' && partOf(file) === 'process';
  if (spawners.includes(name.replace(/^node:/, '')) && !isOfProcess) {
    return 'only process/ of the sdk starts child processes';
  }
  if (specifier.startsWith('node:')) return undefined;
  if (of.dependencies.includes(name)) return undefined;
  if (isBuiltin(specifier)) return `write "node:${specifier}"`;
  return `"${name}" is not in the dependencies of packages/${of.name}`;
}

/** The folder right below src/, or for a file there its name: the unit of the level table. */
function partOf(file: string): string {
  return file.split('/')[0]!.replace(/\.[cm]?[jt]s$/, '');
}

function levelOf(name: string, part: string): number | undefined {
  const level = LEVELS[name]?.findIndex(({ parts }) => parts.includes(part)) ?? -1;
  return level < 0 ? undefined : level;
}

function crossesEras(file: string, target: string): boolean {
  const eras = [file, target].map((path) => /^era\/(legacy|modern)\//.exec(path)?.[1]);
  return eras[0] !== undefined && eras[1] !== undefined && eras[0] !== eras[1];
}

/** `ajv/dist/2020.js` → `ajv`, `@scope/name/part` → `@scope/name`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
