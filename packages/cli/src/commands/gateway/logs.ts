import type { LogLine } from '@isthmus/gateway/internal/control/index.js';
import { type Command, InvalidArgumentError } from 'commander';
import { EXIT } from '../../cli-error.js';
import {
  type ControlContext,
  type ControlOptions,
  controlCommand,
  serverOf,
  withGateway,
} from '../../control/control-command.js';
import { processTerminal, type Terminal } from '../../terminal/terminal.js';
import { oneLine, printable } from '../../terminal/text.js';

interface LogsCommandOptions extends ControlOptions {
  readonly follow?: boolean;
  readonly lines: number;
}

export function logsCommand(): Command {
  return controlCommand('logs', {
    description: 'Show stderr, logs and events of the servers of the running gateway.',
    help: HELP,
  })
    .argument('[name]', 'a server of the gateway; without it, all of them')
    .option('-f, --follow', 'keep printing new lines, until Ctrl-C')
    .option('-n, --lines <count>', 'number of past lines', toCount, 100)
    .option('--all', 'of a cluster: of all its processes')
    .option('--json', 'one JSON object per line')
    .action(async (name: string | undefined, options: LogsCommandOptions) => {
      process.exitCode = await runLogs(name, options, { terminal: processTerminal() });
    });
}

export function runLogs(
  name: string | undefined,
  options: LogsCommandOptions,
  context: ControlContext & { readonly signal?: AbortSignal },
): Promise<number> {
  const { terminal, signal = new AbortController().signal } = context;
  const { lines, follow = false, json, all } = options;
  return withGateway({ ...options, server: name }, context, async (client) => {
    if (name !== undefined) serverOf(await client.status(), name);
    for await (const line of client.logs(name, { lines, follow, all }, signal)) {
      const text = json ? `${JSON.stringify(line)}\n` : renderLogLine(line, terminal, name === undefined);
      if (!terminal.stdout.write(text)) await drained(terminal.stdout);
    }
    if (follow && !signal.aborted) terminal.stderr.write('isthmus: the gateway has exited\n');
    return EXIT.ok;
  });
}

/** Time, server when several are shown, and text. On a terminal without the day. */
function renderLogLine(
  line: LogLine,
  { readsOutput, out }: Pick<Terminal, 'readsOutput' | 'out'>,
  showServer: boolean,
): string {
  const { server, at, source, level, missed, replica } = line;
  const time = new Date(at).toISOString();
  const when = out.dim(readsOutput ? time.slice(11, 23) : time);
  const where = replica === undefined ? '' : ` ${out.dim(oneLine(replica))}`;
  const who = showServer ? `${where} ${out.cyan(oneLine(server))}` : where;
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

/** While the output does not take more, no more lines are read from the gateway. */
function drained(stdout: Terminal['stdout']): Promise<void> {
  return new Promise((resolve) => {
    stdout.once('drain', resolve).once('close', resolve);
  });
}

function toCount(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('It must be a number of lines, 0 or more.');
  return Number(text);
}

const HELP = `
Lines that begin with -- are events of the gateway. It keeps the last thousand lines of each server. With --all each line
has the name of its process; -f follows the processes that are there when it begins.

Examples:
  isthmus logs weather
  isthmus logs -f                                  # all servers, continuously
  isthmus logs weather --all                       # of all processes of a cluster
  isthmus logs weather -n 1000 --json | jq -r 'select(.source == "stderr") | .text'

Exit codes:
  0  success
  2  no such server, or several gateways are running: choose one with --socket or --pid
  3  no gateway is running
  4  the gateway did not answer, went away, or speaks another version`;
