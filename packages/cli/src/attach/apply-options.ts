import { resolve } from 'node:path';
import type { AttachParams } from '@isthmus/gateway/internal/daemon/definition.js';
import type {
  GatewayServerDefinition,
  GatewayServerSource,
} from '@isthmus/gateway/internal/server-definition.js';
import { childEnvironment } from '@isthmus/sdk/internal/process/environment.js';
import { usageError } from '../cli-error.js';
import { headersOf } from '../target.js';
import type { AttachCommandOptions } from './attach-options.js';

/** The server with what the command line says about it, and all that our environment means for it. */
export function applyOptions(
  unit: GatewayServerDefinition,
  options: Omit<AttachCommandOptions, 'config' | 'input' | 'url' | 'daemon'>,
): AttachParams {
  const { grace: graceMs, transport } = options;
  const changed = ofAnything(unit, options);
  if (unit.source.kind === 'command') {
    refuse(options, ['header', 'transport'], 'is for a URL, and this is a command');
    const { source, ambient } = ofCommand(unit.source, options);
    return { unit: { ...changed, source }, ambient, sseFirst: false, graceMs };
  }
  if (unit.source.kind === 'broken') throw usageError(unit.source.reason);
  refuse(options, ['env', 'cwd', 'passEnvironment'], 'is for a command, and this is a URL');
  const source = ofUrl(unit.source, options);
  return { unit: { ...changed, source }, ambient: {}, sseFirst: transport === 'sse-first', graceMs };
}

function ofAnything(
  { unit, bridge, ...rest }: GatewayServerDefinition,
  { timeout, ignoreTool }: Pick<AttachCommandOptions, 'timeout' | 'ignoreTool'>,
): GatewayServerDefinition {
  const tools = ignoreTool
    ? { ...unit.tools, deny: [...(unit.tools.deny ?? []), ...ignoreTool] }
    : unit.tools;
  return { ...rest, unit: { ...unit, tools }, bridge: { ...bridge, ...given({ timeoutMs: timeout }) } };
}

function ofCommand(
  { definition }: GatewayServerSource & { kind: 'command' },
  {
    env,
    cwd,
    mode,
    timeout,
    passEnvironment,
  }: Pick<AttachCommandOptions, keyof typeof COMMAND_WORDS | Common>,
): { readonly source: GatewayServerSource; readonly ambient: Readonly<Record<string, string>> } {
  const { inheritEnv: inherited, start = 'lazy', disabled: _, ...rest } = definition;
  const environment = countedEnvironment({
    env: { ...definition.env, ...env },
    inheritEnv: passEnvironment ? 'all' : inherited,
  });
  return {
    ambient: environment.ambient,
    source: {
      kind: 'command',
      definition: {
        ...rest,
        start,
        processes: definition.processes ?? 'shared',
        cwd: cwd === undefined ? definition.cwd : resolve(cwd),
        env: environment.counted,
        ...given({ mode, timeoutMs: timeout }),
      },
    },
  };
}

const COMMAND_WORDS = { env: '--env', cwd: '--cwd', passEnvironment: '--pass-environment' } as const;
type Common = 'mode' | 'timeout';

function ofUrl(
  source: Extract<GatewayServerSource, { kind: 'url' | 'socket' }>,
  { header = [], mode, timeout, transport }: Pick<AttachCommandOptions, 'header' | 'transport' | Common>,
): GatewayServerSource {
  const upstream = { ...source.upstream, ...given({ mode, timeoutMs: timeout }) };
  if (source.kind === 'socket') return { ...source, upstream };
  const { connect } = source;
  const named = Object.entries(connect.headers).map(([name, value]) => [name.toLowerCase(), value]);
  const headers = { ...Object.fromEntries(named), ...headersOf(header.map((text) => expandHeader(text))) };
  // A file cannot forbid the old transport, and so its words do not have it; a connector does.
  const sse = (transport === undefined ? connect.sse : SSE[transport]) as typeof connect.sse;
  return { ...source, upstream, connect: { ...connect, headers, sse } };
}

/** `sse-first` is looked into by whoever connects; where that finds nothing, it is the other way round. */
const SSE = { 'http-first': 'auto', 'http-only': 'never', 'sse-first': 'auto', 'sse-only': 'only' } as const;

const WORDS = { ...COMMAND_WORDS, header: '--header', transport: '--transport' } as const;

function refuse(options: object, names: readonly (keyof typeof WORDS)[], why: string): void {
  const found = names.find((name) => (options as Record<string, unknown>)[name] !== undefined);
  if (found) throw usageError(`${WORDS[found]} ${why}`, 'Leave it out');
}

/** What is there and undefined would make a difference to who shares. */
function given<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
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
