import type { GatewayServerDefinition } from '../server-definition.js';
import type { AttachParams } from './definition.js';

/** The definition under the name that it has here, with exactly the variables that the shim has found. */
export function toOurs(name: string, { unit, ambient }: AttachParams): GatewayServerDefinition {
  const { source } = unit;
  if (source.kind !== 'command') return { ...unit, name };
  const { definition } = source;
  const env = { ...ambient, ...definition.env };
  return { ...unit, name, source: { kind: 'command', definition: { ...definition, env, inheritEnv: [] } } };
}
