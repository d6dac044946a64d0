import type { ConsoleAccess } from '@isthmus/gateway/internal/control/index.js';
import { type Command, Option } from 'commander';
import { EXIT } from '../../cli-error.js';
import { type ControlOptions, controlCommand, withGateway } from '../../control/control-command.js';
import { showLink } from '../../inspect/show-link.js';
import { processTerminal } from '../../terminal/terminal.js';

interface ConsoleCommandOptions extends ControlOptions {
  readonly for: ConsoleAccess;
  readonly open: boolean;
}

export function consoleCommand(): Command {
  return controlCommand('console', {
    description: 'Open the console of the running gateway in the browser: servers, calls, logs, sessions.',
    help: `
The gateway makes a link that works once, within 60 seconds. Until somebody asks for it, the gateway has no console and
no port for it. The page is on 127.0.0.1: over SSH, forward its port.

look sees states, calls and logs. act also calls tools, cancels, restarts, stops, starts and reloads. record also sees
and records the messages of clients.

Examples:
  isthmus console
  isthmus console --for look --no-open
`,
  })
    .addOption(
      new Option('--for <level>', 'what the page may do')
        .choices(['look', 'act', 'record'])
        .default('record'),
    )
    .option('--no-open', 'print the link and open no browser')
    .option('--json', 'print {"url":…,"pid":…} on one line')
    .action(async (options: ConsoleCommandOptions) => {
      const terminal = processTerminal();
      const url = await withGateway(
        options,
        { terminal },
        async (client) => (await client.console(options.for)).url,
      );
      await showLink(url, { ...options, what: 'the gateway', isOurs: false }, terminal);
      process.exitCode = EXIT.ok;
    });
}
