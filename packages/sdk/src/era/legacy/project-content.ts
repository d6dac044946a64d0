import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import { isAtLeast, type LegacyRevision } from '../revisions.js';

/** Content as a revision knows it. What it cannot express is put into words (wire sheet §12). */

/**
 * A content block. Audio came with 2025-03-26; resource links, `_meta` on blocks and `lastModified` with
 * 2025-06-18; icons on links with 2025-11-25.
 */
export function projectBlock(block: JsonObject, revision: LegacyRevision): JsonObject {
  if (isAtLeast(revision, '2025-11-25')) return block;
  if (isAtLeast(revision, '2025-06-18'))
    return block['type'] === 'resource_link' ? without(block, 'icons') : block;
  if (block['type'] === 'resource_link') {
    return text(`${String(block['name'] ?? 'resource')}: ${String(block['uri'])}`);
  }
  if (block['type'] === 'audio' && !isAtLeast(revision, '2025-03-26')) {
    return text(`[audio, ${String(block['mimeType'])}: this protocol revision has no audio]`);
  }
  const fitted = without(block, '_meta');
  if (isJsonObject(fitted['resource'])) fitted['resource'] = without(fitted['resource'], '_meta');
  if (fitted['annotations'] !== undefined) fitted['annotations'] = projectAnnotations(fitted['annotations']);
  return fitted;
}

/** An item of `resources/read`: `_meta` since 2025-06-18. */
export function projectContents(item: JsonObject, revision: LegacyRevision): JsonObject {
  return isAtLeast(revision, '2025-06-18') ? item : without(item, '_meta');
}

/** For revisions before 2025-06-18, which do not have `lastModified`. */
export function projectAnnotations(annotations: unknown): unknown {
  return isJsonObject(annotations) ? without(annotations, 'lastModified') : annotations;
}

function text(words: string): JsonObject {
  return { type: 'text', text: words };
}

function without(source: JsonObject, key: string): JsonObject {
  const { [key]: _left, ...rest } = source;
  return rest;
}
