/** Questions inside a result (MRTR-006): a method and params, and no envelope. */
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { elicitationParams } from './elicitation.js';
import { samplingParams } from './sampling.js';
import { all, anyObject, below, by, inWords, map, object, type Shape } from './shape.js';

const noEnvelope: Shape = (value, path, { complaints }) => {
  if (!isJsonObject(value)) return;
  for (const member of ['jsonrpc', 'id'])
    if (value[member] !== undefined)
      complaints.push({ path: below(path, member), expected: 'nothing', got: inWords(value[member]) });
};

const inputRequest = by('method', () => ({
  'elicitation/create': object({ params: elicitationParams }),
  'sampling/createMessage': object({ params: samplingParams }),
  'roots/list': object({ 'params?': anyObject }),
}));

export const inputRequests: Shape = map(all(inputRequest, noEnvelope));
