import type { Mode } from '../../client/options.js';
import type { UnitDefinition, UnitSource } from '../../gateway/unit-definition.js';
import { headersOf, type Target, type TargetSettings } from '../target.js';
import { nameOfServer } from './name-of-server.js';

export interface SingleSettings extends TargetSettings {
  readonly mode: Mode;
  readonly name: string | undefined;
  readonly processes: 'shared' | 'per-client' | 'per-principal';
  readonly stateless: boolean;
  readonly timeoutMs: number | undefined;
  readonly passEnvironment: boolean;
  readonly maxConcurrent: number | undefined;
}

/** The one server of the command line, as a gateway takes it. */
export function unitOfTarget(target: Target, settings: SingleSettings): UnitDefinition {
  const { timeoutMs, stateless, maxConcurrent } = settings;
  return {
    name: settings.name ?? nameOf(target),
    source: sourceOf(target, settings),
    bridge: { stateless, ...(timeoutMs !== undefined && { timeoutMs }) },
    unit: {
      disabled: false,
      needed: true,
      tools: {},
      limits: maxConcurrent === undefined ? {} : { maxConcurrent },
    },
  };
}

/** What it is called in lines about it. */
export function nameOf(target: Target): string {
  if (target.kind === 'command') return nameOfServer(target.command, target.args);
  return target.kind === 'url' ? target.url : target.address;
}

function sourceOf(target: Target, settings: SingleSettings): UnitSource {
  const {
    mode,
    processes,
    timeoutMs,
    env = {},
    cwd = process.cwd(),
    header = [],
    passEnvironment,
  } = settings;
  const upstream = { mode, ...(timeoutMs !== undefined && { timeoutMs }) };
  if (target.kind === 'socket') return { kind: 'socket', address: target.address, upstream };
  if (target.kind === 'url') {
    return { kind: 'url', url: target.url, connect: { headers: headersOf(header), sse: 'auto' }, upstream };
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
      // Whoever runs it is told how its first start goes, step by step.
      start: 'lazy',
      ...(passEnvironment && { inheritEnv: 'all' as const }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    },
  };
}
