import type { JsonObject } from '../wire/json-rpc.js';
import type { CallToolResult } from '../wire/model.js';
import { callForModel, type LlmTools, parametersOf, partsOf, textOf } from './parts.js';

/** What a tool returns to the model in the AI SDK. */
export type AiSdkOutput =
  | { type: 'text'; value: string }
  | { type: 'error-text'; value: string }
  | { type: 'content'; value: AiSdkPart[] };

/** A part of such an output. */
export type AiSdkPart =
  | { type: 'text'; text: string }
  | { type: 'image-data'; data: string; mediaType: string }
  | { type: 'file-data'; data: string; mediaType: string };

/** The definition of a tool, as `dynamicTool` of the AI SDK takes it. */
export interface AiSdkToolDefinition<Schema> {
  description?: string;
  inputSchema: Schema;
  execute: (input: unknown, options: { abortSignal?: AbortSignal }) => Promise<CallToolResult>;
  toModelOutput: (given: { output: unknown }) => AiSdkOutput;
}

/**
 * The tools for `generateText({ tools })` of the AI SDK (6 and 7), which calls them by itself. Its own functions
 * `jsonSchema` and `dynamicTool` are passed in, so that this package does not need it.
 */
export function toAiSdkTools<Schema, Tool>(
  tools: LlmTools,
  ai: {
    readonly jsonSchema: (schema: JsonObject) => Schema;
    readonly dynamicTool: (definition: AiSdkToolDefinition<Schema>) => Tool;
  },
): Record<string, Tool> {
  const entries = tools.list.map((each): [string, Tool] => {
    const definition: AiSdkToolDefinition<Schema> = {
      ...(each.tool.description !== undefined && { description: each.tool.description }),
      inputSchema: ai.jsonSchema(parametersOf(each)),
      execute: (input, { abortSignal }) => callForModel(tools, each.name, input, abortSignal),
      toModelOutput: ({ output }) => toAiSdkOutput(output as CallToolResult),
    };
    return [each.name, ai.dynamicTool(definition)];
  });
  return Object.fromEntries(entries);
}

/** A result of MCP as the output of a tool of the AI SDK. */
export function toAiSdkOutput(result: CallToolResult): AiSdkOutput {
  if (result.isError === true) return { type: 'error-text', value: textOf(result) };
  const parts = partsOf(result);
  if (!parts.some(({ kind }) => kind === 'media')) return { type: 'text', value: textOf(result) };
  const value = parts.map((part): AiSdkPart => {
    if (part.kind === 'text') return { type: 'text', text: part.text };
    const { mimeType: mediaType, data } = part;
    return { type: mediaType.startsWith('image/') ? 'image-data' : 'file-data', data, mediaType };
  });
  return { type: 'content', value };
}
