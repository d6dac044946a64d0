import type { Readable, Writable } from 'node:stream';
import { systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { describeExit } from '@isthmus/sdk/internal/process/describe-exit.js';
import { spawnChild } from '@isthmus/sdk/internal/process/spawn-child.js';
import type { Over, Scenario, Step } from '../model.js';

/** What the client of one run is given. */
export interface ScriptedServer {
  readonly scenario: Scenario;
  readonly over: Over;
  readonly steps: readonly Step[];
  /** Where the server is, over HTTP. */
  readonly url: string | undefined;
  /** How to start the server, over stdio. */
  readonly command: readonly string[] | undefined;
  /** The same without a process, for clients that run in ours. */
  readonly start: (() => Pipes) | undefined;
  /** A folder of its own, gone afterwards. */
  readonly folder: string;
  readonly boundMs: number;
  /** The run is called off. */
  readonly signal: AbortSignal;
}

export interface Pipes {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly exited: Promise<void>;
  /** As SIGKILL would. */
  kill(): void;
}

/** Plays the part of the client. It settles when the client has ended, or was ended because of the bound. */
export type Player = (stage: ScriptedServer) => Promise<PlayerEnd>;

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

/** Where the words of a client command name the server. */
const FOR: Readonly<Record<Over, RegExp>> = {
  http: /\{(?:url|server)\}/,
  stdio: /\{(?:command|server)(?:\.\.\.)?\}/,
};

/** Why a client cannot be shown servers over this; nothing when it can. */
export function whyNot(words: readonly string[], over: Over, insists: boolean): string | undefined {
  const names = (which: Over) => words.some((word) => FOR[which].test(word));
  if (names(over) || (insists && !names('http') && !names('stdio'))) return undefined;
  if (over === 'http') {
    // As the official suite does it, the address is the last argument.
    return names('stdio') ? 'the client command has no {url} or {server} for the address' : undefined;
  }
  return 'the client command has no {command} or {server} for the command line of the server';
}

/** The words with the server in its place. */
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

/** As a shell would read it. */
export function commandLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quote(word))).join(' ');
}

function quote(word: string): string {
  return process.platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`;
}
