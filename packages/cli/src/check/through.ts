import type { CheckOptions, CheckTarget } from '@isthmus/check';
import { cleanLine } from '@isthmus/check/internal/report/plain-text.js';
import {
  checkThrough,
  startBridge,
  type ThroughReport,
} from '@isthmus/check/internal/through/check-through.js';
import type { Difference } from '@isthmus/check/internal/through/differences.js';
import { given } from '@isthmus/sdk/internal/config/server-spec.js';
import type { CheckCommandOptions } from '../commands/check.js';
import { splitCommand } from '../compat/split-command.js';
import { type CommandTarget, withSettings } from '../target.js';
import { table } from '../terminal/table.js';
import type { Terminal } from '../terminal/terminal.js';

/** Checks the target alone and through the bridge of `--through`. The bridge runs until both are done. */
export async function runThrough(
  target: CommandTarget,
  direct: CheckTarget,
  options: CheckCommandOptions,
  run: CheckOptions,
): Promise<ThroughReport> {
  const { cwd, env } = options;
  const server = target.kind === 'command' ? withSettings(target, { cwd, env }) : undefined;
  const bridge = await startBridge({
    words: bridgeArguments(options.through!, target.kind === 'command'),
    server: serverOf(target),
    // The bridge must start the server in the same environment in which it is checked directly.
    env: server?.env ?? {},
    ...given({ inheritEnv: server?.inheritEnv, cwd: server?.cwd }),
    ...(options.throughPath !== undefined && { path: options.throughPath }),
  });
  try {
    return await checkThrough(direct, bridge.target, run);
  } finally {
    await bridge.close();
  }
}

function serverOf(target: CommandTarget): { readonly command?: readonly string[]; readonly url?: string } {
  if (target.kind === 'command') return { command: [target.command, ...target.args] };
  return { url: target.kind === 'url' ? target.url : target.address };
}

/**
 * The arguments of `--through`. Placeholders look like shell syntax and are hidden from the splitting. A command line
 * that does not name the target gets it at the end.
 */
export function bridgeArguments(
  text: string,
  isCommand: boolean,
  platform = process.platform,
): readonly string[] {
  const isNamed = /\{(command(\.\.\.)?|url)\}/.test(text);
  const whole = isNamed ? text : `${text} ${isCommand ? '-- {command...}' : '{url}'}`;
  const hidden = PLACEHOLDERS.reduce((line, each, at) => line.replaceAll(each, mark(at)), whole);
  const args = splitCommand(text.trim() === '' ? text : hidden, '--through', platform);
  return args.map((arg) => PLACEHOLDERS.reduce((shown, each, at) => shown.replaceAll(mark(at), each), arg));
}

const PLACEHOLDERS = ['{command...}', '{command}', '{url}', '{port}'];

/** A private-use character: it is not typed, and shells do not interpret it. */
function mark(at: number): string {
  return String.fromCharCode(0xe000 + at);
}

/** The differences, the worst first, and both grades. */
export function renderThrough(
  report: ThroughReport,
  { width, out }: Pick<Terminal, 'width' | 'out'>,
): string {
  const { direct, through, differences } = report;
  const show = ({ about, era, direct: was, through: is }: Difference) =>
    `  ${out.bold(cleanLine(about))}${era === undefined ? '' : out.dim(` (${era})`)}\n${table(
      [
        ['directly', cleanLine(was)],
        ['through', cleanLine(is)],
      ],
      {
        width,
        indent: '    ',
        maxLines: MAX_LINES,
        paint: (text, column) => (column === 0 ? out.dim(text) : text),
      },
    )}`;
  const section = (title: string, kind: Difference['kind']) => {
    const found = differences.filter((each) => each.kind === kind);
    return found.length === 0 ? '' : `${title} (${found.length})\n\n${found.map(show).join('')}`;
  };
  const grades = `directly ${direct.grade.letter}, through the bridge ${through.grade.letter}`;
  const lost = countLost(report);
  return [
    `${out.bold(cleanLine(direct.target.label))} ${out.dim('through')} ${out.bold(cleanLine(through.target.label))}\n`,
    section(out.red('Worse through the bridge'), 'worse'),
    section(out.yellow('Not the same through the bridge'), 'other'),
    section(out.green('Better through the bridge'), 'better'),
    lost === 0
      ? `${out.green(`Nothing is lost through the bridge (${grades}).`)}\n`
      : `${out.red(`${lost} ${lost === 1 ? 'difference' : 'differences'} (${grades}).`)}\n`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** Long lists differ at their ends as often as at their beginnings. */
const MAX_LINES = 6;

/** The number of differences that are the fault of the bridge. */
export function countLost({ differences }: ThroughReport): number {
  return differences.filter(({ kind }) => kind !== 'better').length;
}
