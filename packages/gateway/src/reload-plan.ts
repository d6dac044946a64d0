import { isDeepStrictEqual } from 'node:util';
import { EVERYTHING } from '@isthmus/sdk/internal/bridge/upstream-sessions.js';
import type { CommandSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import type { ServerDefinition } from '@isthmus/sdk/internal/host/definition.js';
import type { AppliedChanges } from './gateway.js';
import { placementOf } from './placement/placement.js';
import { type GatewayServerSpec, withoutProject } from './server-definition.js';

/**
 * Whether the running server can go on with the second spec. For a command that is so when only its process changes: the
 * host replaces that.
 */
export function canStay(before: GatewayServerSpec, after: GatewayServerSpec): boolean {
  if (before.kind !== 'command' || after.kind !== 'command') return isDeepStrictEqual(before, after);
  return isDeepStrictEqual(aroundProcess(before), aroundProcess(after));
}

function aroundProcess(spec: CommandSpec): readonly unknown[] {
  const { processes, timeoutMs, stateless = false, disabled = false, needed = true } = spec;
  return [processes, timeoutMs, stateless, disabled, needed, spec.tools ?? {}, spec.limits ?? {}];
}

/** The names of the servers, by what a new configuration changes about them. */
export function changesBetween(
  before: readonly GatewayServerSpec[],
  after: readonly GatewayServerSpec[],
): AppliedChanges {
  const known = new Map(before.map((spec) => [spec.name, spec]));
  const names = after.map(({ name }) => name);
  const isSame = (spec: GatewayServerSpec) => isDeepStrictEqual(known.get(spec.name), spec);
  return {
    added: names.filter((name) => !known.has(name)),
    changed: after.filter((spec) => known.has(spec.name) && !isSame(spec)).map(({ name }) => name),
    removed: [...known.keys()].filter((name) => !names.includes(name)),
    unchanged: after.filter(isSame).map(({ name }) => name),
  };
}

/** A shared process may start before its first client, and serves all of them: it is told that all can be answered. */
export function hostDefinition(spec: CommandSpec): ServerDefinition {
  const definition = withoutProject(spec);
  return spec.processes === 'per-conversation' ? definition : { ...definition, capabilities: EVERYTHING };
}

/** `isInCluster`: only the home of a server starts it by itself, so the host waits until it is told or needed. */
export function definitionsOf(
  specs: readonly GatewayServerSpec[],
  isInCluster = false,
): Record<string, ServerDefinition> {
  const definitions: Record<string, ServerDefinition> = Object.create(null);
  for (const spec of specs) {
    if (spec.kind !== 'command') continue;
    const waits = isInCluster && placementOf(spec) === 'one';
    definitions[spec.name] = hostDefinition(waits ? { ...spec, start: 'lazy' } : spec);
  }
  return definitions;
}

export function pathsOf(name: string): readonly string[] {
  const segment = encodeURIComponent(name);
  return [`/mcp/${segment}`, `/servers/${segment}/mcp`];
}
