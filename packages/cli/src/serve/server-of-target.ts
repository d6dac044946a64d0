import type {
  GatewayServerDefinition,
  GatewayServerSource,
} from '@isthmus/gateway/internal/server-definition.js';
import type { Mode } from '@isthmus/sdk/internal/client/options.js';
import { type CommandTarget, headersOf, type TargetSettings } from '../target.js';
import { nameOfServer } from './name-of-server.js';

export interface SingleSettings extends TargetSettings {
  readonly mode: Mode;
  readonly name: string | undefined;
  readonly processes: 'shared' | 'per-client' | 'per-principal';
  readonly stateless: boolean;
  readonly timeoutMs: number | undefined;
  readonly connectTimeoutMs: number | undefined;
  readonly passEnvironment: boolean;
  readonly ignoredTools: readonly string[] | undefined;
  readonly maxConcurrent: number | undefined;
  readonly maxParked?: number | undefined;
  /** Default `lazy`: whoever runs it is told how its first start goes, step by step. */
  readonly start?: 'lazy' | 'eager';
}

/** The one server of the command line, as a gateway takes it. */
export function unitOfTarget(target: CommandTarget, settings: SingleSettings): GatewayServerDefinition {
  const { timeoutMs, stateless, maxConcurrent, ignoredTools: deny } = settings;
  return {
    name: settings.name ?? nameOf(target),
    source: sourceOf(target, settings),
    bridge: { stateless, ...(timeoutMs !== undefined && { timeoutMs }) },
    unit: {
      disabled: false,
      needed: true,
      tools: deny ? { deny } : {},
      limits: maxConcurrent === undefined ? {} : { maxConcurrent },
    },
  };
}

/** What it is called in lines about it. */
export function nameOf(target: CommandTarget): string {
  if (target.kind === 'command') return nameOfServer(target.command, target.args);
  return target.kind === 'url' ? target.url : target.address;
}

function sourceOf(target: CommandTarget, settings: SingleSettings): GatewayServerSource {
  const {
    mode,
    processes,
    timeoutMs,
    connectTimeoutMs,
    env = {},
    cwd = process.cwd(),
    header = [],
    sse = 'auto',
    passEnvironment,
    maxParked,
  } = settings;
  const times = {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(connectTimeoutMs !== undefined && { connectTimeoutMs }),
  };
  const upstream = { mode, ...times };
  if (target.kind === 'socket') return { kind: 'socket', address: target.address, upstream };
  if (target.kind === 'url') {
    // A file cannot forbid the old transport, and so its words do not have it; a connector does.
    const connect = { headers: headersOf(header), sse: sse as 'auto' | 'only' };
    return { kind: 'url', url: target.url, connect, upstream };
  }
  const { command, args } = target;
  return {
    kind: 'command',
    definition: {
      command,
      args,
      env,
      cwd,
      mode,
      processes: processes === 'per-client' ? 'per-conversation' : processes,
      start: settings.start ?? 'lazy',
      ...(passEnvironment && { inheritEnv: 'all' as const }),
      ...(maxParked !== undefined && { maxParked }),
      ...times,
    },
  };
}
