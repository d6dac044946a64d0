import type { Oddity } from '../../probe/oddities.js';
import { table } from '../../terminal/table.js';
import type { Terminal } from '../../terminal/terminal.js';
import { oneLine } from '../../terminal/text.js';

/** The findings about one server. */
export interface Diagnosis {
  readonly name: string;
  /** The place of its definition, or the gateway that runs it. */
  readonly where: string;
  /**
   * - `well`: it answers, or it is asleep and no problem was found.
   * - `ill`: it cannot be used; `problems` has the reasons.
   * - `off`: disabled, and not examined.
   */
  readonly health: 'well' | 'ill' | 'off';
  /**
   * - `asked the gateway`: a gateway runs it, and no second copy was started.
   * - `tried`: it was started, or connected to, for the examination.
   * - `not started`: a problem was found without starting it.
   */
  readonly how: 'asked the gateway' | 'tried' | 'not started';
  readonly era?: string;
  /** How the era is known. */
  readonly because?: string;
  readonly evidence?: readonly string[];
  /** The name and version that it reports. */
  readonly server?: string;
  /** What it offers, for example `3 tools, 1 prompt`. */
  readonly offers?: string;
  /** The addresses of its user interfaces (MCP Apps). */
  readonly views?: readonly string[];
  readonly problems: readonly Problem[];
  /** Warnings: the server can be used all the same. */
  readonly odd: readonly Oddity[];
  /** Its last lines of stderr, when they may help. */
  readonly stderr: readonly string[];
}

/** One problem, and how to fix it. */
export interface Problem {
  readonly code: ProblemCode;
  readonly message: string;
  readonly advice: string;
}

export type ProblemCode =
  /** The file contains an invalid setting. */
  | 'configuration'
  /** A variable that the file, or the server, needs has no value. */
  | 'variable-missing'
  | 'folder-missing'
  | 'command-not-found'
  | 'not-executable'
  /** A module or a package that the program needs is not installed. */
  | 'module-missing'
  | 'port-in-use'
  | 'permission'
  /** It ends before it answers. */
  | 'exits'
  /** It runs and does not answer. */
  | 'silent'
  /** It does not speak the era that the file requires. */
  | 'no-common-era'
  | 'unreachable'
  | 'unauthorized'
  /** It wants a login of the user, and there is none that it accepts. */
  | 'needs-login'
  /** The URL is not that of an MCP server. */
  | 'wrong-url'
  | 'http-status'
  /** It answers, but fails to list what it declares. */
  | 'list-fails'
  | 'other';

/** One server: its health, its problems and how to fix them, its era. */
export function renderDiagnosis(
  diagnosis: Diagnosis,
  { width, out }: Pick<Terminal, 'width' | 'out'>,
): string {
  const { name, where, health, how, era, because, evidence = [], server, offers, problems, odd } = diagnosis;
  const paint = { well: out.green, ill: out.red, off: out.dim }[health];
  const rows: (readonly [string, string])[] = [
    ...problems.flatMap(({ message, advice }): (readonly [string, string])[] => [
      ['problem', message],
      ...(advice === '' ? [] : [['fix', advice] as const]),
    ]),
    ...row('era', era && `${era}${because === undefined ? '' : `: ${because}`}`),
    ...(evidence.length > 1 ? evidence.map((step, at) => ['', `${at + 1}. ${step}`] as const) : []),
    ...row('server', server),
    ...row('capabilities', offers),
    ...odd.map(({ message }) => ['warning', message] as const),
  ];
  const lines = table(
    rows.map(([label, text]) => [label, oneLine(text)]),
    {
      width,
      indent: '  ',
      maxLines: 6,
      paint(text, column) {
        if (column > 0) return text;
        return text === 'problem' ? out.red(text) : text === 'fix' ? out.bold(text) : out.dim(text);
      },
    },
  );
  const tail = diagnosis.stderr.map((line) => `  | ${line}\n`).join('');
  const head = `${out.bold(oneLine(name))} ${paint(HEALTH[health])} ${out.dim(`(${oneLine(where)}${HOW[how]})`)}`;
  return `${head}\n${lines}${tail === '' ? '' : `  its stderr:\n${tail}`}`;
}

/** A summary of all servers in one line. */
export function summarize(diagnoses: readonly Diagnosis[]): string {
  const ill = diagnoses.filter(({ health }) => health === 'ill');
  const well = diagnoses.filter(({ health }) => health === 'well').length;
  const off = diagnoses.length - well - ill.length;
  const rest = off > 0 ? `, ${off} disabled` : '';
  if (diagnoses.length === 0) return 'There are no servers to examine.';
  if (ill.length === 0) return `${well === 1 ? 'The server is' : `All ${well} servers are`} ok${rest}.`;
  return `${ill.length} of ${diagnoses.length} unusable: ${ill.map(({ name }) => oneLine(name)).join(', ')}${rest}.`;
}

const HEALTH = { well: 'is ok', ill: 'is unusable', off: 'is disabled' } as const;
const HOW = {
  'asked the gateway': '',
  tried: '',
  'not started': '; it was not started',
} as const;

function row(label: string, text: string | undefined): (readonly [string, string])[] {
  return text === undefined || text === '' ? [] : [[label, text]];
}
