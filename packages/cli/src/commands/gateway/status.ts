import type { FoundGateway } from '@isthmus/gateway/internal/control/index.js';
import type { Command } from 'commander';
import { EXIT, usageError } from '../../cli-error.js';
import {
  type ControlContext,
  type ControlOptions,
  controlCommand,
  serverOf,
  withGateway,
} from '../../control/control-command.js';
import { choose, findGateways, isFolder } from '../../control/find-gateway.js';
import { problemsOf, renderCluster } from '../../control/render-cluster.js';
import { isWell, renderServer } from '../../control/render-server.js';
import { renderStatus } from '../../control/render-status.js';
import { processTerminal, type Terminal, writeJson } from '../../terminal/terminal.js';
import { oneLine } from '../../terminal/text.js';

export function statusCommand(): Command {
  return controlCommand('status', {
    description: 'Show the state of the running gateway and its servers; with NAME, details of one server.',
    help: HELP,
  })
    .argument('[name]', 'a server of the gateway')
    .option('--all', 'of a cluster: all its processes')
    .option('--json', 'print the status as JSON')
    .action(async (name: string | undefined, options: ControlOptions) => {
      process.exitCode = await runStatus(name, options, { terminal: processTerminal() });
    });
}

export async function runStatus(
  name: string | undefined,
  options: ControlOptions,
  context: ControlContext,
): Promise<number> {
  const { terminal } = context;
  const { socket, pid, json } = options;
  if (options.all) return showCluster(name, options, context);
  if (name === undefined && !json && (socket === undefined || isFolder(socket))) {
    const running = choose(await findGateways(options, context.address), {
      ...(pid !== undefined && { pid }),
    });
    if (running.length > 1) return showAll(running, terminal);
  }
  return withGateway({ ...options, server: name }, context, async (client) => {
    const status = await client.status();
    const server = name === undefined ? undefined : serverOf(status, name);
    if (options.json) writeJson(terminal, server ?? status);
    else if (server) terminal.stdout.write(renderServer(server, terminal, Date.now()));
    else terminal.stdout.write(renderStatus(status, terminal, Date.now()));
    return (server ? isWell(server) : status.ready) ? EXIT.ok : EXIT.failed;
  });
}

/** All processes of the cluster. One of them is asked, and asks the others. */
function showCluster(
  name: string | undefined,
  options: ControlOptions,
  context: ControlContext,
): Promise<number> {
  const { terminal } = context;
  if (name !== undefined) throw usageError('--all shows all servers', `Leave ${oneLine(name)} out`);
  return withGateway(options, context, async (client) => {
    const answers = await client.members({ action: 'status' });
    if (options.json) writeJson(terminal, answers);
    else terminal.stdout.write(renderCluster(answers, terminal, Date.now()));
    return problemsOf(answers).length === 0 ? EXIT.ok : EXIT.failed;
  });
}

/** Each gateway, and the daemon of `isthmus attach`. */
function showAll(running: readonly FoundGateway[], terminal: Terminal): number {
  const all = running.map(({ status }) => status!);
  terminal.stdout.write(all.map((status) => renderStatus(status, terminal, Date.now())).join('\n'));
  return all.every(({ ready }) => ready) ? EXIT.ok : EXIT.failed;
}

const HELP = `
status also shows the daemon of isthmus attach. calls: running calls, and +waiting calls. gen: the number of the
current process start. restarts: the starts after the first one. The first call starts a server that is asleep.
With --all it shows all processes of a cluster (isthmus docs cluster). handed on: requests that a process has given to
another one. taken over: sessions of processes that have ended.

Examples:
  isthmus status
  isthmus status weather                      # its processes, their health, how the last one ended
  isthmus status --all                        # the processes of a cluster
  isthmus status --json | jq '.servers[] | select(.state == "failed") | .reason'

Exit codes:
  0  ready: every needed server is usable (with NAME: this one is)
  1  not ready; with --all also: a process is missing that was there a minute ago, or the definitions differ
  2  no such server, or several gateways are running: choose one with --socket or --pid
  3  no gateway is running
  4  the gateway did not answer, or speaks another version`;
