import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { resolveDefinition, type ServerDefinition } from '@isthmus/sdk/internal/host/definition.js';
import { connectorFor } from '@isthmus/sdk/internal/transport/address.js';
import { httpConnector } from '@isthmus/sdk/internal/transport/http-client/connector.js';
import { brokenServer, type GatewayServerDefinition } from './server-definition.js';

/** A definition that nothing can be made of is a server that cannot be used; it must not cost the others theirs. */
export function validateServer(definition: GatewayServerDefinition): GatewayServerDefinition {
  try {
    check(definition);
    return definition;
  } catch (error) {
    return brokenServer(definition.name, messageOf(error));
  }
}

function check({ name, source }: GatewayServerDefinition): void {
  if (source.kind === 'command') resolveDefinition(name, source.definition as ServerDefinition);
  else if (source.kind === 'url') httpConnector(source.url, source.connect);
  else if (source.kind === 'socket') connectorFor(source.address);
}
