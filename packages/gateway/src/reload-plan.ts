import { isDeepStrictEqual } from 'node:util';
import { EVERYTHING } from '@isthmus/sdk/internal/bridge/upstream-sessions.js';
import type { HostPart } from '@isthmus/sdk/internal/config/index.js';
import type { ServerDefinition } from '@isthmus/sdk/internal/host/definition.js';
import type { GatewayServerDefinition } from './server-definition.js';
import { type GatewayServerStatus, isHealthy } from './server-state.js';

/** Whether the unit of the first definition can go on with the second: only its process is another. */
export function canStay(before: GatewayServerDefinition, after: GatewayServerDefinition): boolean {
  if (!isDeepStrictEqual([before.bridge, before.unit], [after.bridge, after.unit])) return false;
  if (before.source.kind !== 'command' || after.source.kind !== 'command') {
    return isDeepStrictEqual(before.source, after.source);
  }
  return isDeepStrictEqual(before.source.definition.processes, after.source.definition.processes);
}

/** What a host is told of a command. It may be started before anybody is there, and has to serve everybody. */
export function hostDefinition(part: HostPart): ServerDefinition {
  const definition = part as ServerDefinition;
  const isOwn = definition.processes === 'per-conversation';
  return isOwn ? definition : { ...definition, capabilities: EVERYTHING };
}

export function definitionsOf(units: readonly GatewayServerDefinition[]): Record<string, ServerDefinition> {
  const definitions: Record<string, ServerDefinition> = Object.create(null);
  for (const { name, source } of units) {
    if (source.kind !== 'command') continue;
    definitions[name] = hostDefinition(source.definition);
  }
  return definitions;
}

export function pathsOf(name: string): readonly string[] {
  const segment = encodeURIComponent(name);
  return [`/mcp/${segment}`, `/servers/${segment}/mcp`];
}

export function isNotMissed({ needed, state }: Pick<GatewayServerStatus, 'needed' | 'state'>): boolean {
  return !needed || state === 'off' || isHealthy({ state });
}
