import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { IsthmusError } from '../errors.js';
import { CliError } from './cli-error.js';
import { EXIT, EXIT_HELP } from './exit-codes.js';
import { findCommands } from './find-commands.js';
import type { Line } from './habits/habit.js';
import { splitAtDashes } from './target.js';
import { processTerminal } from './terminal/terminal.js';

/** The command line. What its exit codes mean is in exit-codes.ts. */
export async function main(argv: readonly string[]): Promise<void> {
  const name = argv[2] ?? '';
  const program = new Command('isthmus')
    .description('Any MCP client with any MCP server, in either era of the protocol.')
    .version(packageVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'explain a command')
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .showHelpAfterError('(isthmus --help explains the commands)')
    .addHelpText('after', EXIT_HELP)
    // `serve` wants to see a command that lacks its `--` as it was typed.
    .enablePositionalOptions(name === 'serve')
    .exitOverride();
  if (TALKING.has(name) || ASKING.has(name)) tolerateClosedOutput();
  try {
    const { words, behind } = await understand(name, argv.slice(3));
    for (const command of await findCommands(argv[2], { words, behind }, packageVersion())) {
      // It sees for itself where its options end.
      program.addCommand(name === 'serve' ? command.passThroughOptions() : command);
    }
    await program.parseAsync([...argv.slice(0, 3), ...words]);
  } catch (error) {
    process.exitCode = report(error, argv[2]);
  }
}

/** What was typed behind the command, in our words; what is behind `--` is nobody else's business. */
async function understand(name: string, typed: readonly string[]): Promise<Line> {
  if (!TALKING.has(name)) return { words: typed, behind: undefined };
  const { head: words, behind } = splitAtDashes(typed);
  const line = { words, behind };
  if (words.length === 0) return line;
  const [command] = await findCommands(name, line, packageVersion());
  const { inOurWords } = await import('./habits/habits-of.js');
  return command ? inOurWords(name, command, line) : line;
}

/** The commands that talk to a server, which may stand behind `--`. */
const TALKING: ReadonlySet<string> = new Set([
  'probe',
  'list',
  'call',
  'read',
  'bench',
  'check',
  'check-client',
  'serve',
  'attach',
]);

/** The commands that ask a running gateway. */
const ASKING: ReadonlySet<string> = new Set([
  'status',
  'logs',
  'restart',
  'stop',
  'start',
  'reload',
  'doctor',
]);

function report(error: unknown, command: string | undefined): number {
  // Commander has already printed help, the version or what was wrong.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof CliError) return reportFailure(error, command);
  if (error instanceof IsthmusError) {
    process.stderr.write(`isthmus: ${error.message}\n`);
    return error.code === 'INVALID_OPTION' ? EXIT.usage : EXIT.failed;
  }
  process.stderr.write(
    `isthmus: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return EXIT.failed;
}

function reportFailure(error: CliError, command: string | undefined): number {
  const { err } = processTerminal();
  const lines = [`${err.red('isthmus:')} ${error.message}`, ...error.evidence.map((line) => `  ${line}`)];
  if (error.hint !== undefined) lines.push(`${err.dim('hint:')} ${error.hint}`);
  if (error.exitCode === EXIT.usage)
    lines.push(err.dim(`(isthmus ${command ?? ''} --help explains the options)`));
  process.stderr.write(lines.map((line) => `${line}\n`).join(''));
  return error.exitCode;
}

/** Whoever reads our output may have seen enough (`| head`): that is no failure. */
function tolerateClosedOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? EXIT.ok);
    throw error;
  });
}

function packageVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
