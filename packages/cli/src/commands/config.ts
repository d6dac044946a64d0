import { readFile } from 'node:fs/promises';
import { knownFiles } from '@isthmus/sdk/internal/config/index.js';
import { Command } from 'commander';
import { collect, toInput } from '../common-options.js';
import { checkServers } from '../config/check-servers.js';
import { hostName, importServers, writeDocument } from '../config/import-servers.js';
import { listFiles, renderCheck, renderFiles, renderImport } from '../config/render.js';
import { EXIT } from '../exit-codes.js';
import { processTerminal, writeJson } from '../terminal/terminal.js';

/** The file for editors, as it is shipped. */
const SCHEMA = new URL('../../config.schema.json', import.meta.url);

export function configCommand(): Command {
  return new Command('config')
    .description('Check configuration files, and gather the servers that other applications have.')
    .addCommand(checkCommand())
    .addCommand(importCommand())
    .addCommand(listCommand())
    .addCommand(schemaCommand())
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .addHelpText('after', HELP)
    .showHelpAfterError('(isthmus config --help explains the commands)')
    .exitOverride();
}

function checkCommand(): Command {
  return subcommand('check', CHECK_HELP)
    .description('Say what the servers of files are, and what is wrong with them on this machine.')
    .argument(
      '[file...]',
      'later files replace the servers of earlier ones (default: those of the known hosts)',
    )
    .option('--input <id=value>', 'a value that an editor would ask for (input:id); repeatable', toInput)
    .option('--json', 'print the findings as JSON, for programs')
    .action(async (files: string[], options: { input?: Record<string, string>; json?: boolean }) => {
      const terminal = processTerminal();
      const read = { ...(options.input && { inputs: options.input }) };
      const report =
        files.length > 0
          ? await checkServers(files, read)
          : await checkServers(await filesThere(), { ...read, skipMissing: true });
      if (options.json) writeJson(terminal, report);
      else terminal.stdout.write(renderCheck(report, terminal.out));
      process.exitCode = report.ok ? EXIT.ok : EXIT.usage;
    });
}

async function filesThere(): Promise<string[]> {
  return (await listFiles()).filter(({ there }) => there).map(({ path }) => path);
}

function importCommand(): Command {
  return subcommand('import', IMPORT_HELP)
    .description('Gather the servers of other applications in one file. Theirs are only read.')
    .option('--from <host...>', `only from these: ${hostNames().join(', ')}`, collect)
    .option('-o, --output <file>', 'write a new file, for your eyes only, instead of printing it')
    .option('-f, --force', 'replace the output file if it is there')
    .option('--json', 'print {"document":…,"imported":[…],…} as JSON, for programs')
    .action(async (options: { from?: string[]; output?: string; force?: boolean; json?: boolean }) => {
      const terminal = processTerminal();
      const report = await importServers(options.from ?? [], SCHEMA.href);
      const text = `${JSON.stringify(report.document, null, 2)}\n`;
      if (options.output !== undefined) await writeDocument(options.output, text, options.force === true);
      if (options.json) writeJson(terminal, report);
      else {
        for (const line of renderImport(report, terminal.err)) terminal.stderr.write(`${line}\n`);
        if (options.output === undefined) terminal.stdout.write(text);
      }
    });
}

function listCommand(): Command {
  return subcommand('list', '')
    .description('Show where the known hosts keep their servers on this machine, and how many there are.')
    .option('--json', 'print the list as JSON, for programs')
    .action(async (options: { json?: boolean }) => {
      const terminal = processTerminal();
      const files = await listFiles();
      if (options.json) writeJson(terminal, files);
      else terminal.stdout.write(renderFiles(files, terminal));
    });
}

function schemaCommand(): Command {
  return subcommand('schema', '')
    .description('Print the JSON Schema of configuration files, for editors.')
    .option('--path', 'print where it is instead, for the "$schema" of a file')
    .action(async (options: { path?: boolean }) => {
      process.stdout.write(options.path ? `${SCHEMA.href}\n` : await readFile(SCHEMA, 'utf8'));
    });
}

function subcommand(name: string, help: string): Command {
  return new Command(name)
    .addHelpText('after', help)
    .showHelpAfterError(`(isthmus config ${name} --help explains the options)`)
    .exitOverride();
}

function hostNames(): string[] {
  return [...new Set(knownFiles().map(({ application }) => hostName(application)))];
}

const HELP = `
Examples:
  isthmus config check .mcp.json                  # what is in it, and what would not work
  isthmus config import --output isthmus.json     # one file from all your hosts
  isthmus config list                             # where the hosts keep theirs
  isthmus config schema --path                    # for "$schema": completion in an editor`;

const CHECK_HELP = `
For each server: what it is, where it is defined, variables that are not set, programs that are not in the path,
values that make no sense, and what to do about it. Nothing is started. Values are never shown.

Examples:
  isthmus config check .mcp.json
  isthmus config check isthmus.json more.json     # as serve --config isthmus.json --config more.json
  isthmus config check                            # the files of all known hosts
  isthmus config check .vscode/mcp.json --input token=x --json | jq '.servers[] | select(.state == "broken")'

Exit codes:
  0  nothing is wrong, or there are only warnings
  2  a server or a file is broken`;

const IMPORT_HELP = `
References such as \${TOKEN} stay as they are, so that what they stand for is not copied. A server whose name is
taken by a different one becomes NAME-HOST. Servers of files that belong to this folder keep it as their cwd.

Examples:
  isthmus config import                           # on stdout; what was found is on stderr
  isthmus config import --from cursor claude-code --output isthmus.json
  isthmus config import -o isthmus.json && isthmus serve --config isthmus.json

Exit codes:
  0  it worked
  2  no such host, or the output is there already or cannot be written`;
