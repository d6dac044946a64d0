import { readFile } from 'node:fs/promises';
import { knownFiles } from '@isthmus/sdk/internal/config/index.js';
import { Command } from 'commander';
import { EXIT } from '../cli-error.js';
import { collect, toInput } from '../common-options.js';
import { checkServers } from '../config/check-servers.js';
import { hostName, importServers, writeDocument } from '../config/import-servers.js';
import { listFiles, renderCheck, renderFiles, renderImport } from '../config/render.js';
import { processTerminal, writeJson } from '../terminal/terminal.js';

/** The schema file of this package. */
const SCHEMA = new URL('../../config.schema.json', import.meta.url);

export function configCommand(): Command {
  return new Command('config')
    .description('Check configuration files, and import the servers of other applications.')
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
    .description('List the servers of configuration files, and the problems that they have on this machine.')
    .argument(
      '[file...]',
      'later files replace the servers of earlier ones (default: the files of known applications)',
    )
    .option('--input <id=value>', 'a value that an editor would ask for (input:id); repeatable', toInput)
    .option('--json', 'print the findings as JSON, for programs')
    .action(async (files: string[], options: { input?: Record<string, string>; json?: boolean }) => {
      const terminal = processTerminal();
      const read = { ...(options.input && { inputs: options.input }) };
      const report =
        files.length > 0
          ? await checkServers(files, read)
          : await checkServers(await existingFiles(), { ...read, skipMissing: true });
      if (options.json) writeJson(terminal, report);
      else terminal.stdout.write(renderCheck(report, terminal.out));
      process.exitCode = report.ok ? EXIT.ok : EXIT.usage;
    });
}

async function existingFiles(): Promise<string[]> {
  return (await listFiles()).filter(({ there }) => there).map(({ path }) => path);
}

function importCommand(): Command {
  return subcommand('import', IMPORT_HELP)
    .description('Collect the servers of other applications in one file; their own files are not changed.')
    .option('--from <host...>', `only from these applications: ${hostNames().join(', ')}`, collect)
    .option('-o, --output <file>', 'write a new file, readable only by you, instead of printing it')
    .option('-f, --force', 'replace the output file if it exists')
    .option('--json', 'print {"document":…,"imported":[…],…} as JSON, for programs')
    .action(async (options: { from?: string[]; output?: string; force?: boolean; json?: boolean }) => {
      const terminal = processTerminal();
      const report = await importServers(options.from ?? []);
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
    .description(
      'Show the configuration files of known applications on this machine, and how many servers they have.',
    )
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
    .option('--path', 'print the address of the schema, for the "$schema" of a file')
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
  isthmus config check .mcp.json                  # its servers, and their problems
  isthmus config import --output isthmus.json     # one file from all your applications
  isthmus config list                             # the files of known applications
  isthmus config schema --path                    # for "$schema": completion in an editor`;

const CHECK_HELP = `
For each server: its kind, where it is defined, variables that are not set, programs that are not in the PATH,
invalid values, and how to fix them. No server is started. Values are never shown.

Examples:
  isthmus config check .mcp.json
  isthmus config check isthmus.json more.json     # as serve --config isthmus.json --config more.json
  isthmus config check                            # the files of all known applications
  isthmus config check .vscode/mcp.json --input token=x --json | jq '.servers[] | select(.state == "broken")'

Exit codes:
  0  no problems, or only warnings
  2  a server or a file has an error`;

const IMPORT_HELP = `
References such as \${TOKEN} stay as they are: the values are not copied. A server whose name is already in use by a
different server becomes NAME-APPLICATION. Servers of files of this folder keep it as their cwd.

Examples:
  isthmus config import                           # prints the file on stdout, and a summary on stderr
  isthmus config import --from cursor claude-code --output isthmus.json
  isthmus config import -o isthmus.json && isthmus serve --config isthmus.json

Exit codes:
  0  success
  2  unknown application, or the output file exists or cannot be written`;
