/** What each side says that it can do. */
import { extensionId } from './meta.js';
import { anyObject, boolean, map, object, only, type Shape, since } from './shape.js';

/** By extension id; each value holds its settings (VER-020, VER-023). */
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

/** What `-32021` asks of a client. */
export const clientCapabilities: Shape = object({
  'experimental?': map(anyObject),
  'roots?': anyObject,
  'sampling?': object({ 'context?': anyObject, 'tools?': anyObject }),
  'elicitation?': object({ 'form?': anyObject, 'url?': anyObject }),
  'extensions?': extensions,
});
