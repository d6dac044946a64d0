import type { LogLine } from '@isthmus/gateway/internal/control/index.js';
import type { Terminal } from '../terminal/terminal.js';
import { oneLine, printable } from '../terminal/text.js';

/** A line of a log: when, who where several are shown, and what. On a terminal the day is left out. */
export function renderLogLine(
  line: LogLine,
  { readsOutput, out }: Pick<Terminal, 'readsOutput' | 'out'>,
  showServer: boolean,
): string {
  const { server, at, source, level, missed } = line;
  const time = new Date(at).toISOString();
  const when = out.dim(readsOutput ? time.slice(11, 23) : time);
  const who = showServer ? ` ${out.cyan(oneLine(server))}` : '';
  const text = printable(line.text).replaceAll('\n', ' ').trimEnd();
  const said = source === 'stderr' ? text : source === 'log' ? `[${level ?? 'info'}] ${text}` : `-- ${text}`;
  const gap = missed === undefined ? '' : `${when}${who} ${out.yellow(`-- ${missed} lines were left out`)}\n`;
  return `${gap}${when}${who} ${paint(said, line, out)}\n`;
}

function paint(text: string, { source, level = '' }: LogLine, out: Terminal['out']): string {
  if (SERIOUS.has(level)) return out.red(text);
  if (level === 'warning') return out.yellow(text);
  return source === 'gateway' ? out.dim(text) : text;
}

const SERIOUS: ReadonlySet<string> = new Set(['error', 'critical', 'alert', 'emergency']);
