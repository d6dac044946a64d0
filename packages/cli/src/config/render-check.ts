import { relative } from 'node:path';
import { type ConfigProblem, describeProblem, type Source } from '@isthmus/sdk/internal/config/index.js';
import type { Style } from '../terminal/style.js';
import { oneLine, padEnd, widthOf } from '../terminal/text.js';
import type { CheckedServer, CheckReport } from './check-servers.js';

/** One line for each server, and below it what is wrong and what to do. */
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
  const last = `${kind === 'url' ? 'at' : kind === 'command' ? 'runs' : ''} ${oneLine(what)}${style.dim(also)}`;
  return `${style.bold(cells[0]!)}  ${paint(cells[1]!)}  ${cells[2]!}  ${last}`.trimEnd();
}

function describe(problem: ConfigProblem, style: Style): string[] {
  const { severity, hint } = problem;
  const paint = severity === 'error' ? style.red : style.yellow;
  const text = oneLine(describeProblem({ ...problem, file: nearFile(problem.file) }));
  const lines = [`${paint(`${severity}:`)} ${text}`];
  if (hint !== undefined) lines.push(`  ${style.dim('hint:')} ${oneLine(hint)}`);
  return lines;
}

function summary({ servers, problems, files }: CheckReport, style: Style): string {
  const all = [...problems, ...servers.flatMap((each) => each.problems)];
  const errors = all.filter(({ severity }) => severity === 'error').length;
  const usable = servers.filter(({ state }) => state === 'ok').length;
  const where = files.length === 1 ? nearFile(files[0]!.file) : `${files.length} files`;
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
  return `${oneLine(nearFile(file))}:${line}`;
}

/** As a person would write it: from here, when it is below. */
export function nearFile(file: string): string {
  const path = relative(process.cwd(), file);
  return path === '' || path.startsWith('..') ? file : path;
}
