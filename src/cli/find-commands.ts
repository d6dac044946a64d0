import type { Command } from 'commander';
import type { Line } from './habits/habit.js';

type Loader = (line: Line, version: string) => Promise<Command>;

/** In the order of `isthmus --help`. Each is loaded by itself: nobody should have to wait for what others need. */
const COMMANDS: ReadonlyMap<string, Loader> = new Map<string, Loader>([
  ['serve', async ({ behind, words }) => (await import('./commands/serve.js')).serveCommand(behind, words)],
  ['attach', async ({ behind }) => (await import('./commands/attach.js')).attachCommand(behind)],
  ['daemon', async (_, version) => (await import('./commands/daemon.js')).daemonCommand(version)],
  ['status', async () => (await import('./commands/status.js')).statusCommand()],
  ['logs', async () => (await import('./commands/logs.js')).logsCommand()],
  ['restart', async () => (await import('./commands/restart.js')).restartCommand()],
  ['stop', async () => (await import('./commands/stop.js')).stopCommand()],
  ['start', async () => (await import('./commands/start.js')).startCommand()],
  ['reload', async () => (await import('./commands/reload.js')).reloadCommand()],
  ['doctor', async () => (await import('./commands/doctor.js')).doctorCommand()],
  ['probe', async ({ behind }) => (await import('./commands/probe.js')).probeCommand(behind)],
  ['list', async ({ behind }) => (await import('./commands/list.js')).listCommand(behind)],
  ['call', async ({ behind }) => (await import('./commands/call.js')).callCommand(behind)],
  ['read', async ({ behind }) => (await import('./commands/read.js')).readCommand(behind)],
  [
    'check',
    async ({ behind }, version) => (await import('./commands/check.js')).checkCommand(behind, version),
  ],
  [
    'check-client',
    async ({ behind }, version) =>
      (await import('./commands/check-client.js')).checkClientCommand(behind, version),
  ],
  ['bench', async ({ behind }) => (await import('./commands/bench.js')).benchCommand(behind)],
  ['config', async () => (await import('./commands/config.js')).configCommand()],
  ['demo', async () => (await import('./commands/demo.js')).demoCommand()],
  ['completion', async (line, version) => completion(line, version)],
]);

/** The command of that name; all of them where there is none. */
export async function findCommands(
  name: string | undefined,
  line: Line,
  version: string,
): Promise<Command[]> {
  const one = name === undefined ? undefined : COMMANDS.get(name);
  if (one) return [await one(line, version)];
  return Promise.all([...COMMANDS.values()].map((load) => load(line, version)));
}

async function completion(line: Line, version: string): Promise<Command> {
  const { completionCommand } = await import('./commands/completion.js');
  return completionCommand(() => findCommands(undefined, line, version));
}
