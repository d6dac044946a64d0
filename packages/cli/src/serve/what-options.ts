import { type Command, Option } from 'commander';
import { collect, toInput, toMs, toVariable } from '../common-options.js';
import { env, toEra } from './option-values.js';

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
    .option(
      '--upstream-protocol <era>',
      'find out the era of the server (auto), or insist on modern, legacy or a revision',
      toEra,
      'auto',
    )
    .option('--name <name>', 'what the server is called: /mcp/NAME, logs and status')
    .addOption(
      new Option(
        '--processes <model>',
        'one process for all clients, or one for each legacy client (default: shared; with nothing but stdio to listen on, per-client)',
      ).choices(['shared', 'per-client']),
    )
    .option(
      '--stateless-server',
      'the server keeps nothing for its clients: different principals may share it',
    )
    .option('--ignore-tool <pattern>', 'leave out a tool of the server; * is any text; repeatable', collect)
    .option('-t, --timeout <ms>', 'how long the server may take over one call (default: 600000)', toMs)
    .option('--connect-timeout <ms>', 'how long it may take to connect to the server (default: 30000)', toMs)
    .option('--cwd <folder>', 'the folder that the command runs in')
    .option(
      '--env <name=value>',
      'a variable for the command; --env NAME passes on your own; repeatable',
      toVariable,
    )
    .option('--pass-environment', 'the command gets your whole environment')
    .option('-H, --header <header>', 'a header for every request to an upstream URL; repeatable', collect)
    .option('--header-file <file>', 'the same from a file, Name: value, one a line; repeatable', collect)
    .addOption(
      new Option('--transport <strategy>', 'how to talk to an upstream URL (default: http-first)').choices([
        ...['http-first', 'http-only', 'sse-only'],
      ]),
    );
}
