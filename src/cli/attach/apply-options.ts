import { resolve } from 'node:path';
import type { AttachParams } from '../../daemon/definition.js';
import type { UnitDefinition, UnitSource } from '../../gateway/unit-definition.js';
import { usageError } from '../cli-error.js';
import { headersOf } from '../target.js';
import type { AttachOptions } from './attach-options.js';
import { countedEnvironment } from './counted-environment.js';
import { expandHeader } from './expand-header.js';

/** The server with what the command line says about it, and all that our environment means for it. */
export function applyOptions(
  unit: UnitDefinition,
  options: Omit<AttachOptions, 'config' | 'input' | 'url' | 'daemon'>,
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
  { unit, bridge, ...rest }: UnitDefinition,
  { timeout, ignoreTool }: Pick<AttachOptions, 'timeout' | 'ignoreTool'>,
): UnitDefinition {
  const tools = ignoreTool
    ? { ...unit.tools, deny: [...(unit.tools.deny ?? []), ...ignoreTool] }
    : unit.tools;
  return { ...rest, unit: { ...unit, tools }, bridge: { ...bridge, ...given({ timeoutMs: timeout }) } };
}

function ofCommand(
  { definition }: UnitSource & { kind: 'command' },
  { env, cwd, mode, timeout, passEnvironment }: Pick<AttachOptions, keyof typeof COMMAND_WORDS | Common>,
): { readonly source: UnitSource; readonly ambient: Readonly<Record<string, string>> } {
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
  source: Extract<UnitSource, { kind: 'url' | 'socket' }>,
  { header = [], mode, timeout, transport }: Pick<AttachOptions, 'header' | 'transport' | Common>,
): UnitSource {
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
