/** What each side says of itself: identity, `_meta` and capabilities. */

import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { mediaType, uri } from './formats.js';
import {
  all,
  anyObject,
  boolean,
  list,
  map,
  object,
  oneOf,
  only,
  type Shape,
  since,
  string,
  stringOrInteger,
  text,
} from './shape.js';

const iconSource = all(
  uri,
  text('an http:, https: or data: URI', (value) => /^(?:https?|data):/i.test(value)),
);

/** Known since 2025-11-25. */
export const icons: Shape = since(
  '2025-11-25',
  list(
    object({
      src: iconSource,
      'mimeType?': mediaType,
      'sizes?': list(string),
      'theme?': oneOf('light', 'dark'),
    }),
  ),
);

export const implementation: Shape = object({
  name: string,
  version: string,
  'title?': since('2025-06-18', string),
  'description?': since('2025-11-25', string),
  'websiteUrl?': since('2025-11-25', uri),
  'icons?': icons,
});

const LABEL = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
const PREFIX = `${LABEL}(?:\\.${LABEL})*/`;
const NAME = '(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?';

const metaKey = text('keys such as "name" or "com.example/name"', (key) => KEY.test(key));
const KEY = new RegExp(`^(?:${PREFIX})?${NAME}$`);

/** Keys of `extensions`: the prefix is mandatory (VER-020). */
const extensionId = text('keys with a prefix such as "com.example/name"', (key) => ID.test(key));
const ID = new RegExp(`^${PREFIX}${NAME}$`);

/** The key of 2025-11-25 that links a message to a task. */
export const RELATED_TASK = 'io.modelcontextprotocol/related-task';

/** W3C Trace Context and Baggage (META-020). */
const traces = object({
  'traceparent?': text('a traceparent of W3C Trace Context', isTraceparent),
  'tracestate?': text('a tracestate of W3C Trace Context', (value) => isListOf(value, STATE)),
  'baggage?': text('W3C Baggage', (value) => isListOf(value, BAG)),
});

/** The grammar of keys came with 2025-06-18. */
export function meta(members: Readonly<Record<string, Shape>> = {}): Shape {
  return all(
    object(members),
    since(
      '2025-06-18',
      map(() => {}, metaKey),
    ),
    since('2026-07-28', traces),
  );
}

/** `_meta` of a tool, a content block and so on, which came with 2025-06-18. */
export const itemMeta = since('2025-06-18', meta());

export const resultMeta = meta({
  [`${META.serverInfo}?`]: since('2026-07-28', implementation),
  [`${RELATED_TASK}?`]: only('2025-11-25', object({ taskId: string })),
});

export const notificationMeta = meta({
  [`${META.subscriptionId}?`]: since('2026-07-28', stringOrInteger),
  [`${RELATED_TASK}?`]: only('2025-11-25', object({ taskId: string })),
});

export const requestMeta = meta({
  'progressToken?': stringOrInteger,
  [`${RELATED_TASK}?`]: only('2025-11-25', object({ taskId: string })),
});

/** `_meta` of messages on a listen stream (META-013, SUB-008). */
export const streamMeta = meta({ [META.subscriptionId]: stringOrInteger });

function isTraceparent(value: string): boolean {
  const [, version, trace, span, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(value) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return false;
  return /[^0]/.test(trace ?? '') && /[^0]/.test(span ?? '');
}

const STATE =
  /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const BAG = /^[^\s,;=]+\s*=\s*[^\s,;"\\]*(?:\s*;.*)?$/;

/** W3C allows 8,192 bytes for a whole baggage. */
const MAX_MEMBER = 8192;

function isListOf(value: string, member: RegExp): boolean {
  const parts = value.split(',').map((part) => part.trim());
  return parts.every((part) => part === '' || (part.length <= MAX_MEMBER && member.test(part)));
}

/** Settings by extension id (VER-020, VER-023). */
const extensions = since('2026-07-28', map(anyObject, extensionId));

export const serverCapabilities: Shape = object({
  'experimental?': map(anyObject),
  'logging?': anyObject,
  'completions?': since('2025-03-26', anyObject),
  'prompts?': object({ 'listChanged?': boolean }),
  'resources?': object({ 'subscribe?': boolean, 'listChanged?': boolean }),
  'tools?': object({ 'listChanged?': boolean }),
  'tasks?': only(
    '2025-11-25',
    object({
      'list?': anyObject,
      'cancel?': anyObject,
      'requests?': object({ 'tools?': object({ 'call?': anyObject }) }),
    }),
  ),
  'extensions?': extensions,
});

/** In the data of error `-32021`. */
export const clientCapabilities: Shape = object({
  'experimental?': map(anyObject),
  'roots?': anyObject,
  'sampling?': object({ 'context?': anyObject, 'tools?': anyObject }),
  'elicitation?': object({ 'form?': anyObject, 'url?': anyObject }),
  'extensions?': extensions,
});
