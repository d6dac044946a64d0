import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { Command, CommanderError } from 'commander';
import { CliError } from './cli-error.js';
import type { CommandLine } from './compat/habit.js';
import { EXIT, EXIT_HELP } from './exit-codes.js';
import { splitAtDashes } from './target.js';
import { processTerminal } from './terminal/terminal.js';

/** The command line. What its exit codes mean is in exit-codes.ts. */
export async function main(argv: readonly string[]): Promise<void> {
  const name = argv[2] ?? '';
  const program = new Command('isthmus')
    .description('Any MCP client with any MCP server, in either era of the protocol.')
    .version(VERSION, '-v, --version', 'print the version')
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
    for (const command of await findCommands(argv[2], { words, behind }, VERSION)) {
      // It sees for itself where its options end.
      program.addCommand(name === 'serve' ? command.passThroughOptions() : command);
    }
    await program.parseAsync([...argv.slice(0, 3), ...words]);
  } catch (error) {
    process.exitCode = report(error, argv[2]);
  }
}

/** What was typed behind the command, in our words; what is behind `--` is nobody else's business. */
async function understand(name: string, typed: readonly string[]): Promise<CommandLine> {
  if (!TALKING.has(name)) return { words: typed, behind: undefined };
  const { head: words, behind } = splitAtDashes(typed);
  const line = { words, behind };
  if (words.length === 0) return line;
  const [command] = await findCommands(name, line, VERSION);
  const { inOurWords } = await import('./compat/habits-of.js');
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

type Loader = (line: CommandLine, version: string) => Promise<Command>;

/** In the order of `isthmus --help`. Each command is loaded by itself, so that one does not wait for the modules of another. */
const COMMANDS: ReadonlyMap<string, Loader> = new Map<string, Loader>([
  ['serve', async ({ behind, words }) => (await import('./commands/serve.js')).serveCommand(behind, words)],
  ['attach', async ({ behind }) => (await import('./commands/attach.js')).attachCommand(behind)],
  ['daemon', async (_, version) => (await import('./commands/daemon.js')).daemonCommand(version)],
  ['status', async () => (await import('./commands/status.js')).statusCommand()],
  ['logs', async () => (await import('./commands/logs.js')).logsCommand()],
  ['restart', async () => (await import('./commands/restart.js')).restartCommand()],
  ['stop', async () => (await import('./commands/stop.js')).stopCommand()],
  ['start', async () => (await import('./commands/start.js')).startCommand()],
  ['reload', async () => (await import('./commands/reload.js')).reloadCommand()],
  ['doctor', async () => (await import('./commands/doctor.js')).doctorCommand()],
  ['probe', async ({ behind }) => (await import('./commands/probe.js')).probeCommand(behind)],
  ['list', async ({ behind }) => (await import('./commands/list.js')).listCommand(behind)],
  ['call', async ({ behind }) => (await import('./commands/call.js')).callCommand(behind)],
  ['read', async ({ behind }) => (await import('./commands/read.js')).readCommand(behind)],
  [
    'check',
    async ({ behind }, version) => (await import('./commands/check.js')).checkCommand(behind, version),
  ],
  [
    'check-client',
    async ({ behind }, version) =>
      (await import('./commands/check-client.js')).checkClientCommand(behind, version),
  ],
  ['bench', async ({ behind }) => (await import('./commands/bench.js')).benchCommand(behind)],
  ['config', async () => (await import('./commands/config.js')).configCommand()],
  ['demo', async () => (await import('./commands/demo.js')).demoCommand()],
  ['completion', async (line, version) => completion(line, version)],
]);

/** The command of that name; all of them where there is none. */
async function findCommands(
  name: string | undefined,
  line: CommandLine,
  version: string,
): Promise<Command[]> {
  const one = name === undefined ? undefined : COMMANDS.get(name);
  if (one) return [await one(line, version)];
  return Promise.all([...COMMANDS.values()].map((load) => load(line, version)));
}

async function completion(line: CommandLine, version: string): Promise<Command> {
  const { completionCommand } = await import('./commands/completion.js');
  return completionCommand(() => findCommands(undefined, line, version));
}
