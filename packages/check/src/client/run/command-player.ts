import { systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { describeExit } from '@isthmus/sdk/internal/process/describe-exit.js';
import { spawnChild } from '@isthmus/sdk/internal/process/spawn-child.js';
import { commandLine, fillIn } from './placeholders.js';
import type { Player, ScriptedServer } from './scripted-server.js';

export interface ClientCommand {
  readonly words: readonly string[];
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** The client is a command, started anew for each server. */
export function commandPlayer({ words, cwd, env = {} }: ClientCommand): Player {
  return async (stage) => {
    const [command = '', ...args] = fillIn(words, stage);
    const child = spawnChild({
      command,
      args,
      inheritEnv: 'all',
      env: { ...environmentOf(stage), ...env },
      ...(cwd !== undefined && { cwd }),
      // Servers that it leaves behind are in its group: they are counted before they are taken away.
      shutdown: { closeMs: 0, termMs: 3000, killMs: 1000 },
    });
    child.stdout.resume();
    const calledOff = createDeferred<void>();
    const callOff = () => calledOff.resolve();
    if (stage.signal.aborted) callOff();
    stage.signal.addEventListener('abort', callOff);
    const inTime = await within(systemClock, stage.boundMs, Promise.race([child.exited, calledOff.promise]));
    stage.signal.removeEventListener('abort', callOff);
    const late = !inTime && !child.isGone;
    const exit = await (late || stage.signal.aborted ? child.kill() : child.exited);
    return {
      code: late ? null : exit.code,
      late,
      stderr: child.stderr.tail(STDERR_KEPT),
      ...(exit.error && { error: describeExit(command, exit) }),
    };
  };
}

const STDERR_KEPT = 2000;

/** docs/check-client.md lists them. A cache folder of its own keeps what was learnt of one server from the next. */
function environmentOf({
  scenario,
  over,
  url,
  command,
  steps,
  folder,
}: ScriptedServer): Record<string, string> {
  return {
    MCP_SCENARIO: scenario.name,
    MCP_TRANSPORT: over,
    MCP_STEPS: JSON.stringify(steps),
    ...(url !== undefined && { MCP_SERVER_URL: url }),
    ...(command && {
      MCP_SERVER_COMMAND: commandLine(command),
      MCP_SERVER_ARGV: JSON.stringify(command),
    }),
    XDG_CACHE_HOME: folder,
  };
}
