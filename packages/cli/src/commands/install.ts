import { resolve } from 'node:path';
import { knownFiles, readServers, type ServerEntry } from '@isthmus/sdk/internal/config/index.js';
import { Command } from 'commander';
import { suggest } from '../arguments/suggest.js';
import { checkUrl, configFiles } from '../attach/find-server.js';
import { EXIT, usageError } from '../cli-error.js';
import { collect, toVariable } from '../common-options.js';
import { applyChange, planChange, renderChange } from '../hosts/change-file.js';
import { type HostCommand, hostFile } from '../hosts/host-files.js';
import { askYesNo, createPrompter } from '../terminal/ask-form.js';
import { processTerminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

interface InstallOptions {
  readonly in?: string;
  readonly project?: boolean;
  readonly config?: readonly string[];
  readonly url?: string;
  readonly header?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly direct?: boolean;
  readonly print?: boolean;
  readonly yes?: boolean;
}

export function installCommand(afterDashes: readonly string[] | undefined): Command {
  return new Command('install')
    .description('Add a server to the configuration of a host: shows the change, asks, keeps a copy.')
    .usage(
      [
        'NAME --in HOST [options] -- COMMAND ARGS…',
        'isthmus install NAME --in HOST [options] --url URL',
        'isthmus install NAME --in HOST [options]        (a configured server)',
      ].join('\n       '),
    )
    .argument('[args...]')
    .configureHelp({ visibleArguments: () => [] })
    .option('--in <host>', 'claude-desktop, claude-code, cursor, vscode, windsurf, zed, gemini, cline …')
    .option('--project', 'the file of the project in this folder, instead of the file of the user')
    .option('-c, --config <file>', 'the file that has NAME; repeatable, later files win', collect)
    .option('-u, --url <url>', 'a remote server')
    .option(
      '-H, --header <header>',
      'a header for every request to the URL; may name variables; repeatable',
      collect,
    )
    .option(
      '--env <name=value>',
      'a variable for the command; --env NAME copies your own; repeatable',
      toVariable,
    )
    .option('--cwd <folder>', 'the folder that the command runs in (default: this one)')
    .option('--direct', 'write the command itself, without isthmus between the host and the server')
    .option('--print', 'print the entry as JSON, and write nothing')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', HELP)
    .showHelpAfterError('(isthmus install --help explains the options)')
    .exitOverride()
    .action((args: string[], options: InstallOptions) => install(args, afterDashes, options));
}

async function install(
  args: readonly string[],
  afterDashes: readonly string[] | undefined,
  options: InstallOptions,
): Promise<void> {
  const [name, ...more] = args;
  if (name === undefined)
    throw usageError('No name given', 'isthmus install NAME --in HOST -- COMMAND ARGS…');
  if (more.length > 0)
    throw usageError(
      `Unexpected argument "${more[0]}"`,
      'Write a command after --: isthmus install NAME --in HOST -- COMMAND ARGS…',
    );
  const terminal = processTerminal();
  if (options.print) return writeJson(terminal, await commandOf(name, afterDashes, options));
  if (options.in === undefined)
    throw usageError('No host given', 'Write --in claude-desktop, --in cursor, …');
  const host = hostFile(options.in, options.project ? 'project' : 'user');
  const command = await commandOf(name, afterDashes, options);
  if (command.file !== undefined && resolve(command.file) === resolve(host.path))
    throw usageError(`${oneLine(name)} is already in ${host.path}`);
  const change = await planChange(host.path, [...host.table, name], host.entryOf(command));
  if (change.before === change.after) {
    terminal.stderr.write(
      `${host.application} already has ${oneLine(name)} like this; nothing was changed\n`,
    );
    return;
  }
  const what =
    change.before === undefined ? 'a new file' : change.replaces ? 'replaces an entry' : 'adds an entry';
  terminal.stderr.write(`${terminal.err.bold(change.path)} (${host.application}, ${what})\n`);
  terminal.stderr.write(renderChange(change, terminal.err));
  if (!options.yes && !(await isWanted())) {
    terminal.stderr.write('Nothing was changed.\n');
    process.exitCode = EXIT.failed;
    return;
  }
  const backup = await applyChange(change);
  const copy = backup === undefined ? '' : ` The file before is in ${backup}.`;
  terminal.stderr.write(
    `${oneLine(name)} is in ${host.application} now.${copy} Restart ${host.application} to use it.\n`,
  );
}

async function isWanted(): Promise<boolean> {
  const { canAsk, stdin, stderr } = processTerminal();
  if (!canAsk) throw usageError('There is no terminal to ask on', '--yes writes the file without a question');
  const prompter = createPrompter(stdin, stderr, {
    terminal: true,
    onInterrupt: () => process.exit(EXIT.interrupted),
  });
  return (await askYesNo(prompter, 'Write it? [y/N] ', new AbortController().signal, false)) ?? false;
}

/** What the host has to start. `file`: where a configured server was found. */
async function commandOf(
  name: string,
  afterDashes: readonly string[] | undefined,
  options: InstallOptions,
): Promise<HostCommand & { readonly file?: string }> {
  const { url, header = [], env = {}, cwd, direct = false } = options;
  if (afterDashes && url !== undefined) throw usageError('Two servers: --url, and the command after --');
  if (url === undefined && header.length > 0) throw usageError('--header needs --url');
  const variables = Object.keys(env).flatMap((each) => ['--env', each]);
  if (afterDashes) {
    const [command, ...args] = afterDashes;
    if (!command) throw usageError('No command after --', 'isthmus install NAME --in HOST -- node server.js');
    if (direct) return { command, args, env };
    // Hosts start their servers in different folders.
    const folder = resolve(cwd ?? '.');
    return throughIsthmus(['--cwd', folder, ...variables, '--', command, ...args], env);
  }
  if (Object.keys(env).length > 0 || cwd !== undefined)
    throw usageError(`${cwd === undefined ? '--env' : '--cwd'} needs a command after --`);
  if (url !== undefined) {
    if (direct) throw usageError('--direct needs a command', 'Not all hosts take URLs; leave --direct out');
    checkUrl(url);
    return throughIsthmus(['--url', url, ...header.flatMap((each) => ['--header', each])], {});
  }
  const entry = await findEntry(name, options.config);
  const { file } = entry.source;
  if (!direct) return { ...throughIsthmus([name, '--config', file], {}), file };
  if (entry.kind !== 'command') throw usageError('--direct needs a command, and this server is an address');
  return { command: entry.command, args: entry.args, env: entry.env as Record<string, string>, file };
}

/** `npx` finds isthmus on every machine with Node. On Windows it is a script, which only a shell can start. */
function throughIsthmus(args: readonly string[], env: Readonly<Record<string, string>>): HostCommand {
  const line = ['npx', '-y', 'isthmus', 'attach', ...args];
  const [command, ...rest] = process.platform === 'win32' ? ['cmd', '/c', ...line] : line;
  return { command: command!, args: rest, env };
}

async function findEntry(name: string, config: readonly string[] | undefined): Promise<ServerEntry> {
  const files = config ?? [...ownFiles(), ...knownFiles().map(({ path }) => path)];
  const { servers } = await readServers(files, { skipMissing: config === undefined });
  const entry = servers[name];
  if (entry) return entry;
  const meant = suggest(name, Object.keys(servers));
  throw usageError(
    `No configuration file has a server "${oneLine(name)}"`,
    meant === undefined
      ? `Give its command: isthmus install ${oneLine(name)} --in HOST -- COMMAND ARGS…`
      : `Did you mean ${oneLine(meant)}?`,
  );
}

function ownFiles(): readonly string[] {
  try {
    return configFiles(undefined);
  } catch {
    return [];
  }
}

const HELP = `
The host starts "npx -y isthmus attach …", so that it can use servers of either era, and hosts share one process of a
server. --direct writes the command itself instead. A configured server stays in its file: the entry names the file.
Values of --env are written into the file of the host, which only you can read if isthmus makes it.

Examples:
  isthmus install files --in claude-desktop -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  isthmus install docs --in cursor --url https://example.com/mcp --header 'Authorization: Bearer \${TOKEN}'
  isthmus install weather --in vscode --project --config weather.json
  isthmus install files --in claude-code --yes -- mcp-server-files /srv        # for scripts

Exit codes:
  0  the entry was written, or was there already
  1  you did not want it
  2  the command line is invalid, there is no terminal to ask on, or the file cannot be read or written
  130  interrupted by Ctrl-C`;
