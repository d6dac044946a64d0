import type { ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { settingsOfFlags } from '../server-flags.js';
import { type CommandTarget, type TargetSettings, withSettings } from '../target.js';
import type { ServeCommandOptions } from './serve-options.js';

export interface ServedSpecDefaults {
  /** For `--processes` that was not given. */
  readonly processes: 'shared' | 'per-client' | 'per-principal';
  /** Default `lazy`: `serve` starts a single server itself and reports how its first start goes. */
  readonly start?: 'lazy' | 'eager';
  /** Default: `--name`, or a name made of the command or the address. */
  readonly name?: string;
}

/** A server of the command line, with what the options of `serve` say about it. */
export function servedSpec(
  target: CommandTarget,
  options: ServeCommandOptions,
  { processes: byDefault, start = 'lazy', name = options.name ?? target.name }: ServedSpecDefaults,
): ServerSpec {
  const spec: ServerSpec = {
    ...withSettings(target, targetSettingsOf(options)),
    name,
    mode: 'auto',
    ...settingsOfFlags('serve', options, target.kind),
  };
  if (spec.kind !== 'command') return spec;
  const ofMany = byDefault === 'per-client' ? 'per-conversation' : byDefault;
  return { ...spec, start, processes: spec.processes ?? ofMany };
}

function targetSettingsOf({ cwd, env, header, transport }: ServeCommandOptions): TargetSettings {
  return { cwd, env, header, transport: transport && TRANSPORTS[transport] };
}

const TRANSPORTS = { 'http-first': 'auto', 'http-only': 'http-only', 'sse-only': 'sse' } as const;
