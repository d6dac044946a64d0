import { type ControlClient, controlClient } from '@isthmus/gateway/internal/control/index.js';
import { isAbsent } from '@isthmus/gateway/internal/daemon/attach.js';
import { openPaths } from '@isthmus/gateway/internal/daemon/daemon-paths.js';
import { daemonLog } from '@isthmus/gateway/internal/daemon/log-file.js';
import type { GatewayServerStatus, GatewayStatus } from '@isthmus/gateway/internal/server-state.js';
import { nearMiss } from '@isthmus/sdk/internal/near-miss.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { Command, Option } from 'commander';
import { CliError, EXIT } from '../cli-error.js';
import { toMs } from '../common-options.js';
import { processTerminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

export function daemonCommand(): Command {
  const daemon = new Command('daemon')
    .description('Inspect or stop the daemon that runs the servers of isthmus attach.')
    .usage('status [--json] | stop | run')
    .showHelpAfterError('(isthmus daemon --help explains the options)')
    .addHelpText('after', HELP)
    .exitOverride()
    .allowExcessArguments()
    // Without a command it must not start a daemon.
    .action(() => {
      const [unknown] = daemon.args;
      if (unknown === undefined) daemon.help();
      const meant = nearMiss(unknown!, ['status', 'stop', 'run']);
      daemon.error(
        `error: unknown command '${unknown}'${meant === undefined ? '' : `\n(Did you mean ${meant}?)`}`,
      );
    });
  daemon
    .command('status')
    .description('Show its servers, and how many hosts use them.')
    .option('--json', 'print the exact status as JSON, for programs')
    .action(({ json }: { json?: boolean }) => status(json === true));
  daemon.command('stop').description('Stop it. A host that still needs it starts another one.').action(stop);
  daemon
    .command('run')
    .description('Run the daemon in the foreground. Normally the first host starts it.')
    .option('--first <ms>', 'limit for the first host to connect (default: 30000)', toMs)
    .addOption(new Option('--notify <descriptor>').hideHelp().argParser(Number))
    .action((options: { first?: number; notify?: number }) => run(options.first, options.notify));
  return daemon;
}

async function run(firstMs?: number, notify?: number): Promise<void> {
  const places = openPaths();
  const { runDaemon } = await import('@isthmus/gateway/internal/daemon/run-daemon.js');
  const log = daemonLog(2, notify === undefined ? undefined : places.log);
  const news = await runDaemon({ paths: places, log, version: VERSION, notify, firstMs });
  process.exit(news.kind === 'failed' ? EXIT.failed : EXIT.ok);
}

async function status(json: boolean): Promise<void> {
  const found = await ask((client) => client.status());
  const terminal = processTerminal();
  if (json) writeJson(terminal, found);
  else for (const line of describeDaemon(found)) terminal.stdout.write(`${line}\n`);
}

/** One line for the daemon, and one for each server. */
function describeDaemon({ pid, version, startedAt, listening, servers }: GatewayStatus): string[] {
  const all = Object.values(servers);
  const width = Math.max(0, ...all.map(({ name }) => oneLine(name).length));
  return [
    `daemon ${version}, process ${pid}, since ${startedAt}, at ${listening.join(', ')}`,
    ...(all.length === 0 ? ['no servers'] : []),
    ...all.map((server) => `  ${oneLine(server.name).padEnd(width)}  ${describeServer(server)}`),
  ];
}

function describeServer(server: GatewayServerStatus): string {
  const { state, reason, era, processes } = server;
  const hosts = (server as { attached?: number }).attached ?? 0;
  const pids = processes?.processes.flatMap(({ pid }) => pid ?? []) ?? [];
  return [
    state,
    ...(era ? [era] : []),
    `${hosts} ${hosts === 1 ? 'host' : 'hosts'}`,
    ...(pids.length > 0 ? [`process ${pids.join(', ')}`] : []),
    ...(reason === undefined ? [] : [oneLine(reason)]),
  ].join(', ');
}

async function stop(): Promise<void> {
  await ask((client) => client.shutdown());
  process.stderr.write('The daemon is stopping.\n');
}

async function ask<T>(question: (client: ControlClient) => Promise<T>): Promise<T> {
  try {
    return await question(controlClient(openPaths().socket));
  } catch (error) {
    if (!isAbsent(error)) throw error;
    const hint = 'The first host that runs isthmus attach starts it';
    throw new CliError(EXIT.cannotConnect, 'No daemon is running', { hint });
  }
}

const HELP = `
ISTHMUS_RUNTIME_DIR is the folder of its socket and its log. Each folder has its own daemon.
isthmus status, logs, restart, stop, start and doctor find it, too.

Exit codes:
  0  success
  1  it cannot be started
  2  the command line is invalid
  3  no daemon is running`;
