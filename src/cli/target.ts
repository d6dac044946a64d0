import { statSync } from 'node:fs';
import type { Connector } from '../exchange/connection.js';
import { connectorFor } from '../transport/address.js';
import { stdio } from '../transport/stdio.js';
import { usageError } from './cli-error.js';

/** Whom a command talks to. */
export type Target =
  | { readonly kind: 'socket'; readonly address: string }
  | {
      readonly kind: 'command';
      readonly command: string;
      readonly args: readonly string[];
      /** Set when it comes from a file. */
      readonly configured?: Configured;
    };

/** What a file of `--config` says about a command, beyond its words. */
export interface Configured {
  readonly files: readonly string[];
  readonly name: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly inheritEnv?: 'minimal' | 'all' | readonly string[];
}

export interface CommandSettings {
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** What stands before and behind the first `--`. Commander would forget where it was. */
export function splitAtDashes(argv: readonly string[]): {
  readonly head: readonly string[];
  readonly behind: readonly string[] | undefined;
} {
  const at = argv.indexOf('--');
  return at < 0 ? { head: argv, behind: undefined } : { head: argv.slice(0, at), behind: argv.slice(at + 1) };
}

/**
 * Finds the target: the command behind `--`, or the first word. The rest of the words is for the subcommand.
 * `name` is that of the subcommand, for examples in errors.
 */
export function takeTarget(
  name: string,
  words: readonly string[],
  behind: readonly string[] | undefined,
): { readonly target: Target; readonly rest: readonly string[] } {
  const [first, ...rest] = words;
  if (behind) {
    const [command, ...args] = behind;
    if (command === undefined || command === '') {
      throw usageError('Behind -- there is no command', `isthmus ${name} … -- node server.js`);
    }
    if (first !== undefined && ADDRESS.test(first)) {
      throw usageError(
        `Two targets: ${first}, and the command behind --`,
        'Give one: an address as the first word, or -- COMMAND ARGS… at the end',
      );
    }
    return { target: { kind: 'command', command, args }, rest: words };
  }
  if (first === undefined) throw usageError('There is no target to talk to', TARGET_HINT);
  if (!ADDRESS.test(first)) throw noTarget(name, first, rest);
  return { target: { kind: 'socket', address: first }, rest };
}

export function connectorOf(target: Target, { cwd, env = {} }: CommandSettings): Connector {
  if (target.kind === 'command') {
    const { command, args, configured } = target;
    const folder = cwd ?? configured?.cwd;
    return stdio({
      command,
      args,
      // Its arguments may be secrets that the file took from variables, and people know it by its name.
      ...(configured && { label: configured.name }),
      env: { ...configured?.env, ...env },
      ...(folder !== undefined && { cwd: folder }),
      ...(configured?.inheritEnv !== undefined && { inheritEnv: configured.inheritEnv }),
    });
  }
  if (cwd !== undefined || Object.keys(env).length > 0) {
    throw usageError(
      `${cwd === undefined ? '--env' : '--cwd'} is for a command, and ${target.address} is an address`,
      'The server there was started by somebody else; leave the option out',
    );
  }
  return connectorFor(target.address);
}

/** How a person would write a command for this target, ready to be pasted. */
export function commandLine(name: string, target: Target, ...words: readonly string[]): string {
  if (target.kind === 'socket') return ['isthmus', name, quote(target.address), ...words].join(' ');
  const { command, args, configured } = target;
  if (!configured) return ['isthmus', name, ...words, '--', ...[command, ...args].map(quote)].join(' ');
  const files = configured.files.flatMap((file) => ['--config', quote(file)]);
  return ['isthmus', name, ...files, quote(configured.name), ...words].join(' ');
}

export const TARGET_HELP = `
TARGET is unix:PATH or tcp://HOST:PORT. To start a server and talk to it over its stdin and stdout, leave TARGET
out and put the command at the end, behind --. It gets a clean environment; pass what it needs with --env.
A server that is in a configuration file already (.mcp.json, .vscode/mcp.json, config.toml of Codex, …) is named
instead of TARGET: --config FILE NAME. Without NAME, the names are listed.`;

/** Behind the name of what is a URL. */
export const NOT_OVER_HTTP = 'targets over HTTP are not there yet; they follow in a later version';

const ADDRESS = /^(unix:|tcp:\/\/)/;
const TARGET_HINT = 'Give unix:PATH, tcp://HOST:PORT, --config FILE NAME, or -- COMMAND ARGS… at the end';

function isUrl(word: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(word) && !word.includes('=');
}

function noTarget(name: string, first: string, rest: readonly string[]): Error {
  if (/^(https?|wss?):\/\//i.test(first)) {
    return usageError(`${first} is a URL, and ${NOT_OVER_HTTP}`, TARGET_HINT);
  }
  if (/^tcp:/i.test(first)) return usageError(`"${first}" is no TCP address`, 'Write tcp://127.0.0.1:4000');
  if (isUrl(first)) return usageError(`"${first}" is not a kind of address that is known here`, TARGET_HINT);
  const port = /^(\[[^\]]+\]|[\w.-]+):(\d{1,5})$/.exec(first);
  if (port) return usageError(`"${first}" is no target`, `Did you mean tcp://${first}?`);
  const file = statSync(first, { throwIfNoEntry: false });
  if (file?.isSocket()) return usageError(`"${first}" is no target`, `Did you mean unix:${first}?`);
  // With a tool, its name would have come first: call TOOL … -- COMMAND.
  const command = [...(/\.[cm]?js$/.test(first) ? ['node'] : []), first, ...rest].map(quote).join(' ');
  return usageError(
    `"${first}" is no target`,
    name === 'probe' || file
      ? `To start a server, put its command behind --: isthmus ${name} ${name === 'call' ? 'TOOL ' : ''}-- ${command}`
      : TARGET_HINT,
  );
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
