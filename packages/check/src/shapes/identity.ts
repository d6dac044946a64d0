/** Who speaks, and how it looks. */
import { mediaType, uri } from './formats.js';
import { all, list, object, oneOf, type Shape, since, string, text } from './shape.js';

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
