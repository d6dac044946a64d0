import { given, type ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
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
  const { upstreamProtocol: mode, statelessServer: stateless, ignoreTool: deny, maxConcurrent } = options;
  const spec: ServerSpec = {
    ...withSettings(target, targetSettingsOf(options)),
    name,
    mode,
    ...given({
      stateless,
      timeoutMs: options.timeout,
      connectTimeoutMs: options.connectTimeout,
      tools: deny && { deny },
      limits: maxConcurrent === undefined ? undefined : { maxConcurrent },
    }),
  };
  if (spec.kind !== 'command') return spec;
  const processes = options.processes ?? byDefault;
  return {
    ...spec,
    start,
    processes: processes === 'per-client' ? 'per-conversation' : processes,
    ...(options.passEnvironment && { inheritEnv: 'all' as const }),
    ...given({ maxParked: options.maxParked }),
  };
}

function targetSettingsOf({ cwd, env, header, transport }: ServeCommandOptions): TargetSettings {
  return { cwd, env, header, transport: transport && TRANSPORTS[transport] };
}

const TRANSPORTS = { 'http-first': 'auto', 'http-only': 'http-only', 'sse-only': 'sse' } as const;
