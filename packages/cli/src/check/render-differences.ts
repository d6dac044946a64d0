import { cleanLine } from '@isthmus/check/internal/report/plain-text.js';
import type { ThroughReport } from '@isthmus/check/internal/through/check-through.js';
import type { Difference } from '@isthmus/check/internal/through/differences.js';
import { table } from '../terminal/table.js';
import type { Terminal } from '../terminal/terminal.js';

/** What is not the same behind the bridge, the worst first, and both grades. */
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
      ? `${out.green(`Nothing is lost on the way (${grades}).`)}\n`
      : `${out.red(`${lost} ${lost === 1 ? 'difference' : 'differences'} (${grades}).`)}\n`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** Long lists part at their ends as often as at their beginnings. */
const MAX_LINES = 6;

/** Differences that the bridge has to answer for. */
export function countLost({ differences }: ThroughReport): number {
  return differences.filter(({ kind }) => kind !== 'better').length;
}
