import { projectOf } from '@isthmus/sdk/internal/config/known-files.js';
import {
  type CommandSpec,
  type LimitSettings,
  type ServerSettings,
  type ServerSpec,
  withoutSource,
} from '@isthmus/sdk/internal/config/server-spec.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { resolveDefinition } from '@isthmus/sdk/internal/host/definition.js';
import { connectorOfSpec } from '@isthmus/sdk/internal/host/spec-connector.js';

/** A server of a gateway. */
export type GatewayServerSpec = (ServerSpec & FromFile) | UnusableServer;

interface FromFile {
  /** The folder that relative paths of its configuration file start from. Not set for other servers. */
  readonly project?: string;
}

/** A server whose configuration is wrong. It stays visible, with the reason, in the status and in the list of servers. */
export interface UnusableServer extends ServerSettings {
  readonly kind: 'broken';
  readonly name: string;
  readonly reason: string;
}

/** The spec as a host takes it. */
export function withoutProject(spec: CommandSpec & FromFile): CommandSpec {
  const { project: _project, ...rest } = spec;
  return rest;
}

export interface GatewayDefaults {
  /** The gateway authenticates callers, so each principal gets its own process where a server may keep state. */
  readonly hasPrincipals: boolean;
  /** The limits of the block `gateway`, for what the server leaves out. */
  readonly limits?: LimitSettings | undefined;
}

/**
 * The server with the defaults of a gateway. Commands are started with the gateway: clients do not wait for them, and a
 * command that does not start is reported at once.
 */
export function withGatewayDefaults(
  spec: ServerSpec,
  { hasPrincipals, limits }: GatewayDefaults,
): ServerSpec & FromFile {
  const project = spec.source && projectOf(spec.source.file);
  const own = withoutSource({ ...spec, limits: { ...limits, ...spec.limits } });
  const rest = { ...own, ...(project !== undefined && { project }) };
  if (rest.kind !== 'command') return rest;
  const ofMany = hasPrincipals && !spec.stateless ? 'per-principal' : 'shared';
  return { ...rest, processes: rest.processes ?? ofMany, start: rest.start ?? 'eager' };
}

/** A server that cannot be opened becomes unusable, with the reason. The other servers are not affected. */
export function validateServer(spec: GatewayServerSpec): GatewayServerSpec {
  try {
    if (spec.kind === 'command') resolveDefinition(spec.name, withoutProject(spec));
    else if (spec.kind !== 'broken') connectorOfSpec(spec);
    return spec;
  } catch (error) {
    return { kind: 'broken', name: spec.name, reason: messageOf(error) };
  }
}
