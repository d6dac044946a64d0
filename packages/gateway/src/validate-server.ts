import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { resolveDefinition } from '@isthmus/sdk/internal/host/definition.js';
import { connectorOfSpec } from '@isthmus/sdk/internal/host/spec-connector.js';
import type { GatewayServerSpec } from './server-definition.js';

/** A server that cannot be opened becomes unusable, with the reason. The other servers are not affected. */
export function validateServer(spec: GatewayServerSpec): GatewayServerSpec {
  try {
    if (spec.kind === 'command') resolveDefinition(spec.name, spec);
    else if (spec.kind !== 'broken') connectorOfSpec(spec);
    return spec;
  } catch (error) {
    return { kind: 'broken', name: spec.name, reason: messageOf(error) };
  }
}
