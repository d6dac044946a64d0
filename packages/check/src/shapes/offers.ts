/** What a server offers: tools, templates, prompts. Resources are in `content.ts`. */

import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { annotations } from './content.js';
import { mediaType, uriTemplate } from './formats.js';
import { icons, itemMeta } from './meta.js';
import {
  all,
  anyObject,
  boolean,
  is,
  list,
  map,
  object,
  oneOf,
  only,
  type Shape,
  since,
  string,
} from './shape.js';

const title = since('2025-06-18', string);

const schemaOrBoolean = is('a schema', (value) => typeof value === 'boolean' || isJsonObject(value));

const anySchema = object({
  '$schema?': string,
  'properties?': map(since('2026-07-28', schemaOrBoolean, anyObject)),
  'required?': list(string),
});

/** A JSON Schema of an object. `tools/schemas-valid` checks it against its meta-schema. */
const objectSchema = all(object({ type: oneOf('object') }), anySchema);

export const tool: Shape = object({
  name: string,
  'title?': title,
  'description?': string,
  inputSchema: objectSchema,
  'outputSchema?': since('2026-07-28', anySchema, since('2025-06-18', objectSchema)),
  'annotations?': since(
    '2025-03-26',
    object({
      'title?': string,
      'readOnlyHint?': boolean,
      'destructiveHint?': boolean,
      'idempotentHint?': boolean,
      'openWorldHint?': boolean,
    }),
  ),
  'execution?': only('2025-11-25', object({ 'taskSupport?': oneOf('forbidden', 'optional', 'required') })),
  'icons?': icons,
  '_meta?': itemMeta,
});

export const resourceTemplate: Shape = object({
  uriTemplate,
  name: string,
  'title?': title,
  'description?': string,
  'mimeType?': mediaType,
  'annotations?': annotations,
  'icons?': icons,
  '_meta?': itemMeta,
});

export const prompt: Shape = object({
  name: string,
  'title?': title,
  'description?': string,
  'arguments?': list(object({ name: string, 'title?': title, 'description?': string, 'required?': boolean })),
  'icons?': icons,
  '_meta?': itemMeta,
});
