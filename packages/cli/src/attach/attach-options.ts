import { resolve } from 'node:path';
import type { AttachParams } from '@isthmus/gateway/internal/daemon/definition.js';
import { type CommandSpec, given, type ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { childEnvironment } from '@isthmus/sdk/internal/process/environment.js';
import { type Command, Option } from 'commander';
import { addServerFlags } from '../add-server-flags.js';
import { usageError } from '../cli-error.js';
import { collect, toInput, toMs, toVariable } from '../common-options.js';
import { type AuthFlags, authOptions } from '../login/auth-options.js';
import { type LoginFlags, loginFlagNames, loginOptions } from '../login/login-options.js';
import { namesOfFlags, settingsOfFlags } from '../server-flags.js';
import { withSettings } from '../target.js';

/** The options of `isthmus attach`. */
export interface AttachCommandOptions extends AuthFlags, LoginFlags {
  readonly config?: readonly string[];
  readonly input?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly header?: readonly string[];
  readonly transport?: 'http-first' | 'http-only' | 'sse-first' | 'sse-only';
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly passEnvironment?: boolean;
  readonly era?: string;
  readonly ignoreTool?: readonly string[];
  readonly timeout?: number;
  readonly grace: number;
  readonly daemon: boolean;
}

export function addAttachOptions(command: Command): Command {
  command
    .option(
      '-c, --config <file>',
      'a file that defines NAME; repeatable, later files win (default: see below)',
      collect,
    )
    .option('--input <id=value>', 'the value of an input:id of the file; repeatable', toInput)
    .option('-u, --url <url>', 'a remote server')
    .option(
      '-H, --header <header>',
      'a header for every request to the URL; may name variables (see below); repeatable',
      collect,
    )
    .addOption(
      new Option('--transport <strategy>', 'which transport to try (default: http-first)').choices([
        'http-first',
        'http-only',
        'sse-first',
        'sse-only',
      ]),
    )
    .option(
      '--env <name=value>',
      'a variable for the command; --env NAME passes on your own; repeatable',
      toVariable,
    )
    .option('--cwd <folder>', 'the folder that the command runs in (default: this one)');
  for (const option of [...authOptions(), ...loginOptions()]) command.addOption(option);
  addServerFlags(command, 'attach');
  return command
    .option('--grace <ms>', 'how long the server is kept after the last host is gone', toGrace, 30_000)
    .option('--no-daemon', 'do not share: the server is a child of this process and ends with it');
}

/**
 * The mode of the login. A line of mcp-remote has the URL as an argument, or options of its login: such a line logs in with
 * a browser, as mcp-remote does.
 */
export function authModeOf(words: readonly string[], options: AttachCommandOptions): AuthFlags['auth'] {
  if (options.auth !== undefined) return options.auth;
  const isAddress = options.url === undefined && /^https?:\/\//i.test(words[0] ?? '');
  // `browser` is true unless --no-browser was given.
  const typed = loginFlagNames().filter((name) => name !== 'browser' && Object.hasOwn(options, name));
  return isAddress || typed.length > 0 || options.browser === false ? 'browser' : undefined;
}

function toGrace(text: string): number {
  return text === '0' ? 0 : toMs(text);
}

/** Applies the command line to the server, and adds the variables of this environment that the server gets. */
export function applyOptions(
  server: ServerSpec,
  options: Omit<AttachCommandOptions, 'config' | 'input' | 'url' | 'daemon'>,
): AttachParams {
  const { grace: graceMs, transport } = options;
  const typed = settingsOfFlags('attach', options, server.kind);
  const tools = typed.tools && {
    ...server.tools,
    deny: [...(server.tools?.deny ?? []), ...(typed.tools.deny ?? [])],
  };
  const changed = { ...server, ...typed, ...given({ tools }) };
  if (changed.kind === 'command') {
    refuse(options, ['header', 'transport'], 'needs a URL, but the server is a command');
    const { spec, ambient } = withEnvironment(changed, options);
    return { server: spec, ambient, sseFirst: false, graceMs };
  }
  const ofCommands = ['env', 'cwd', ...namesOfFlags('attach', { onlyCommands: true })];
  refuse(options, ofCommands, 'is only for commands; this server is a URL');
  const spec =
    changed.kind === 'url'
      ? withSettings(changed, { header: options.header, transport: transport && TRANSPORTS[transport] })
      : changed;
  return { server: spec, ambient: {}, sseFirst: transport === 'sse-first', graceMs };
}

function withEnvironment(
  server: CommandSpec,
  { env, cwd }: Pick<AttachCommandOptions, 'env' | 'cwd'>,
): { readonly spec: CommandSpec; readonly ambient: Readonly<Record<string, string>> } {
  const { inheritEnv, start = 'lazy', processes = 'shared', disabled: _, ...rest } = server;
  const { counted, ambient } = countedEnvironment({
    env: { ...server.env, ...env },
    inheritEnv,
  });
  const folder = cwd === undefined ? server.cwd : resolve(cwd);
  return { ambient, spec: { ...rest, start, processes, cwd: folder, env: counted } };
}

/** The daemon looks for `sse-first` before it connects. Where it finds nothing, the transport is `auto`. */
const TRANSPORTS = {
  'http-first': 'auto',
  'http-only': 'http-only',
  'sse-first': 'auto',
  'sse-only': 'sse',
} as const;

function refuse(options: object, names: readonly string[], why: string): void {
  const found = names.find((name) => (options as Record<string, unknown>)[name] !== undefined);
  if (found === undefined) return;
  const flag = found.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
  throw usageError(`--${flag} ${why}`, 'Remove the option');
}

interface CountedEnvironment {
  /** Hosts that differ in these do not share the server. */
  readonly counted: Readonly<Record<string, string>>;
  /** These describe the host, not the server. The values of the first host are used. */
  readonly ambient: Readonly<Record<string, string>>;
}

/**
 * All variables that the process of a server gets. They are collected here, since another host may have started the daemon.
 * By default a server inherits only the minimal variables, and of these only `PATH` and the folders of the home count.
 */
export function countedEnvironment(
  options: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly inheritEnv: 'minimal' | 'all' | readonly string[] | undefined;
  },
  ours: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): CountedEnvironment {
  const { env, inheritEnv = 'minimal' } = options;
  const all = childEnvironment({ env, inheritEnv }, ours, platform);
  const given = new Set(Object.keys(env).map((name) => name.toUpperCase()));
  const counts = (name: string) =>
    inheritEnv !== 'minimal' || given.has(name.toUpperCase()) || COUNTED.has(name.toUpperCase());
  const pick = (isWanted: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => isWanted(name)));
  return { counted: pick(counts), ambient: pick((name) => !counts(name)) };
}

const COUNTED: ReadonlySet<string> = new Set(['PATH', 'HOME', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA']);
