/** Hands the tools of a host to the APIs of language models, and the results back: `isthmus/llm`. */

export type { HostTool, HostTools } from '../host/host-tools.js';
export {
  type AiSdkOutput,
  type AiSdkPart,
  type AiSdkToolDefinition,
  toAiSdkOutput,
  toAiSdkTools,
} from './ai-sdk.js';
export {
  type AnthropicContent,
  type AnthropicImageType,
  type AnthropicTool,
  type AnthropicToolResult,
  type AnthropicToolUse,
  callAnthropicTool,
  toAnthropicResult,
  toAnthropicTools,
} from './anthropic.js';
export {
  callOpenAiChatTool,
  callOpenAiResponsesTool,
  type OpenAiChatTool,
  type OpenAiChatToolCall,
  type OpenAiFunctionCall,
  type OpenAiFunctionOutput,
  type OpenAiOutputPart,
  type OpenAiResponsesTool,
  type OpenAiToolMessage,
  toOpenAiChatTools,
  toOpenAiFunctionOutput,
  toOpenAiResponsesTools,
  toOpenAiToolMessage,
} from './openai.js';
export type { LlmTools } from './parts.js';
