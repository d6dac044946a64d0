import { type Command, Option } from 'commander';
import { collect, toInput, toVariable } from '../common-options.js';
import { addServerFlags } from '../server-flags.js';
import { env } from './option-values.js';

/** The server, or the servers, and how to talk to them. */
export function addWhat(command: Command): void {
  command
    .optionsGroup('What to serve:')
    .addOption(
      env(
        '-c, --config <file>',
        'the servers of this file (mcpServers); repeatable, later files win',
        'CONFIG',
        collect,
      ),
    )
    .option(
      '--import <host>',
      'the servers that a host has configured: cursor, vscode, claude-desktop …; repeatable',
      collect,
    )
    .option(
      '--named-server <name=command>',
      'one of many servers, its command in one word; repeatable, and goes with --config',
      collect,
    )
    .option(
      '--input <id=value>',
      'a value that a file leaves to its editor to ask for (input:id); repeatable. On a terminal the rest is asked for',
      toInput,
    )
    .option('--no-watch', 'do not read the files again when they change')
    .option('--separator <text>', 'between server and tool in the list of all (default: __)')
    .addOption(env('-u, --upstream <address>', 'the server, where it runs already', 'UPSTREAM'))
    .option('--name <name>', 'what the server is called: /mcp/NAME, logs and status');
  addServerFlags(command, 'serve');
  command
    .option('--cwd <folder>', 'the folder that the command runs in')
    .option(
      '--env <name=value>',
      'a variable for the command; --env NAME passes on your own; repeatable',
      toVariable,
    )
    .option('-H, --header <header>', 'a header for every request to an upstream URL; repeatable', collect)
    .option('--header-file <file>', 'the same from a file, Name: value, one a line; repeatable', collect)
    .addOption(
      new Option('--transport <strategy>', 'how to talk to an upstream URL (default: http-first)').choices([
        ...['http-first', 'http-only', 'sse-only'],
      ]),
    );
}
