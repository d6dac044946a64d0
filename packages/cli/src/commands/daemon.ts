import { type ControlClient, controlClient } from '@isthmus/gateway/internal/control/index.js';
import { isAbsent } from '@isthmus/gateway/internal/daemon/attach.js';
import { openPaths } from '@isthmus/gateway/internal/daemon/daemon-paths.js';
import { daemonLog } from '@isthmus/gateway/internal/daemon/log-file.js';
import type { GatewayServerStatus, GatewayStatus } from '@isthmus/gateway/internal/server-state.js';
import { Command, Option } from 'commander';
import { CliError } from '../cli-error.js';
import { toMs } from '../common-options.js';
import { EXIT } from '../exit-codes.js';
import { processTerminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

export function daemonCommand(version: string): Command {
  const daemon = new Command('daemon')
    .description('Look at, or stop, the daemon that keeps the servers of isthmus attach.')
    .usage('status [--json] | stop | run')
    .showHelpAfterError('(isthmus daemon --help explains the options)')
    .addHelpText('after', HELP)
    .exitOverride();
  daemon
    .command('status')
    .description('what it keeps, and for how many hosts')
    .option('--json', 'print the exact status as JSON, for programs')
    .action(({ json }: { json?: boolean }) => status(json === true));
  daemon.command('stop').description('end it; a host that still needs it starts another').action(stop);
  daemon
    .command('run', { isDefault: true })
    .description('be the daemon, here; otherwise the first host starts it')
    .option('--first <ms>', 'how long it waits for the first host (default: 30000)', toMs)
    .addOption(new Option('--notify <descriptor>').hideHelp().argParser(Number))
    .action((options: { first?: number; notify?: number }) => run(version, options.first, options.notify));
  return daemon;
}

async function run(version: string, firstMs?: number, notify?: number): Promise<void> {
  const places = openPaths();
  const { runDaemon } = await import('@isthmus/gateway/internal/daemon/run-daemon.js');
  const log = daemonLog(2, notify === undefined ? undefined : places.log);
  const news = await runDaemon({ paths: places, log, version, notify, firstMs });
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
ISTHMUS_RUNTIME_DIR names the folder of its socket and its log; another folder is another daemon.`;
