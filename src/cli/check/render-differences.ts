import { cleanLine } from '../../check/report/clean-text.js';
import type { ThroughReport } from '../../check/through/check-through.js';
import type { Difference } from '../../check/through/compare.js';
import type { Terminal } from '../terminal/terminal.js';
import { cut } from '../terminal/text.js';

/** What is not the same behind the bridge, the worst first, and both grades. */
export function renderThrough(
  report: ThroughReport,
  { width, out }: Pick<Terminal, 'width' | 'out'>,
): string {
  const { direct, through, differences } = report;
  const room = Number.isFinite(width) ? width : 200;
  const show = ({ about, era, direct: was, through: is }: Difference) =>
    [
      `  ${out.bold(cleanLine(about))}${era === undefined ? '' : out.dim(` (${era})`)}`,
      `    directly  ${cut(cleanLine(was), room - 14)}`,
      `    through   ${cut(cleanLine(is), room - 14)}`,
    ].join('\n');
  const section = (title: string, kind: Difference['kind']) => {
    const found = differences.filter((each) => each.kind === kind);
    return found.length === 0 ? '' : `${title} (${found.length})\n\n${found.map(show).join('\n')}\n`;
  };
  const grades = `directly ${direct.grade.letter}, through the bridge ${through.grade.letter}`;
  const lost = countLost(report);
  return [
    `${out.bold(cleanLine(direct.target.label))} ${out.dim('through')} ${out.bold(cleanLine(through.target.label))}\n`,
    section(out.red('Worse through the bridge'), 'worse'),
    section(out.yellow('Not the same through the bridge'), 'other'),
    section(out.green('Better through the bridge'), 'better'),
    lost === 0
      ? `${out.green(`Nothing is lost on the way (${grades}).`)}\n`
      : `${out.red(`${lost} ${lost === 1 ? 'difference' : 'differences'} (${grades}).`)}\n`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** Differences that the bridge has to answer for. */
export function countLost({ differences }: ThroughReport): number {
  return differences.filter(({ kind }) => kind !== 'better').length;
}
