import type { ReloadReport } from '@isthmus/gateway/internal/control/index.js';
import type { Command } from 'commander';
import { CliError } from '../cli-error.js';
import {
  type ControlContext,
  type ControlOptions,
  controlCommand,
  withGateway,
} from '../control/control-command.js';
import { EXIT } from '../exit-codes.js';
import { processTerminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

export function reloadCommand(): Command {
  return controlCommand('reload', {
    description: 'Let the running gateway read its configuration again, and say what has changed.',
    help: `
It does so by itself when a file changes, unless it was started with --no-watch, and on SIGHUP. Servers that did not
change are not touched; those that are replaced finish what they are doing. A file that cannot be read changes nothing.

Example:
  isthmus reload
`,
  })
    .option('--json', 'print what has changed, as JSON')
    .action(async (options: ControlOptions) => {
      process.exitCode = await runReload(options, { terminal: processTerminal() });
    });
}

export function runReload(options: ControlOptions, context: ControlContext): Promise<number> {
  const { terminal } = context;
  return withGateway(options, context, async (client) => {
    const report = await client.reload();
    if (options.json) writeJson(terminal, report);
    if (report.problem !== undefined) {
      throw new CliError(EXIT.failed, `Nothing was changed: ${oneLine(report.problem)}`, {
        hint: 'isthmus config check FILE says more',
      });
    }
    if (!options.json) terminal.stdout.write(`${describe(report)}\n`);
    return EXIT.ok;
  });
}

function describe(report: ReloadReport): string {
  const lines = (['added', 'changed', 'removed'] as const).flatMap((what) =>
    report[what].length > 0 ? [`${what}: ${report[what].map(oneLine).join(', ')}`] : [],
  );
  return lines.length > 0 ? lines.join('\n') : 'Nothing has changed.';
}
