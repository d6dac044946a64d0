import type { ControlClient } from '@isthmus/gateway/internal/control/index.js';
import type { GatewayServerStatus } from '@isthmus/gateway/internal/server-state.js';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { Command } from 'commander';
import { CliError, EXIT } from '../cli-error.js';
import { quote } from '../target.js';
import { processTerminal, type Terminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';
import { actOnAll } from './act-on-all.js';
import {
  type ControlContext,
  type ControlOptions,
  controlCommand,
  serverOf,
  withGateway,
} from './control-command.js';
import { mainProcess, whyOf } from './render-server.js';

export type Action = 'restart' | 'stop' | 'start';

/** A command that restarts, stops or starts one server, and prints its state afterwards. */
export function actionCommand(
  action: Action,
  about: { readonly description: string; readonly help: string },
): Command {
  return controlCommand(action, { ...about, help: `${about.help}${EXITS}` })
    .argument('<name>', 'a server of the gateway')
    .option('--all', 'of a cluster: in all its processes')
    .option('--json', 'print the status of the server afterwards, as JSON')
    .action(async (name: string, options: ControlOptions) => {
      process.exitCode = await runAction(action, name, options, { terminal: processTerminal() });
    });
}

export function runAction(
  action: Action,
  name: string,
  options: ControlOptions,
  context: ControlContext,
): Promise<number> {
  const { terminal } = context;
  return withGateway({ ...options, server: name }, context, async (client) => {
    // Checked here first, for an error that suggests the right name.
    serverOf(await client.status(), name);
    if (options.all) return actOnAll(await client.members({ action, server: name }), options, terminal);
    await client[action](name);
    const after = await settled(client, name);
    if (options.json) writeJson(terminal, after);
    if ((after.state === 'failed' || after.state === 'needs-login') && action !== 'stop')
      throw failed(action, after);
    if (!options.json) terminal.stdout.write(`${describe(action, after, terminal)}\n`);
    return EXIT.ok;
  });
}

/** Waits until the server is no longer starting, but at most 30 s. */
async function settled(client: ControlClient, name: string): Promise<GatewayServerStatus> {
  const end = systemClock.now() + SETTLE_MS;
  while (true) {
    const server = serverOf(await client.status(), name);
    const isMoving = server.state === 'starting' || server.state === 'restarting';
    if (!isMoving || systemClock.now() > end) return server;
    await new Promise<void>((resolve) => void systemClock.after(LOOK_MS, resolve));
  }
}

const SETTLE_MS = 30_000;
const LOOK_MS = 100;

function describe(action: Action, server: GatewayServerStatus, { out }: Terminal): string {
  const name = oneLine(server.name);
  if (action === 'stop')
    return `${name} was stopped; ${out.bold(`isthmus start ${quote(name)}`)} starts it again`;
  const done = action === 'restart' ? 'was restarted' : 'was started';
  const process = mainProcess(server);
  const facts = [
    server.state,
    ...(server.era ? [server.era] : []),
    ...(process?.pid === undefined ? [] : [`pid ${process.pid}, generation ${process.generation}`]),
  ];
  return `${name} ${done}: ${facts.join(', ')}`;
}

function failed(action: Action, server: GatewayServerStatus): CliError {
  const name = oneLine(server.name);
  const what = action === 'restart' ? 'was restarted and failed' : 'was started and failed';
  return new CliError(EXIT.failed, `${name} ${what}: ${whyOf(server, Date.now())}`, {
    hint: `isthmus logs ${quote(name)} shows its output; isthmus doctor ${quote(name)} explains the problem`,
  });
}

const EXITS = `
Exit codes:
  0  done
  1  the server did not start, or the gateway could not do it
  2  no such server, or several gateways are running: choose one with --pid or --socket
  3  no gateway is running
  4  the gateway did not answer, or speaks another version`;
