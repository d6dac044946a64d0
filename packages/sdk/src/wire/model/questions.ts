import type { ElicitParams, ElicitResult } from './elicitation.js';
import type { AudioContent, ContentBlock, ImageContent, TextContent, Tool } from './offers.js';
import type { JsonValue, Meta, MetaObject, ResultMeta, Role } from './vocabulary.js';

// Sampling: the server uses the client's model. Deprecated by 2026-07-28.

/** The model calls a tool. Since 2025-11-25. */
export type ToolUseContent = {
  type: 'tool_use';
  /** What the matching `tool_result` names as `toolUseId`. */
  id: string;
  name: string;
  input: { [key: string]: unknown };
  _meta?: MetaObject;
};

/** The result of that tool. Since 2025-11-25. */
export type ToolResultContent = {
  type: 'tool_result';
  toolUseId: string;
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: MetaObject;
};

/** One block of a sampling message: text, image, audio, or the use or result of a tool. */
export type SamplingMessageContentBlock =
  | TextContent
  | ImageContent
  | AudioContent
  | ToolUseContent
  | ToolResultContent;

/** One message of a request to the model of the client. */
export type SamplingMessage = {
  role: Role;
  /** An array since 2025-11-25; one block alone before. */
  content: SamplingMessageContentBlock | SamplingMessageContentBlock[];
  _meta?: MetaObject;
};

/** Part of a model's name, such as `"sonnet"`. The client may map it to a model of its own. */
export type ModelHint = { name?: string };

/** Preferences for the model, which the client may ignore. Priorities range from 0 to 1. */
export type ModelPreferences = {
  /** The first that matches counts. */
  hints?: ModelHint[];
  costPriority?: number;
  speedPriority?: number;
  intelligencePriority?: number;
};

/** Whether the model may (`auto`), must (`required`) or must not (`none`) use tools. Since 2025-11-25. */
export type ToolChoice = { mode?: 'auto' | 'required' | 'none' };

/** Params of `sampling/createMessage`. */
export type CreateMessageParams = {
  messages: SamplingMessage[];
  maxTokens: number;
  modelPreferences?: ModelPreferences;
  systemPrompt?: string;
  /** Deprecated by 2025-11-25, unless absent or `none`. */
  includeContext?: 'none' | 'thisServer' | 'allServers';
  temperature?: number;
  stopSequences?: string[];
  /** Passed to the model's provider unchanged. */
  metadata?: { [key: string]: JsonValue };
  /** Needs the client capability `sampling.tools`. Since 2025-11-25. */
  tools?: Tool[];
  /** Needs the client capability `sampling.tools`. Since 2025-11-25. */
  toolChoice?: ToolChoice;
  _meta?: Meta;
};

/** Tool use, and `content` as an array, appear only if the request offered `tools`. */
export type CreateMessageResult = SamplingMessage & {
  /** The model that answered. */
  model: string;
  /** `toolUse` since 2025-11-25. Other values are the provider's own. */
  stopReason?: 'endTurn' | 'stopSequence' | 'maxTokens' | 'toolUse' | (string & {});
};

// Roots (deprecated by 2026-07-28), and input rounds: how a modern server asks, since 2026-07-28.

/** A folder or file that the client lets servers work in. */
export type Root = {
  /** A `file:` URI. */
  uri: string;
  name?: string;
  _meta?: MetaObject;
};

/** The answer of a client to `roots/list`. */
export type ListRootsResult = { roots: Root[]; _meta?: MetaObject };

/** A question inside a result. In the legacy era the same question is a request. */
export type InputRequest =
  | { method: 'elicitation/create'; params: ElicitParams }
  | { method: 'sampling/createMessage'; params: CreateMessageParams }
  | { method: 'roots/list'; params?: { _meta?: Meta } };

/** Questions by a key of the server's choice. */
export type InputRequests = { [key: string]: InputRequest };

/** An answer. It cannot be an error: a client that does not answer does not send the request again. */
export type InputResponse = ElicitResult | CreateMessageResult | ListRootsResult;

/** Answers under the keys of their questions. */
export type InputResponses = { [key: string]: InputResponse };

/**
 * Asks the client for input instead of giving a result; the client sends the request again with the answers. Only for
 * `tools/call`, `prompts/get` and `resources/read`. At least one of `inputRequests` and `requestState` is present.
 */
export type InputRequiredResult = {
  resultType: 'input_required';
  inputRequests?: InputRequests;
  /** The client returns it unchanged. The server must not trust it, since the client could have altered it. */
  requestState?: string;
  _meta?: ResultMeta;
};
