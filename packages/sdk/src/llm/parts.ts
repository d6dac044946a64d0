import { messageOf } from '../errors.js';
import type { HostTool, HostTools } from '../host/host-tools.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type { CallToolResult, ContentBlock } from '../wire/model.js';

/** What a converter needs of the tools: `host.tools()` has it. */
export type LlmTools = Pick<HostTools, 'list' | 'call'>;

/** A part of a result, as every API can show it, or as text that stands for it. */
export type ResultPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'media'; readonly mimeType: string; readonly data: string };

/** The input schema of a tool. Some APIs refuse an object without `properties`. */
export function parametersOf({ tool }: HostTool): JsonObject & { type: 'object' } {
  return { properties: {}, ...tool.inputSchema, type: 'object' };
}

/** Calls a tool. A failure becomes a result that the model can read. */
export async function callForModel(
  tools: LlmTools,
  name: string,
  given: unknown,
  signal?: AbortSignal,
): Promise<CallToolResult> {
  try {
    return await tools.call(name, readArguments(given), signal ? { signal } : undefined);
  } catch (error) {
    if (signal?.aborted) throw error;
    return { content: [{ type: 'text', text: messageOf(error) }], isError: true };
  }
}

/** OpenAI sends the arguments as JSON text, which the model may have got wrong. */
function readArguments(given: unknown): JsonObject {
  const args: unknown = typeof given === 'string' ? JSON.parse(given === '' ? '{}' : given) : (given ?? {});
  if (!isJsonObject(args)) throw new TypeError('The arguments must be an object');
  return args;
}

/** The parts of a result. Without content, the structured content as text. */
export function partsOf({ content = [], structuredContent }: CallToolResult): ResultPart[] {
  if (content.length > 0) return content.map(toPart);
  return structuredContent === undefined ? [] : [{ kind: 'text', text: JSON.stringify(structuredContent) }];
}

function toPart(block: ContentBlock): ResultPart {
  switch (block.type) {
    case 'text':
      return { kind: 'text', text: block.text };
    case 'image':
    case 'audio':
      return { kind: 'media', mimeType: block.mimeType, data: block.data };
    case 'resource_link':
      return { kind: 'text', text: `${block.title ?? block.name}: ${block.uri}` };
    case 'resource': {
      const { resource } = block;
      if ('text' in resource && typeof resource.text === 'string')
        return { kind: 'text', text: resource.text };
      const { blob, mimeType = 'application/octet-stream' } = resource as { blob: string; mimeType?: string };
      return { kind: 'media', mimeType, data: blob };
    }
    default:
      return { kind: 'text', text: JSON.stringify(block) };
  }
}

/** Stands for media that an API cannot show. */
export function described({ mimeType, data }: Extract<ResultPart, { kind: 'media' }>): string {
  return `[${mimeType}, ${Math.floor((data.length * 3) / 4)} bytes, cannot be shown here]`;
}

/** All parts as one text. */
export function textOf(result: CallToolResult): string {
  return partsOf(result)
    .map((part) => (part.kind === 'text' ? part.text : described(part)))
    .join('\n');
}
