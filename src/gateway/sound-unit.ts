import { messageOf } from '../errors.js';
import { resolveDefinition, type ServerDefinition } from '../host/definition.js';
import { connectorFor } from '../transport/address.js';
import { httpConnector } from '../transport/http-client/connector.js';
import { brokenUnit, type UnitDefinition } from './unit-definition.js';

/** A definition that nothing can be made of is a server that cannot be used; it must not cost the others theirs. */
export function soundUnit(definition: UnitDefinition): UnitDefinition {
  try {
    check(definition);
    return definition;
  } catch (error) {
    return brokenUnit(definition.name, messageOf(error));
  }
}

function check({ name, source }: UnitDefinition): void {
  if (source.kind === 'command') resolveDefinition(name, source.definition as ServerDefinition);
  else if (source.kind === 'url') httpConnector(source.url, source.connect);
  else if (source.kind === 'socket') connectorFor(source.address);
}
