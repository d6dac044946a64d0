import type { Command } from 'commander';
import {
  type ControlContext,
  type ControlOptions,
  controlCommand,
  unitOf,
  withGateway,
} from '../control/control-command.js';
import { isWell, renderServer } from '../control/render-server.js';
import { renderStatus } from '../control/render-status.js';
import { EXIT } from '../exit-codes.js';
import { processTerminal, writeJson } from '../terminal/terminal.js';

export function statusCommand(): Command {
  return controlCommand('status', {
    description: 'How the running gateway and its servers are; with NAME, all about one of them.',
    help: HELP,
  })
    .argument('[name]', 'a server of the gateway')
    .option('--json', 'print what the gateway says of itself, as JSON')
    .action(async (name: string | undefined, options: ControlOptions) => {
      process.exitCode = await runStatus(name, options, { terminal: processTerminal() });
    });
}

export function runStatus(
  name: string | undefined,
  options: ControlOptions,
  context: ControlContext,
): Promise<number> {
  const { terminal } = context;
  return withGateway({ ...options, server: name }, context, async (client) => {
    const status = await client.status();
    const unit = name === undefined ? undefined : unitOf(status, name);
    if (options.json) writeJson(terminal, unit ?? status);
    else if (unit) terminal.stdout.write(renderServer(unit, terminal, Date.now()));
    else terminal.stdout.write(renderStatus(status, terminal, Date.now()));
    return (unit ? isWell(unit) : status.ready) ? EXIT.ok : EXIT.failed;
  });
}

const HELP = `
calls: those that are running, and +those that wait. gen: which life of the server this is. A server that is asleep
is started by the first call.

Examples:
  isthmus status
  isthmus status weather                      # its processes, what they proved, how the last one ended
  isthmus status --json | jq '.servers[] | select(.state == "failed") | .reason'

Exit codes:
  0  ready: every server that is needed can be used (with NAME: this one can)
  1  not ready
  2  no such server, or several gateways are running: say which
  3  no gateway is running
  4  the gateway did not answer, or speaks another version`;
