import type { JsonObject } from '../wire/json-rpc.js';
import type { CallToolResult } from '../wire/model.js';
import { callForModel, described, type LlmTools, parametersOf, partsOf, textOf } from './parts.js';

/** A tool as the Chat Completions API of OpenAI takes it. */
export interface OpenAiChatTool {
  type: 'function';
  function: { name: string; description?: string; parameters: JsonObject };
}

/** A tool call of an answer of Chat Completions. */
export interface OpenAiChatToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The message with the result of a tool call. It can hold text only. */
export interface OpenAiToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string;
}

/** A tool as the Responses API of OpenAI takes it. */
export interface OpenAiResponsesTool {
  type: 'function';
  name: string;
  description?: string;
  parameters: JsonObject;
  strict: false;
}

/** A `function_call` item of an answer of the Responses API. */
export interface OpenAiFunctionCall {
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

/** The item with the result of a function call. */
export interface OpenAiFunctionOutput {
  type: 'function_call_output';
  call_id: string;
  output: string | OpenAiOutputPart[];
}

/** A part of such a result. */
export type OpenAiOutputPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string };

/** The tools for `chat.completions.create({ tools })` of OpenAI. */
export function toOpenAiChatTools(tools: Pick<LlmTools, 'list'>): OpenAiChatTool[] {
  return tools.list.map((each) => ({
    type: 'function',
    function: {
      name: each.name,
      ...(each.tool.description !== undefined && { description: each.tool.description }),
      parameters: parametersOf(each),
    },
  }));
}

/** Runs a tool call of Chat Completions. A failure becomes text that the model can read. */
export async function callOpenAiChatTool(
  tools: LlmTools,
  call: OpenAiChatToolCall,
  options: { readonly signal?: AbortSignal } = {},
): Promise<OpenAiToolMessage> {
  const { name, arguments: args } = call.function;
  return toOpenAiToolMessage(call.id, await callForModel(tools, name, args, options.signal));
}

/** A result of MCP as a message of Chat Completions. */
export function toOpenAiToolMessage(toolCallId: string, result: CallToolResult): OpenAiToolMessage {
  return { role: 'tool', tool_call_id: toolCallId, content: markedText(result) };
}

/** The tools for `responses.create({ tools })` of OpenAI. */
export function toOpenAiResponsesTools(tools: Pick<LlmTools, 'list'>): OpenAiResponsesTool[] {
  return tools.list.map((each) => ({
    type: 'function',
    name: each.name,
    ...(each.tool.description !== undefined && { description: each.tool.description }),
    parameters: parametersOf(each),
    // Strict schemas must list every property as required; those of MCP need not.
    strict: false,
  }));
}

/** Runs a function call of the Responses API. A failure becomes text that the model can read. */
export async function callOpenAiResponsesTool(
  tools: LlmTools,
  call: OpenAiFunctionCall,
  options: { readonly signal?: AbortSignal } = {},
): Promise<OpenAiFunctionOutput> {
  return toOpenAiFunctionOutput(
    call.call_id,
    await callForModel(tools, call.name, call.arguments, options.signal),
  );
}

/** A result of MCP as an item for the Responses API. */
export function toOpenAiFunctionOutput(callId: string, result: CallToolResult): OpenAiFunctionOutput {
  const parts = partsOf(result);
  const isPlain =
    result.isError === true || !parts.some((part) => part.kind === 'media' && isImage(part.mimeType));
  const output = isPlain
    ? markedText(result)
    : parts.map((part): OpenAiOutputPart => {
        if (part.kind === 'text') return { type: 'input_text', text: part.text };
        const { mimeType, data } = part;
        return isImage(mimeType)
          ? { type: 'input_image', image_url: `data:${mimeType};base64,${data}` }
          : { type: 'input_text', text: described(part) };
      });
  return { type: 'function_call_output', call_id: callId, output };
}

function isImage(mimeType: string): boolean {
  return mimeType.startsWith('image/');
}

/** The API has no mark for errors. */
function markedText(result: CallToolResult): string {
  return result.isError === true ? `Error: ${textOf(result)}` : textOf(result);
}
