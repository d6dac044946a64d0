import { table } from '../../terminal/table.js';
import type { Terminal } from '../../terminal/terminal.js';
import { oneLine } from '../../terminal/text.js';
import type { Diagnosis } from './diagnosis.js';

/** One server: how it is, which era and why, what is wrong and what to do. */
export function renderDiagnosis(
  diagnosis: Diagnosis,
  { width, out }: Pick<Terminal, 'width' | 'out'>,
): string {
  const { name, where, health, how, era, because, evidence = [], server, offers, problems, odd } = diagnosis;
  const paint = { well: out.green, ill: out.red, off: out.dim }[health];
  const rows: (readonly [string, string])[] = [
    ...problems.flatMap(({ message, advice }): (readonly [string, string])[] => [
      ['wrong', message],
      ...(advice === '' ? [] : [['do', advice] as const]),
    ]),
    ...row('era', era && `${era}${because === undefined ? '' : `: ${because}`}`),
    ...(evidence.length > 1 ? evidence.map((step, at) => ['', `${at + 1}. ${step}`] as const) : []),
    ...row('server', server),
    ...row('offers', offers),
    ...odd.map(({ message }) => ['odd', message] as const),
  ];
  const lines = table(
    rows.map(([label, text]) => [label, oneLine(text)]),
    {
      width,
      indent: '  ',
      maxLines: 6,
      paint(text, column) {
        if (column > 0) return text;
        return text === 'wrong' ? out.red(text) : text === 'do' ? out.bold(text) : out.dim(text);
      },
    },
  );
  const tail = diagnosis.stderr.map((line) => `  | ${line}\n`).join('');
  const head = `${out.bold(oneLine(name))} ${paint(HEALTH[health])} ${out.dim(`(${oneLine(where)}${HOW[how]})`)}`;
  return `${head}\n${lines}${tail === '' ? '' : `  its stderr:\n${tail}`}`;
}

/** How all of them are, in one line. */
export function summarize(diagnoses: readonly Diagnosis[]): string {
  const ill = diagnoses.filter(({ health }) => health === 'ill');
  const well = diagnoses.filter(({ health }) => health === 'well').length;
  const off = diagnoses.length - well - ill.length;
  const rest = off > 0 ? `, ${off} switched off` : '';
  if (diagnoses.length === 0) return 'There are no servers to look at.';
  if (ill.length === 0) return `${well === 1 ? 'The server is' : `All ${well} servers are`} well${rest}.`;
  return `${ill.length} of ${diagnoses.length} cannot be used: ${ill.map(({ name }) => oneLine(name)).join(', ')}${rest}.`;
}

const HEALTH = { well: 'is well', ill: 'cannot be used', off: 'is switched off' } as const;
const HOW = {
  'asked the gateway': '',
  tried: '',
  'not started': '; it was not started',
} as const;

function row(label: string, text: string | undefined): (readonly [string, string])[] {
  return text === undefined || text === '' ? [] : [[label, text]];
}
