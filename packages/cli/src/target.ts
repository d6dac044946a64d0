import { existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type {
  CommandSpec,
  ServerSpec,
  SocketSpec,
  UrlSpec,
} from '@isthmus/sdk/internal/config/server-spec.js';
import { usageError } from './cli-error.js';
import { nameOfServer } from './serve/name-of-server.js';

/** The server that a command talks to. `files`: those of `--config` that it was found in. */
export type CommandTarget = ServerSpec & { readonly files?: readonly string[] };

/** Options of the command line for the server, besides its address. */
export interface TargetSettings {
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** `Name: value`, as typed. */
  readonly header?: readonly string[] | undefined;
  readonly transport?: UrlSpec['transport'] | undefined;
}

/** A server command of the command line. It runs in the working directory. */
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
    if (first !== undefined && (TAKES_URI.has(name) ? ADDRESS.test(first) : isAddress(first))) {
      throw usageError(
        `Two targets: ${first}, and the command after --`,
        'Give one: an address as the first argument, or -- COMMAND ARGS… at the end',
      );
    }
    return { target: commandTarget(command, args), rest: words };
  }
  if (first === undefined) throw usageError('No server given', TARGET_HINT);
  const target = targetAt(first);
  if (!target) throw noTarget(name, first, rest);
  return { target, rest };
}

export function isAddress(text: string): boolean {
  return ADDRESS.test(text) || URL_TARGET.test(text);
}

/** The server at an address. Undefined: the text is not an address. */
export function targetAt(address: string): UrlSpec | SocketSpec | undefined {
  if (address === 'unix:') throw usageError('unix: needs the path of a socket', 'Write unix:/path/to.sock');
  if (URL_TARGET.test(address) && !URL.canParse(address))
    throw usageError(`"${address}" is not a valid URL`, urlHint(address));
  if (URL_TARGET.test(address))
    return { kind: 'url', name: address, url: address, transport: 'auto', headers: {} };
  return ADDRESS.test(address) ? { kind: 'socket', name: address, address } : undefined;
}

function urlHint(url: string): string {
  return Number(/:(\d+)/.exec(url)?.[1] ?? 0) > 65535
    ? 'The highest port is 65535'
    : 'For example http://127.0.0.1:8080/mcp';
}

/** The target with the options of the command line. Refuses an option that this kind of server cannot have. */
export function withSettings<Target extends CommandTarget>(target: Target, settings: TargetSettings): Target {
  const { cwd, env = {}, header = [], transport } = settings;
  if (target.kind !== 'url' && header.length > 0) {
    throw usageError(
      `--header needs a URL, but the server is ${target.kind === 'command' ? 'a command' : target.address}`,
      'Pass values to a command with --env',
    );
  }
  if (target.kind !== 'url' && transport !== undefined) {
    throw usageError('--transport needs a URL', 'Remove it');
  }
  if (target.kind === 'command') {
    return { ...target, env: { ...target.env, ...env }, cwd: cwd ?? target.cwd };
  }
  if (cwd !== undefined || Object.keys(env).length > 0) {
    throw usageError(
      `${cwd === undefined ? '--env' : '--cwd'} needs a command, but ${target.kind === 'url' ? target.url : target.address} is an address`,
      'The server at an address already runs; remove the option',
    );
  }
  if (target.kind === 'socket') return target;
  const headers = { ...lowerNames(target.headers), ...headersOf(header) };
  return { ...target, headers, transport: transport ?? target.transport };
}

export function labelOf({ files, name }: CommandTarget): { readonly label?: string } {
  return files ? { label: name } : {};
}

/** Parses headers of the form `Name: value`, with the values of the variables that they name. */
export function headersOf(header: readonly string[]): Record<string, string> {
  return Object.fromEntries(header.map((text) => toHeader(expandHeader(text))));
}

/**
 * A header may name variables: `Authorization: Bearer ${TOKEN}`. Hosts do not expand variables in arguments, and every user
 * of the machine can read a secret that is an argument.
 */
export function expandHeader(
  text: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  return text.replace(/\$\{(?:env:)?(\w+)\}/g, (_, name: string) => {
    const value = env[name];
    if (value !== undefined) return value;
    throw usageError(`A --header needs the variable ${name}, which is not set`, `export ${name}=… sets it`);
  });
}

/** The error does not show the header, which is probably a secret. */
function toHeader(text: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/s.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name.toLowerCase(), value.trim()];
  throw usageError('A --header has no name', 'Write --header "Authorization: Bearer …"');
}

/** Header names in lower case, so that headers of the command line replace those of the file. */
function lowerNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** A command line for this target that can be pasted into a shell. */
export function commandLine(name: string, target: CommandTarget, ...args: readonly string[]): string {
  if (target.files) return commandLineFor(name, target.files, target.name, ...args);
  if (target.kind === 'socket') return ['isthmus', name, quote(target.address), ...args].join(' ');
  if (target.kind === 'url') return ['isthmus', name, quote(target.url), ...args].join(' ');
  return ['isthmus', name, ...args, '--', ...[target.command, ...target.args].map(quote)].join(' ');
}

/** The command line for a server of configuration files. */
export function commandLineFor(
  name: string,
  files: readonly string[],
  server: string,
  ...args: readonly string[]
): string {
  const options = files.flatMap((file) => ['--config', quote(file)]);
  return ['isthmus', name, ...options, quote(server), ...args].join(' ');
}

export const TARGET_HELP = `
TARGET is unix:PATH, tcp://HOST:PORT or the http:// or https:// URL of a server (--header adds headers to its
requests). To start a server and talk to it over its stdin and stdout, omit TARGET and put the command at the
end, after --. It gets a clean environment; pass variables with --env. For a server of a configuration file
(.mcp.json, .vscode/mcp.json, config.toml of Codex, …) write --config FILE NAME instead of TARGET.`;

/** For commands that do not start servers. */
export const ADDRESS_HELP = `
TARGET is unix:PATH, tcp://HOST:PORT or the http:// or https:// URL of a server that runs (--header adds headers to its
requests). For a server of a configuration file (.mcp.json, .vscode/mcp.json, config.toml of Codex, …) that has a URL
write --config FILE NAME instead of TARGET.`;

const HOST_PORT_AND_PATH = /^(\[[^\]]+\]|[\w.-]+):\d{1,5}\/\S*$/;
const HOST_AND_PORT = /^(\[[^\]]+\]|[\w.-]+):\d{1,5}$/;
const ADDRESS = /^(unix:|tcp:\/\/)/;
const URL_TARGET = /^https?:\/\//i;
/** Their first word after the target may be the URI of a resource. */
const TAKES_URI: ReadonlySet<string> = new Set(['read', 'complete', 'listen']);
const TARGET_HINT =
  'Give unix:PATH, tcp://HOST:PORT, http://HOST:PORT/PATH, --config FILE NAME, or -- COMMAND ARGS… at the end';

function isUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && !text.includes('=');
}

function noTarget(name: string, first: string, rest: readonly string[]): Error {
  if (/^tcp:/i.test(first))
    return usageError(`"${first}" is not a TCP address`, 'Write tcp://127.0.0.1:4000');
  if (isUrl(first)) return usageError(`"${first}" is not a supported kind of address`, TARGET_HINT);
  const message = `"${first}" is not a server address`;
  if (HOST_PORT_AND_PATH.test(first)) return usageError(message, `Did you mean http://${first}?`);
  if (HOST_AND_PORT.test(first))
    return usageError(message, `Did you mean http://${first}/mcp, or tcp://${first}?`);
  const file = statSync(first, { throwIfNoEntry: false });
  if (file?.isSocket()) return usageError(message, `Did you mean unix:${first}?`);
  if (file?.isFile() && /\.(json|toml|ya?ml)$/i.test(first))
    return usageError(message, `For a server of this file: isthmus ${name} --config ${quote(first)} NAME`);
  const isCommand = name === 'probe' || file !== undefined;
  return usageError(message, missingDashes(name, [first, ...rest], isCommand) ?? TARGET_HINT);
}

/**
 * A hint for a command line whose command has no `--` before it. Undefined: no word of it is a program of this machine.
 * `isCommand`: the first word is known to be a command.
 */
export function missingDashes(
  name: string,
  [first = '', ...rest]: readonly string[],
  isCommand = false,
): string | undefined {
  const words = splitCommandLine(first);
  const needed = BEFORE_COMMAND[name];
  // What `call` and its kind need first may be the name of a program, too: `call echo text=hi node server.js`.
  const at = needed === undefined ? -1 : rest.findIndex(isOnPath);
  const before = at >= 0 ? [...words, ...rest.slice(0, at)].map(quote).join(' ') : needed;
  const command = at >= 0 ? rest.slice(at) : [...words, ...rest];
  if (!isCommand && at < 0 && words.length === 1 && !isOnPath(first)) return undefined;
  const line = [...(/\.[cm]?js$/.test(command[0]!) ? ['node'] : []), ...command].map(quote).join(' ');
  return `To start a server, put its command after --: isthmus ${name} ${before === undefined ? '' : `${before} `}-- ${line}`;
}

/** The words of a command line that was typed in quotes. The path of a file may have spaces. */
export function splitCommandLine(text: string): readonly string[] {
  return /\S\s/.test(text) && !existsSync(text) ? text.trim().split(/\s+/) : [text];
}

/** What these commands need before the command of the server. */
const BEFORE_COMMAND: Readonly<Record<string, string>> = {
  call: 'TOOL',
  read: 'URI',
  prompt: 'NAME',
  complete: 'PROMPT argument=text',
  task: 'get ID',
};

function isOnPath(command: string): boolean {
  if (command.includes('/')) return false;
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  const names = process.platform === 'win32' ? ['.exe', '.cmd', '.bat', ''] : [''];
  return folders.some((folder) => names.some((end) => existsSync(join(folder, `${command}${end}`))));
}

/** Quotes an argument for a shell. */
export function quote(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}
