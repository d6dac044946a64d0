import { stat } from 'node:fs/promises';
import { relative } from 'node:path';
import {
  type ConfigProblem,
  describeProblem,
  type KnownFile,
  knownFiles,
  type Source,
  surveyServers,
  type Whereabouts,
} from '@isthmus/sdk/internal/config/index.js';
import { padEnd, table, widthOf } from '../terminal/table.js';
import type { Style, Terminal } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';
import type { CheckedServer, CheckReport } from './check-servers.js';
import type { ImportReport } from './import-servers.js';

/** One line for each server, with its problems and hints below it. */
export function renderCheck(report: CheckReport, style: Style): string {
  const { servers, problems } = report;
  const columns = [
    widest(servers.map(({ name }) => oneLine(name))),
    widest(servers.map(({ state }) => state)),
    widest(servers.map(({ source }) => placeOf(source))),
  ];
  const lines = [
    ...problems.flatMap((problem) => describe(problem, style)),
    ...servers.flatMap((server) => [
      row(server, columns, style),
      ...server.problems.flatMap((problem) => describe(problem, style).map((line) => `  ${line}`)),
    ]),
    summary(report, style),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function row(server: CheckedServer, columns: readonly number[], style: Style): string {
  const { name, state, source, kind, what, replaces } = server;
  const paint = { ok: style.green, broken: style.red, disabled: style.yellow }[state];
  const cells = [oneLine(name), state, placeOf(source)].map((text, at) => padEnd(text, columns[at]!));
  const also = replaces.length > 0 ? ` (replaces ${replaces.map(placeOf).join(', ')})` : '';
  const verb = what === '' ? '' : kind === 'url' ? 'at ' : kind === 'command' ? 'runs ' : '';
  const last = `${verb}${oneLine(what)}${style.dim(also)}`;
  return `${style.bold(cells[0]!)}  ${paint(cells[1]!)}  ${cells[2]!}  ${last}`.trimEnd();
}

function describe(problem: ConfigProblem, style: Style): string[] {
  const { severity, hint } = problem;
  const paint = severity === 'error' ? style.red : style.yellow;
  const text = oneLine(describeProblem({ ...problem, file: relativeFile(problem.file) }));
  const lines = [`${paint(`${severity}:`)} ${text}`];
  if (hint !== undefined) lines.push(`  ${style.dim('hint:')} ${oneLine(hint)}`);
  return lines;
}

function summary({ servers, problems, files }: CheckReport, style: Style): string {
  const all = [...problems, ...servers.flatMap((each) => each.problems)];
  const errors = all.filter(({ severity }) => severity === 'error').length;
  const usable = servers.filter(({ state }) => state === 'ok').length;
  const where = files.length === 1 ? relativeFile(files[0]!.file) : `${files.length} files`;
  const text = [
    `${where}: ${count(servers.length, 'server')}`,
    `${usable} can be used`,
    count(errors, 'error'),
    count(all.length - errors, 'warning'),
  ].join(', ');
  return errors > 0 ? style.red(text) : style.green(text);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map(widthOf));
}

export function placeOf({ file, line }: Pick<Source, 'file' | 'line'>): string {
  return `${oneLine(relativeFile(file))}:${line}`;
}

/** Relative to the working directory, if the file is below it. */
export function relativeFile(file: string): string {
  const path = relative(process.cwd(), file);
  return path === '' || path.startsWith('..') ? file : path;
}

/** The summary of an import, as lines. Does not contain the document itself. */
export function renderImport(report: ImportReport, style: Style): string[] {
  const { imported, skipped, missing, problems, document } = report;
  const lines = problems.map(
    (problem) =>
      `${style.yellow('warning:')} ${oneLine(describeProblem({ ...problem, file: relativeFile(problem.file) }))}`,
  );
  for (const { name, application, source, renamedFrom, alsoIn } of imported) {
    const renamed =
      renamedFrom === undefined ? '' : `, renamed from ${oneLine(renamedFrom)}: that name was taken`;
    const also = alsoIn.map((each) => `${each.application} (${placeOf(each.source)})`).join(', ');
    const same = also === '' ? '' : `; the same in ${also}`;
    lines.push(`${style.bold(oneLine(name))}  from ${application} (${placeOf(source)})${renamed}${same}`);
  }
  for (const { name, application, source, reason } of skipped) {
    const place = `${application} (${placeOf(source)})`;
    lines.push(`${style.yellow('skipped:')} ${oneLine(name)} of ${place}: ${oneLine(reason)}`);
  }
  if (imported.length === 0)
    lines.push('No servers found in the files of the known hosts; isthmus config list shows these files');
  if (missing.length > 0) {
    lines.push(
      `${style.yellow('not set here:')} ${missing.map(oneLine).join(', ')}; set them where the servers run`,
    );
  }
  const literal = namesWithLiterals(document.mcpServers);
  if (literal.length > 0) {
    const names = literal.map(oneLine).join(', ');
    lines.push(
      `${style.yellow('note:')} copied unchanged, including any secrets: env and headers of ${names}`,
    );
  }
  return lines;
}

/** Servers with literal values in their variables or headers. */
function namesWithLiterals(servers: ImportReport['document']['mcpServers']): string[] {
  return Object.entries(servers).flatMap(([name, { env, headers }]) => {
    const values = [...Object.values(env ?? {}), ...Object.values(headers ?? {})];
    return values.some((value) => typeof value === 'string' && value !== '' && !value.includes('${'))
      ? [name]
      : [];
  });
}

export interface ListedFile extends KnownFile {
  readonly there: boolean;
  /** Names of servers. */
  readonly servers: readonly string[];
}

/** The files in which applications keep their servers, whether they exist or not. */
export async function listFiles(where: Whereabouts = {}): Promise<readonly ListedFile[]> {
  const files = knownFiles(where);
  const { cwd, home, env } = where;
  const surveyed = await surveyServers(
    files.map(({ path }) => path),
    { skipMissing: true, ...(cwd && { cwd }), ...(home && { home }), ...(env && { env }) },
  );
  return Promise.all(
    files.map(async (file, at) => ({
      ...file,
      there: await stat(file.path).then(
        () => true,
        () => false,
      ),
      servers: surveyed[at]!.definitions.map(({ name }) => name),
    })),
  );
}

export function renderFiles(files: readonly ListedFile[], { width, out }: Terminal): string {
  const rows = files.map(({ application, scope, path, there, servers }) => [
    application,
    scope,
    oneLine(path),
    there ? servers.map(oneLine).join(', ') || '(no servers)' : '-',
  ]);
  return table(rows, { width, paint: (text, column) => (column === 0 ? out.bold(text) : text) });
}
