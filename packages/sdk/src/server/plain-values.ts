import type { JsonObject } from '../wire/json-rpc.js';

/**
 * A copy that has only its own members: names such as `constructor` are ordinary names, and one that the
 * client did not send must not seem to be there.
 */
export function withoutPrototype(values: JsonObject): JsonObject {
  return Object.assign(Object.create(null), values);
}
