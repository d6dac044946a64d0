import { statSync } from 'node:fs';
import type {
  CommandSpec,
  ServerSpec,
  SocketSpec,
  UrlSpec,
} from '@isthmus/sdk/internal/config/server-spec.js';
import type { Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import { connectorOfSpec } from '@isthmus/sdk/internal/host/spec-connector.js';
import { usageError } from './cli-error.js';
import { nameOfServer } from './serve/name-of-server.js';
import { oneLine } from './terminal/text.js';

/** The server that a command talks to. `files`: those of `--config` that it was found in. */
export type CommandTarget = ServerSpec & { readonly files?: readonly string[] };

/** What the command line says about the server, besides its address. */
export interface TargetSettings {
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** `Name: value`, as typed. */
  readonly header?: readonly string[] | undefined;
  readonly transport?: UrlSpec['transport'] | undefined;
}

/** A command of the command line, with this folder as its own. */
export function commandTarget(command: string, args: readonly string[]): CommandSpec {
  const name = nameOfServer(command, args);
  return { kind: 'command', name, command, args, env: {}, cwd: process.cwd() };
}

/** The arguments before and after the first `--`. Commander does not keep its position. */
export function splitAtDashes(argv: readonly string[]): {
  readonly head: readonly string[];
  readonly behind: readonly string[] | undefined;
} {
  const at = argv.indexOf('--');
  return at < 0 ? { head: argv, behind: undefined } : { head: argv.slice(0, at), behind: argv.slice(at + 1) };
}

/**
 * Finds the target: the command after `--`, or the first argument. The other arguments are for the subcommand.
 * `name` is that of the subcommand, for examples in errors.
 */
export function takeTarget(
  name: string,
  words: readonly string[],
  behind: readonly string[] | undefined,
): { readonly target: CommandTarget; readonly rest: readonly string[] } {
  const [first, ...rest] = words;
  if (behind) {
    const [command, ...args] = behind;
    if (command === undefined || command === '') {
      throw usageError('No command after --', `isthmus ${name} … -- node server.js`);
    }
    if (first !== undefined && ADDRESS.test(first)) {
      throw usageError(
        `Two targets: ${first}, and the command after --`,
        'Give one: an address as the first word, or -- COMMAND ARGS… at the end',
      );
    }
    return { target: commandTarget(command, args), rest: words };
  }
  if (first === undefined) throw usageError('No server given', TARGET_HINT);
  const target = targetAt(first);
  if (!target) throw noTarget(name, first, rest);
  return { target, rest };
}

/** What an address leads to; undefined where it is none. */
export function targetAt(address: string): UrlSpec | SocketSpec | undefined {
  if (URL_TARGET.test(address))
    return { kind: 'url', name: address, url: address, transport: 'auto', headers: {} };
  return ADDRESS.test(address) ? { kind: 'socket', name: address, address } : undefined;
}

/** The target with what the command line says about it. Refuses an option that this kind of server cannot have. */
export function withSettings<Target extends CommandTarget>(target: Target, settings: TargetSettings): Target {
  const { cwd, env = {}, header = [], transport } = settings;
  if (target.kind !== 'url' && header.length > 0) {
    throw usageError(
      `--header is for a URL, and ${target.kind === 'command' ? 'a command' : target.address} is none`,
      'A command is given what it needs with --env',
    );
  }
  if (target.kind !== 'url' && transport !== undefined) {
    throw usageError('--transport is for a URL, and there is none', 'Leave it out');
  }
  if (target.kind === 'command') {
    return { ...target, env: { ...target.env, ...env }, cwd: cwd ?? target.cwd };
  }
  if (cwd !== undefined || Object.keys(env).length > 0) {
    throw usageError(
      `${cwd === undefined ? '--env' : '--cwd'} is for a command, and ${target.kind === 'url' ? target.url : target.address} is an address`,
      'The server there runs already; leave the option out',
    );
  }
  if (target.kind === 'socket') return target;
  const headers = { ...lowerNames(target.headers), ...headersOf(header) };
  return { ...target, headers, transport: transport ?? target.transport };
}

/**
 * A server of a file is called by its name: people know it by that, and its arguments may be secrets that the file took
 * from variables.
 */
export function connectorOf(target: CommandTarget, settings: TargetSettings): Connector {
  return connectorOfSpec(withSettings(target, settings), {
    ...labelOf(target),
    onWarning: (warning) => process.stderr.write(`isthmus: warning: ${oneLine(warning)}\n`),
  });
}

export function labelOf({ files, name }: CommandTarget): { readonly label?: string } {
  return files ? { label: name } : {};
}

/** `Name: value`, as typed, by name. */
export function headersOf(header: readonly string[]): Record<string, string> {
  return Object.fromEntries(header.map(toHeader));
}

/** The error does not show the header: it is most likely a secret. */
function toHeader(text: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/s.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name.toLowerCase(), value.trim()];
  throw usageError('A --header has no name', 'Write --header "Authorization: Bearer …"');
}

/** So that what is typed replaces what the file says. */
function lowerNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** How a person would write a command for this target, ready to be pasted. */
export function commandLine(name: string, target: CommandTarget, ...words: readonly string[]): string {
  if (target.files) return commandLineFor(name, target.files, target.name, ...words);
  if (target.kind === 'socket') return ['isthmus', name, quote(target.address), ...words].join(' ');
  if (target.kind === 'url') return ['isthmus', name, quote(target.url), ...words].join(' ');
  return ['isthmus', name, ...words, '--', ...[target.command, ...target.args].map(quote)].join(' ');
}

/** The same for a server of some files. */
export function commandLineFor(
  name: string,
  files: readonly string[],
  server: string,
  ...words: readonly string[]
): string {
  const options = files.flatMap((file) => ['--config', quote(file)]);
  return ['isthmus', name, ...options, quote(server), ...words].join(' ');
}

export const TARGET_HELP = `
TARGET is unix:PATH, tcp://HOST:PORT or the http:// or https:// URL of a server (--header adds headers to its
requests). To start a server and talk to it over its stdin and stdout, leave TARGET
out and put the command at the end, after --. It gets a clean environment; pass what it needs with --env.
A server that is in a configuration file already (.mcp.json, .vscode/mcp.json, config.toml of Codex, …) is named
instead of TARGET: --config FILE NAME. Without NAME, the names are listed.`;

const ADDRESS = /^(unix:|tcp:\/\/)/;
const URL_TARGET = /^https?:\/\//i;
const TARGET_HINT =
  'Give unix:PATH, tcp://HOST:PORT, http://HOST:PORT/PATH, --config FILE NAME, or -- COMMAND ARGS… at the end';

function isUrl(word: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(word) && !word.includes('=');
}

function noTarget(name: string, first: string, rest: readonly string[]): Error {
  if (/^tcp:/i.test(first))
    return usageError(`"${first}" is not a TCP address`, 'Write tcp://127.0.0.1:4000');
  if (isUrl(first)) return usageError(`"${first}" is not a kind of address that is known here`, TARGET_HINT);
  const port = /^(\[[^\]]+\]|[\w.-]+):(\d{1,5})$/.exec(first);
  if (port) return usageError(`"${first}" is not a server address`, `Did you mean tcp://${first}?`);
  const file = statSync(first, { throwIfNoEntry: false });
  if (file?.isSocket())
    return usageError(`"${first}" is not a server address`, `Did you mean unix:${first}?`);
  // With a tool, its name would have come first: call TOOL … -- COMMAND.
  const command = [...(/\.[cm]?js$/.test(first) ? ['node'] : []), first, ...rest].map(quote).join(' ');
  return usageError(
    `"${first}" is not a server address`,
    name === 'probe' || file
      ? `To start a server, put its command after --: isthmus ${name} ${name === 'call' ? 'TOOL ' : ''}-- ${command}`
      : TARGET_HINT,
  );
}

/** A word as a shell takes it. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
