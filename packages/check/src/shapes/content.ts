/** Blocks of content, and the contents of resources. */

import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { base64, iso8601, mediaType, uri } from './formats.js';
import { icons, itemMeta } from './meta.js';
import {
  all,
  anyObject,
  by,
  count,
  inWords,
  is,
  list,
  object,
  oneOf,
  type Revision,
  type Shape,
  since,
  string,
} from './shape.js';

export const role: Shape = oneOf('user', 'assistant');

export const fraction: Shape = is('a number from 0 to 1', (value) => {
  return typeof value === 'number' && value >= 0 && value <= 1;
});

export const annotations: Shape = object({
  'audience?': list(role),
  'priority?': fraction,
  'lastModified?': since('2025-06-18', iso8601),
});

export const resource: Shape = object({
  uri,
  name: string,
  'title?': since('2025-06-18', string),
  'description?': string,
  'mimeType?': mediaType,
  'size?': count,
  'annotations?': annotations,
  'icons?': icons,
  '_meta?': itemMeta,
});

/** Exactly one of text and blob (RES-007). */
const eitherTextOrBlob: Shape = (value, path, { complaints }) => {
  if (!isJsonObject(value)) return;
  const given = ['text', 'blob'].filter((member) => value[member] !== undefined);
  if (given.length === 1) return;
  complaints.push({ path, expected: 'either text or blob', got: given.length === 0 ? 'neither' : 'both' });
};

export const resourceContents: Shape = all(
  object({ uri, 'mimeType?': mediaType, 'text?': string, 'blob?': base64, '_meta?': itemMeta }),
  eitherTextOrBlob,
);

export const textBlock: Shape = object({
  text: string,
  'annotations?': annotations,
  '_meta?': itemMeta,
});

/** Images and audio. */
export const mediaBlock: Shape = object({
  data: base64,
  mimeType: mediaType,
  'annotations?': annotations,
  '_meta?': itemMeta,
});

const embedded = object({ resource: resourceContents, 'annotations?': annotations, '_meta?': itemMeta });

/** The page on prompts also requires a media type (PROMPT-007). */
const embeddedInPrompt = all(embedded, (value, path, context) => {
  if (!isJsonObject(value) || !isJsonObject(value['resource'])) return;
  if (value['resource']['mimeType'] !== undefined) return;
  context.complaints.push({
    path: `${path}.resource.mimeType`,
    expected: 'a media type',
    got: inWords(undefined),
  });
});

/** Content of tool results. */
export const contentBlock: Shape = by('type', (revision) => blocks(revision, embedded));

export const promptBlock: Shape = by('type', (revision) => blocks(revision, embeddedInPrompt));

function blocks(revision: Revision, resource_: Shape): Record<string, Shape> {
  return {
    text: textBlock,
    image: mediaBlock,
    ...(revision >= '2025-03-26' && { audio: mediaBlock }),
    ...(revision >= '2025-06-18' && { resource_link: resource }),
    resource: resource_,
  };
}

/** `structuredContent`: an object, and any JSON value since 2026-07-28. */
export const structured: Shape = since('2026-07-28', () => {}, since('2025-06-18', anyObject));
