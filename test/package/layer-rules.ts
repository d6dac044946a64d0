import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import type { SourceImport } from './read-imports.js';

/** One import that breaks a rule, ready to print: `src/wire/codec.ts:3 imports "…": why not`. */
export type Offence = string;

/** The level table of CONTRIBUTING.md: what each part of src/ may import besides itself. */
const levels: readonly { readonly parts: readonly string[]; readonly mayImportUpTo: number }[] = [
  { parts: ['errors', 'events', 'async'], mayImportUpTo: -1 },
  { parts: ['wire', 'process', 'config'], mayImportUpTo: 0 },
  { parts: ['exchange', 'schema'], mayImportUpTo: 1 },
  { parts: ['era'], mayImportUpTo: 2 },
  { parts: ['transport'], mayImportUpTo: 3 },
  { parts: ['server', 'client'], mayImportUpTo: 3 },
  { parts: ['host', 'bridge'], mayImportUpTo: 5 },
  { parts: ['check', 'bench', 'console', 'gateway', 'daemon'], mayImportUpTo: 6 },
  { parts: ['cli', 'index'], mayImportUpTo: 8 },
];

/** Who may import one of its own level: the daemon speaks the control protocol of the gateway, and serves as it does. */
const neighbours: Readonly<Record<string, string>> = { daemon: 'gateway' };

/** The modules through which a program starts another one. */
const spawners = ['child_process', 'cross-spawn'];

/** Files that the level table has no place for. */
export function findStrays(files: readonly string[]): Offence[] {
  return files
    .filter((file) => levelOf(partOf(file)) === undefined)
    .map(
      (file) =>
        `src/${file} belongs to no level: "${partOf(file)}" is not in the level table of CONTRIBUTING.md`,
    );
}

/** Imports that the levels, the wall between the eras, or the list of dependencies do not allow. */
export function findOffences(imports: readonly SourceImport[], dependencies: Iterable<string>): Offence[] {
  const declared = new Set(dependencies);
  return imports.flatMap((found) => {
    const reason = found.specifier.startsWith('.') ? judgeOwn(found) : judgeForeign(found, declared);
    return reason === undefined
      ? []
      : [`src/${found.file}:${found.line} imports "${found.specifier}": ${reason}`];
  });
}

function judgeOwn({ file, specifier }: SourceImport): string | undefined {
  const target = posix.join(posix.dirname(file), specifier);
  if (target.startsWith('..')) return 'it is outside of src/';
  const from = partOf(file);
  const to = partOf(target);
  if (from === to) return crossesEras(file, target) ? 'the two eras do not import each other' : undefined;
  const fromLevel = levelOf(from);
  const toLevel = levelOf(to);
  if (toLevel === undefined) return `"${to}" is not in the level table of CONTRIBUTING.md`;
  if (fromLevel === undefined) return undefined; // The file itself is reported as a stray.
  const limit = levels[fromLevel]!.mayImportUpTo;
  if (toLevel <= limit || neighbours[from] === to) return undefined;
  const allowed = limit < 0 ? 'nothing of ours' : `levels 0 to ${limit}`;
  return `${from} (level ${fromLevel}) may import ${allowed}, and ${to} is level ${toLevel}`;
}

function judgeForeign({ file, specifier }: SourceImport, declared: ReadonlySet<string>): string | undefined {
  const name = packageOf(specifier);
  if (spawners.includes(name.replace(/^node:/, '')) && partOf(file) !== 'process') {
    return 'only process/ starts child processes';
  }
  if (specifier.startsWith('node:')) return undefined;
  if (declared.has(name)) return undefined;
  if (isBuiltin(specifier)) return `write "node:${specifier}"`;
  return `"${name}" is not in the dependencies of package.json`;
}

/** The folder right below src/, or for a file there its name: the unit of the level table. */
function partOf(file: string): string {
  return file.split('/')[0]!.replace(/\.[cm]?[jt]s$/, '');
}

function levelOf(part: string): number | undefined {
  const level = levels.findIndex(({ parts }) => parts.includes(part));
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
