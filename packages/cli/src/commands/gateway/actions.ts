import type { ReloadReport } from '@isthmus/gateway/internal/control/index.js';
import type { Command } from 'commander';
import { CliError, EXIT } from '../../cli-error.js';
import { actionCommand } from '../../control/act.js';
import { actOnAll } from '../../control/act-on-all.js';
import {
  type ControlContext,
  type ControlOptions,
  controlCommand,
  withGateway,
} from '../../control/control-command.js';
import { processTerminal, writeJson } from '../../terminal/terminal.js';
import { oneLine } from '../../terminal/text.js';

export function restartCommand(): Command {
  return actionCommand('restart', {
    description: 'Restart a server of the running gateway; running calls are finished first.',
    help: `
A server that crashed too often is started again at once. Clients stay connected. For a remote server, the gateway
asks again for its era, capabilities and lists.

Example:
  isthmus restart weather
`,
  });
}

export function stopCommand(): Command {
  return actionCommand('stop', {
    description: 'Stop a server of the running gateway; running calls are finished first.',
    help: `
Calls to it are refused until isthmus start. A restarted gateway starts the server again: to keep it off, write
"disabled": true into the configuration file.

Example:
  isthmus stop weather
`,
  });
}

export function startCommand(): Command {
  return actionCommand('start', {
    description: 'Start a server of the running gateway again, after isthmus stop.',
    help: `
It also starts a server that is disabled in the configuration, until the gateway exits.

Example:
  isthmus start weather
`,
  });
}

export function reloadCommand(): Command {
  return controlCommand('reload', {
    description: 'Reload the configuration of the running gateway, and print what has changed.',
    help: `
The gateway also reloads on SIGHUP, and when a file changes, unless it was started with --no-watch. Servers that did
not change keep running; replaced servers finish their running calls. An invalid file changes nothing.

Example:
  isthmus reload
`,
  })
    .option('--all', 'of a cluster: in all its processes')
    .option('--json', 'print what has changed, as JSON')
    .action(async (options: ControlOptions) => {
      process.exitCode = await runReload(options, { terminal: processTerminal() });
    });
}

export function runReload(options: ControlOptions, context: ControlContext): Promise<number> {
  const { terminal } = context;
  return withGateway(options, context, async (client) => {
    if (options.all) return actOnAll(await client.members({ action: 'reload' }), options, terminal);
    const report = await client.reload();
    if (options.json) writeJson(terminal, report);
    if (report.problem !== undefined) {
      throw new CliError(
        EXIT.failed,
        `Configuration rejected, keeping the old one: ${oneLine(report.problem)}`,
        {
          hint: 'isthmus config check FILE shows all problems',
        },
      );
    }
    if (!options.json) terminal.stdout.write(`${describe(report)}\n`);
    return EXIT.ok;
  });
}

function describe(report: ReloadReport): string {
  const lines = (['added', 'changed', 'removed'] as const).flatMap((what) =>
    report[what].length > 0 ? [`${what}: ${report[what].map(oneLine).join(', ')}`] : [],
  );
  const { later = [] } = report;
  if (later.length > 0) lines.push(`when the gateway is started again: ${later.map(oneLine).join(', ')}`);
  return lines.length > 0 ? lines.join('\n') : 'Nothing has changed.';
}
