import { VERSION } from '@isthmus/sdk/internal/version.js';
import { Command, CommanderError } from 'commander';
import { EXIT } from './cli-error.js';
import type { CommandLine } from './compat/flags.js';
import { withNewSpellings } from './compat/old-spellings.js';
import { isAddress, missingDashes, splitAtDashes } from './target.js';

/** Parses a command line and runs its command. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  const name = argv[2] ?? '';
  const program = new Command('isthmus')
    .description(
      'Any MCP client with any MCP server, in either era of the protocol: legacy (up to 2025-11-25) or modern (2026-07-28).',
    )
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'show the help of a command')
    .usage('COMMAND [options]')
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .showHelpAfterError('(isthmus --help explains the commands)')
    .commandsGroup('Help:')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', HELP)
    // `serve` needs the arguments of a command that lacks its `--` in the order in which they were typed.
    .enablePositionalOptions(name === 'serve')
    .exitOverride();
  writeErrorsAsOurs(program);
  try {
    const line = await translate(name, argv.slice(3));
    for (const command of await findCommands(argv[2], line)) {
      for (const each of [command, ...command.commands]) writeErrorsAsOurs(each);
      // `serve` finds the end of its own options.
      program.addCommand(name === 'serve' ? command.passThroughOptions() : command);
    }
    // `help nope` is answered as `nope` is: with the names that exist.
    const isHelpForNone = name === 'help' && argv[3] !== undefined && !COMMANDS.has(argv[3]);
    await program.parseAsync([...argv.slice(0, isHelpForNone ? 2 : 3), ...line.args]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has already printed the help, the version or the error.
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const hint = hintFor(error.code, name, argv.slice(3));
    if (hint !== undefined) process.stderr.write(`hint: ${hint}\n`);
  }
}

/** Commander begins an error with `error:`. All other errors of the command line begin with our name. */
function writeErrorsAsOurs(command: Command): void {
  command.configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'isthmus: ')) });
}

function hintFor(code: string, name: string, words: readonly string[]): string | undefined {
  if (code === 'commander.missingArgument' && ON_SERVER.has(name))
    return `isthmus status shows the names of the servers: isthmus ${name} NAME`;
  if (code !== 'commander.unknownOption') return undefined;
  if (name.startsWith('-')) return 'A command comes first, and its options follow: isthmus serve --port 9000';
  if (name === 'inspect' && words.some((word) => word === '--cli' || word === '--method'))
    return 'inspect opens a page. In a terminal, use isthmus list, call, read and prompt';
  // The option may belong to a command that lacks its `--`: `list npx -y server`.
  const dashes = missingDashesIn(name, words);
  if (dashes !== undefined || !TAKES_ARGUMENTS.has(name)) return dashes;
  return 'Arguments of the tool or prompt have no dashes: key=value';
}

const ON_SERVER: ReadonlySet<string> = new Set(['restart', 'stop', 'start']);
const TAKES_ARGUMENTS: ReadonlySet<string> = new Set(['call', 'prompt']);

function missingDashesIn(name: string, words: readonly string[]): string | undefined {
  const isCommand = TAKES_COMMAND.has(name) && !words.includes('--') && !isAddress(words[0] ?? '');
  return isCommand && !words[0]?.startsWith('-') ? missingDashes(name, words) : undefined;
}

/** The arguments with options of other programs translated to ours. Those after `--` are left alone. */
async function translate(name: string, typed: readonly string[]): Promise<CommandLine> {
  if (!TAKES_COMMAND.has(name)) return { args: typed, afterDashes: undefined };
  const { head, behind: afterDashes } = splitAtDashes(typed);
  const args = withNewSpellings(name, head, (text) => process.stderr.write(`isthmus: note: ${text}\n`));
  const line = { args, afterDashes };
  if (args.length === 0) return line;
  const [command] = await findCommands(name, line);
  const { toOurOptions } = await import('./compat/to-our-options.js');
  return command ? toOurOptions(name, command, line) : line;
}

/** Commands that take the command line of a program after `--`. */
const TAKES_COMMAND: ReadonlySet<string> = new Set([
  'inspect',
  'replay',
  'probe',
  'list',
  'call',
  'read',
  'prompt',
  'complete',
  'task',
  'listen',
  'install',
  'bench',
  'check',
  'check-client',
  'serve',
  'attach',
]);

type Loader = (line: CommandLine) => Promise<Command>;

/** In the order of `isthmus --help`, by group. A command that runs loads only its own modules. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, Loader>>>> = {
  'Serve:': {
    serve: async ({ afterDashes, args }) =>
      (await import('./commands/serve.js')).serveCommand(afterDashes, args),
    attach: async ({ afterDashes }) => (await import('./commands/attach.js')).attachCommand(afterDashes),
    install: async ({ afterDashes }) => (await import('./commands/install.js')).installCommand(afterDashes),
    demo: async () => (await import('./commands/demo.js')).demoCommand(),
  },
  'Log in:': {
    login: async () => (await import('./login/login-command.js')).loginCommand(),
    logout: async () => (await import('./login/login-command.js')).logoutCommand(),
  },
  'Operate:': {
    status: async () => (await import('./commands/gateway/status.js')).statusCommand(),
    logs: async () => (await import('./commands/gateway/logs.js')).logsCommand(),
    console: async () => (await import('./commands/gateway/console.js')).consoleCommand(),
    doctor: async () => (await import('./commands/gateway/doctor.js')).doctorCommand(),
    restart: async () => (await import('./commands/gateway/actions.js')).restartCommand(),
    stop: async () => (await import('./commands/gateway/actions.js')).stopCommand(),
    start: async () => (await import('./commands/gateway/actions.js')).startCommand(),
    reload: async () => (await import('./commands/gateway/actions.js')).reloadCommand(),
    daemon: async () => (await import('./commands/daemon.js')).daemonCommand(),
    config: async () => (await import('./commands/config.js')).configCommand(),
  },
  'Explore:': {
    inspect: async ({ afterDashes }) => (await import('./commands/inspect.js')).inspectCommand(afterDashes),
    probe: async ({ afterDashes }) => (await import('./commands/probe.js')).probeCommand(afterDashes),
    list: async ({ afterDashes }) => (await import('./commands/list.js')).listCommand(afterDashes),
    call: async ({ afterDashes }) => (await import('./commands/call.js')).callCommand(afterDashes),
    read: async ({ afterDashes }) => (await import('./commands/explore/read.js')).readCommand(afterDashes),
    prompt: async ({ afterDashes }) =>
      (await import('./commands/explore/prompt.js')).promptCommand(afterDashes),
    complete: async ({ afterDashes }) =>
      (await import('./commands/explore/complete.js')).completeCommand(afterDashes),
    task: async ({ afterDashes }) => (await import('./commands/explore/task.js')).taskCommand(afterDashes),
    listen: async ({ afterDashes }) =>
      (await import('./commands/explore/listen.js')).listenCommand(afterDashes),
  },
  'Test:': {
    check: async ({ afterDashes }) => (await import('./commands/check.js')).checkCommand(afterDashes),
    'check-client': async ({ afterDashes }) =>
      (await import('./commands/check-client.js')).checkClientCommand(afterDashes),
    replay: async ({ afterDashes }) =>
      (await import('./commands/explore/replay.js')).replayCommand(afterDashes),
    bench: async ({ afterDashes }) => (await import('./commands/bench.js')).benchCommand(afterDashes),
  },
  'Help:': {
    docs: async () => (await import('./commands/docs.js')).docsCommand(),
    completion: async (line) =>
      (await import('./commands/completion.js')).completionCommand(() => findCommands(undefined, line)),
  },
};

const COMMANDS: ReadonlyMap<string, Loader> = new Map(
  Object.entries(GROUPS).flatMap(([group, loaders]) =>
    Object.entries(loaders).map(([name, load]): [string, Loader] => [
      name,
      async (line) => (await load(line)).helpGroup(group),
    ]),
  ),
);

/** The command of that name, or all commands where there is none. */
async function findCommands(name: string | undefined, line: CommandLine): Promise<Command[]> {
  const one = name === undefined ? undefined : COMMANDS.get(name);
  if (one) return [await one(line)];
  return Promise.all([...COMMANDS.values()].map((load) => load(line)));
}

const HELP = `
Examples:
  isthmus serve -- npx -y @modelcontextprotocol/server-everything   # a stdio server, over HTTP
  isthmus list https://example.com/mcp                              # the tools of a server
  isthmus check -- node my-server.js                                # is it correct?

isthmus COMMAND --help explains a command, its options and its exit codes.`;
