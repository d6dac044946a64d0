import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import { deriveText } from '../../wire/result-text.js';
import { isAtLeast, type LegacyRevision } from '../revisions.js';

/**
 * Fits a result to the revision of the session (wire sheet §12). What a revision cannot express is left out or becomes
 * text, so that a client of that revision does not reject the result.
 */
export function projectResult(method: string, result: JsonObject, revision: LegacyRevision): JsonObject {
  const plain = withoutModernFields(result);
  switch (method) {
    case 'tools/call':
    case 'tasks/result':
      return projectToolResult(plain, revision);
    case 'tools/list':
      return mapList(plain, 'tools', (tool) => projectTool(tool, revision));
    case 'resources/list':
      return mapList(plain, 'resources', (resource) => projectDefinition(resource, revision));
    case 'resources/templates/list':
      return mapList(plain, 'resourceTemplates', (template) => projectDefinition(template, revision));
    case 'prompts/list':
      return mapList(plain, 'prompts', (prompt) => projectPrompt(prompt, revision));
    case 'resources/read':
      return mapList(plain, 'contents', (item) => projectContents(item, revision));
    case 'prompts/get':
      if (isAtLeast(revision, '2025-11-25')) return plain;
      return mapList(plain, 'messages', (message) => ({
        ...message,
        content: isJsonObject(message['content'])
          ? projectBlock(message['content'], revision)
          : message['content'],
      }));
    default:
      return plain;
  }
}

function withoutModernFields(result: JsonObject): JsonObject {
  if (
    result['resultType'] === undefined &&
    result['ttlMs'] === undefined &&
    result['cacheScope'] === undefined
  ) {
    return result;
  }
  const { resultType, ttlMs, cacheScope, ...plain } = result;
  deriveText(result, plain, { left: ['resultType', 'ttlMs', 'cacheScope'], before: {}, after: {} });
  return plain;
}

function mapList(result: JsonObject, key: string, project: (item: JsonObject) => JsonObject): JsonObject {
  const list = result[key];
  return Array.isArray(list) ? { ...result, [key]: list.filter(isJsonObject).map(project) } : result;
}

function projectTool(tool: JsonObject, revision: LegacyRevision): JsonObject {
  if (!isAtLeast(revision, '2025-06-18')) {
    const kept = pick(tool, ['name', 'description', 'inputSchema']);
    if (isAtLeast(revision, '2025-03-26') && tool['annotations'] !== undefined) {
      kept['annotations'] = tool['annotations'];
    }
    return kept;
  }
  const { outputSchema, icons, ...rest } = tool;
  const fitted: JsonObject = rest;
  // TOOL-008: a legacy output schema has an object root.
  if (isJsonObject(outputSchema) && outputSchema['type'] === 'object') fitted['outputSchema'] = outputSchema;
  if (icons !== undefined && isAtLeast(revision, '2025-11-25')) fitted['icons'] = icons;
  return fitted;
}

function projectDefinition(item: JsonObject, revision: LegacyRevision): JsonObject {
  if (isAtLeast(revision, '2025-11-25')) return item;
  const { icons, ...rest } = item;
  if (isAtLeast(revision, '2025-06-18')) return rest;
  const kept = pick(rest, ['uri', 'uriTemplate', 'name', 'description', 'mimeType', 'size', 'annotations']);
  if (kept['annotations'] !== undefined) kept['annotations'] = projectAnnotations(kept['annotations']);
  return kept;
}

function projectPrompt(prompt: JsonObject, revision: LegacyRevision): JsonObject {
  if (isAtLeast(revision, '2025-11-25')) return prompt;
  const { icons, ...rest } = prompt;
  if (isAtLeast(revision, '2025-06-18')) return rest;
  const kept = pick(rest, ['name', 'description', 'arguments']);
  const list = kept['arguments'];
  if (Array.isArray(list)) {
    kept['arguments'] = list.map((argument) => pick(argument, ['name', 'description', 'required']));
  }
  return kept;
}

function projectToolResult(result: JsonObject, revision: LegacyRevision): JsonObject {
  const structured = result['structuredContent'];
  // Structured content came with 2025-06-18, and only as an object (TOOL-008).
  const kept = isAtLeast(revision, '2025-06-18') && isJsonObject(structured);
  if (isAtLeast(revision, '2025-11-25') && (kept || structured === undefined)) return result;
  const rest = without(result, 'structuredContent');
  const content = withText(rest['content'], kept ? undefined : structured);
  return {
    ...rest,
    ...(kept && { structuredContent: structured }),
    content: content.map((block) => projectBlock(block, revision)),
  };
}

/** Structured content must not be lost: a result without blocks gets it as text. */
function withText(content: unknown, structured: unknown): JsonObject[] {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  if (blocks.length > 0 || structured === undefined) return blocks;
  return [{ type: 'text', text: JSON.stringify(structured) }];
}

function pick(source: JsonObject, keys: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const key of keys) if (source[key] !== undefined) picked[key] = source[key];
  return picked;
}

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
function projectContents(item: JsonObject, revision: LegacyRevision): JsonObject {
  return isAtLeast(revision, '2025-06-18') ? item : without(item, '_meta');
}

/** For revisions before 2025-06-18, which do not have `lastModified`. */
function projectAnnotations(annotations: unknown): unknown {
  return isJsonObject(annotations) ? without(annotations, 'lastModified') : annotations;
}

function text(content: string): JsonObject {
  return { type: 'text', text: content };
}

function without(source: JsonObject, key: string): JsonObject {
  const { [key]: _left, ...rest } = source;
  return rest;
}
