import { resolve } from 'node:path';
import type { AttachParams } from '@isthmus/gateway/internal/daemon/definition.js';
import { type CommandSpec, given, type ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { childEnvironment } from '@isthmus/sdk/internal/process/environment.js';
import { usageError } from '../cli-error.js';
import { withSettings } from '../target.js';
import type { AttachCommandOptions } from './attach-options.js';

/** The server with what the command line says about it, and with the variables of our environment that it gets. */
export function applyOptions(
  server: ServerSpec,
  options: Omit<AttachCommandOptions, 'config' | 'input' | 'url' | 'daemon'>,
): AttachParams {
  const { grace: graceMs, transport, mode, timeout: timeoutMs, ignoreTool } = options;
  const tools = ignoreTool && { ...server.tools, deny: [...(server.tools?.deny ?? []), ...ignoreTool] };
  const changed = { ...server, ...given({ mode, timeoutMs, tools }) };
  if (changed.kind === 'command') {
    refuse(options, ['header', 'transport'], 'is for a URL, and this is a command');
    const { spec, ambient } = withEnvironment(changed, options);
    return { server: spec, ambient, sseFirst: false, graceMs };
  }
  refuse(options, ['env', 'cwd', 'passEnvironment'], 'is for a command, and this is a URL');
  const header = options.header?.map((text) => expandHeader(text));
  const spec =
    changed.kind === 'url'
      ? withSettings(changed, { header, transport: transport && TRANSPORTS[transport] })
      : changed;
  return { server: spec, ambient: {}, sseFirst: transport === 'sse-first', graceMs };
}

function withEnvironment(
  server: CommandSpec,
  { env, cwd, passEnvironment }: Pick<AttachCommandOptions, keyof typeof COMMAND_WORDS>,
): { readonly spec: CommandSpec; readonly ambient: Readonly<Record<string, string>> } {
  const { inheritEnv: inherited, start = 'lazy', processes = 'shared', disabled: _, ...rest } = server;
  const { counted, ambient } = countedEnvironment({
    env: { ...server.env, ...env },
    inheritEnv: passEnvironment ? 'all' : inherited,
  });
  const folder = cwd === undefined ? server.cwd : resolve(cwd);
  return { ambient, spec: { ...rest, start, processes, cwd: folder, env: counted } };
}

const COMMAND_WORDS = { env: '--env', cwd: '--cwd', passEnvironment: '--pass-environment' } as const;

/** The daemon looks for `sse-first` before it connects. Where it finds nothing, the transport is `auto`. */
const TRANSPORTS = {
  'http-first': 'auto',
  'http-only': 'http-only',
  'sse-first': 'auto',
  'sse-only': 'sse',
} as const;

const WORDS = { ...COMMAND_WORDS, header: '--header', transport: '--transport' } as const;

function refuse(options: object, names: readonly (keyof typeof WORDS)[], why: string): void {
  const found = names.find((name) => (options as Record<string, unknown>)[name] !== undefined);
  if (found) throw usageError(`${WORDS[found]} ${why}`, 'Leave it out');
}

/**
 * Hosts do not expand variables in arguments, and a secret that stands there can be seen by everybody on the machine.
 * So a header may name variables: `Authorization: Bearer ${TOKEN}`.
 */
export function expandHeader(
  text: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  return text.replace(/\$\{(?:env:)?(\w+)\}/g, (_, name: string) => {
    const value = env[name];
    if (value !== undefined) return value;
    throw usageError(`A --header needs the variable ${name}, which is not set here`);
  });
}

interface CountedEnvironment {
  /** What makes a difference: hosts that differ in it do not share. */
  readonly counted: Readonly<Record<string, string>>;
  /** Says something about the host rather than about the server, and is taken from the first. */
  readonly ambient: Readonly<Record<string, string>>;
}

/**
 * All variables that the process of a server gets. The daemon may have been started by somebody else, so they are
 * taken from here. Where nothing is said about them, those that any program gets are inherited; of these only the
 * way to programs and to the home make a difference.
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
