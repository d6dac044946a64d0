import { IsthmusError } from '../errors.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';

/**
 * A result without its main part is no result: it is refused here, where the server can be named, and not by
 * a TypeError somewhere in the caller's code.
 */
export function checkShape(method: string, result: JsonObject): void {
  const shape = SHAPES.get(method);
  if (!shape || result['resultType'] === 'input_required') return;
  const { member, isFine } = shape;
  if (isFine(result[member])) return;
  throw new IsthmusError('INVALID_RESULT', `${method} was answered without ${member}`, { sent: 'maybe' });
}

const SHAPES: ReadonlyMap<string, { member: string; isFine: (value: unknown) => boolean }> = new Map([
  ['tools/list', { member: 'tools', isFine: Array.isArray }],
  ['resources/list', { member: 'resources', isFine: Array.isArray }],
  ['resources/templates/list', { member: 'resourceTemplates', isFine: Array.isArray }],
  ['prompts/list', { member: 'prompts', isFine: Array.isArray }],
  ['resources/read', { member: 'contents', isFine: Array.isArray }],
  ['prompts/get', { member: 'messages', isFine: Array.isArray }],
  [
    'completion/complete',
    { member: 'completion', isFine: (value) => isJsonObject(value) && Array.isArray(value['values']) },
  ],
]);
