import type { JsonObject } from '../wire/json-rpc.js';
import type { CallToolResult } from '../wire/model.js';
import { callForModel, described, type LlmTools, parametersOf, partsOf } from './parts.js';

/** A tool as the Messages API of Anthropic takes it. */
export interface AnthropicTool {
  name: string;
  description?: string;
  input_schema: JsonObject & { type: 'object' };
}

/** A `tool_use` block of an answer. */
export interface AnthropicToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** A `tool_result` block for the next message of the user. */
export interface AnthropicToolResult {
  type: 'tool_result';
  tool_use_id: string;
  content?: AnthropicContent[];
  is_error?: boolean;
}

/** A block inside of a `tool_result`. */
export type AnthropicContent =
  | { type: 'text'; text: string }
  | { type: 'image'; source: { type: 'base64'; media_type: AnthropicImageType; data: string } };

/** The images that the API takes. */
export type AnthropicImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';

/** The tools for `messages.create({ tools })` of Anthropic. */
export function toAnthropicTools(tools: Pick<LlmTools, 'list'>): AnthropicTool[] {
  return tools.list.map((each) => ({
    name: each.name,
    ...(each.tool.description !== undefined && { description: each.tool.description }),
    input_schema: parametersOf(each),
  }));
}

/** Runs a `tool_use` block. A failure becomes a result with `is_error`, which the model can read. */
export async function callAnthropicTool(
  tools: LlmTools,
  use: AnthropicToolUse,
  options: { readonly signal?: AbortSignal } = {},
): Promise<AnthropicToolResult> {
  return toAnthropicResult(use.id, await callForModel(tools, use.name, use.input, options.signal));
}

/** A result of MCP as a `tool_result` block. */
export function toAnthropicResult(toolUseId: string, result: CallToolResult): AnthropicToolResult {
  const content = partsOf(result).map((part): AnthropicContent => {
    if (part.kind === 'text') return { type: 'text', text: part.text };
    const { mimeType, data } = part;
    return isImageType(mimeType)
      ? { type: 'image', source: { type: 'base64', media_type: mimeType, data } }
      : { type: 'text', text: described(part) };
  });
  // The API refuses empty text.
  const shown = content.filter((each) => each.type !== 'text' || each.text !== '');
  return {
    type: 'tool_result',
    tool_use_id: toolUseId,
    ...(shown.length > 0 && { content: shown }),
    ...(result.isError === true && { is_error: true }),
  };
}

function isImageType(mimeType: string): mimeType is AnthropicImageType {
  return /^image\/(?:jpeg|png|gif|webp)$/.test(mimeType);
}
