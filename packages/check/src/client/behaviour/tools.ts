import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** The tool that every scripted server has. */
export const ECHO: JsonObject = {
  name: 'echo',
  description: 'Says what it was told.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string', default: 'hello' } },
    required: ['text'],
  },
};

/** Another one, which never answers by itself. */
export const SLOW: JsonObject = {
  name: 'slow',
  description: 'Takes longer than anybody waits.',
  inputSchema: { type: 'object', properties: {} },
};

export const SERVER_INFO = { name: 'isthmus-scripted', version: '1.0.0' };

export function textResult(text: string): JsonObject {
  return { content: [{ type: 'text', text }] };
}

/** As modern results are. */
export function complete(result: JsonObject): JsonObject {
  return { resultType: 'complete', ...result, _meta: { [META.serverInfo]: SERVER_INFO } };
}

export function cacheable(result: JsonObject, ttlMs = 0): JsonObject {
  return complete({ ...result, ttlMs, cacheScope: 'private' });
}
