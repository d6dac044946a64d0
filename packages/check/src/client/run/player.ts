import type { Readable, Writable } from 'node:stream';
import { systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { describeExit } from '@isthmus/sdk/internal/process/describe-exit.js';
import { spawnChild } from '@isthmus/sdk/internal/process/spawn-child.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Over, Scenario, Step } from '../model.js';
import type { RecordingBrowser } from './recording-browser.js';

/** The server of one run, as the client gets it. */
export interface ScriptedServer {
  readonly scenario: Scenario;
  readonly over: Over;
  readonly steps: readonly Step[];
  /** The address of the server, over HTTP. */
  readonly url: string | undefined;
  /** The command of the server, over stdio. */
  readonly command: readonly string[] | undefined;
  /** Starts the server without a process, for clients in this process. */
  readonly start: (() => Pipes) | undefined;
  /** The client has to log in: what MCP_LOGIN has. */
  readonly login: JsonObject | undefined;
  /** The programs that open pages, for clients that log in. */
  readonly browser: RecordingBrowser | undefined;
  /** A folder of this run. It is removed afterwards. */
  readonly folder: string;
  readonly boundMs: number;
  /** Cancels the run. */
  readonly signal: AbortSignal;
}

export interface Pipes {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly exited: Promise<void>;
  /** Ends the server as SIGKILL does. */
  kill(): void;
}

/** Runs the client. It settles when the client has ended, or was killed at the time limit. */
export type Player = (server: ScriptedServer) => Promise<PlayerEnd>;

interface PlayerEnd {
  readonly code: number | null;
  readonly late: boolean;
  readonly stderr: string;
  readonly error?: string;
}

export const DEFAULT_STEPS: readonly Step[] = [{ do: 'list' }, { do: 'call' }];

interface ClientCommand {
  readonly words: readonly string[];
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** A client that is a command. It is started once for each server. */
export function commandPlayer({ words, cwd, env = {} }: ClientCommand): Player {
  return async (server) => {
    const [command = '', ...args] = fillIn(words, server);
    const child = spawnChild({
      command,
      args,
      inheritEnv: 'all',
      env: { ...environmentOf(server), ...env },
      ...(cwd !== undefined && { cwd }),
      // Servers that it leaves behind are in its process group. They are counted before they are killed.
      shutdown: { closeMs: 0, termMs: 3000, killMs: 1000 },
    });
    child.stdout.resume();
    const cancelled = createDeferred<void>();
    const cancel = () => cancelled.resolve();
    if (server.signal.aborted) cancel();
    server.signal.addEventListener('abort', cancel);
    const inTime = await within(systemClock, server.boundMs, Promise.race([child.exited, cancelled.promise]));
    server.signal.removeEventListener('abort', cancel);
    const late = !inTime && !child.isGone;
    const exit = await (late || server.signal.aborted ? child.kill() : child.exited);
    return {
      code: late ? null : exit.code,
      late,
      stderr: child.stderr.tail(STDERR_KEPT),
      ...(exit.error && { error: describeExit(command, exit) }),
    };
  };
}

const STDERR_KEPT = 2000;

/** docs/check-client.md lists these variables. With its own cache folder the client cannot remember an earlier server. */
function environmentOf({
  scenario,
  over,
  url,
  command,
  steps,
  login,
  browser,
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
    ...(login && { MCP_LOGIN: JSON.stringify(login), XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }),
    ...browser?.env,
  };
}

/** Where the arguments of a client command name the server. */
const FOR: Readonly<Record<Over, RegExp>> = {
  http: /\{(?:url|server)\}/,
  stdio: /\{(?:command|server)(?:\.\.\.)?\}/,
};

/** Why the client cannot be run over a transport; undefined when it can. */
export function whyNot(words: readonly string[], over: Over, insists: boolean): string | undefined {
  const names = (which: Over) => words.some((word) => FOR[which].test(word));
  if (names(over) || (insists && !names('http') && !names('stdio'))) return undefined;
  if (over === 'http') {
    // Without a placeholder the address is the last argument, as in the official conformance suite.
    return names('stdio') ? 'the client command has no {url} or {server} for the address' : undefined;
  }
  return 'the client command has no {command} or {server} for the command line of the server';
}

/** The command with the server filled in. */
export function fillIn(words: readonly string[], { over, url, command = [] }: ScriptedServer): string[] {
  if (over === 'http') {
    const named = words.map((word) => word.replaceAll(/\{(?:url|server)\}/g, () => url ?? ''));
    return words.some((word) => FOR.http.test(word)) ? named : [...named, url ?? ''];
  }
  return words.flatMap((word) => {
    if (/^\{(?:command|server)\.\.\.\}$/.test(word)) return command;
    return [word.replaceAll(/\{(?:command|server)\}/g, () => commandLine(command))];
  });
}

/** The command as one line for a shell. */
export function commandLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quote(word))).join(' ');
}

function quote(word: string): string {
  return process.platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`;
}
