import type { ElicitParams, ElicitResult } from './elicitation.js';
import type { AudioContent, ContentBlock, ImageContent, TextContent, Tool } from './offers.js';
import type { JsonValue, Meta, MetaObject, ResultMeta, Role } from './vocabulary.js';

/** Sampling: the server borrows the client's model. Deprecated by 2026-07-28. */

/** The model wants a tool called. Since 2025-11-25. */
export type ToolUseContent = {
  type: 'tool_use';
  /** What the matching `tool_result` names as `toolUseId`. */
  id: string;
  name: string;
  input: { [key: string]: unknown };
  _meta?: MetaObject;
};

/** What that tool gave back. Since 2025-11-25. */
export type ToolResultContent = {
  type: 'tool_result';
  toolUseId: string;
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: MetaObject;
};

export type SamplingMessageContentBlock =
  | TextContent
  | ImageContent
  | AudioContent
  | ToolUseContent
  | ToolResultContent;

export type SamplingMessage = {
  role: Role;
  /** An array since 2025-11-25; one block alone before. */
  content: SamplingMessageContentBlock | SamplingMessageContentBlock[];
  _meta?: MetaObject;
};

/** Part of a model's name, such as `"sonnet"`. The client may map it to a model of its own. */
export type ModelHint = { name?: string };

/** Wishes about the model, which the client is free to ignore. Priorities run from 0 to 1. */
export type ModelPreferences = {
  /** The first that matches counts. */
  hints?: ModelHint[];
  costPriority?: number;
  speedPriority?: number;
  intelligencePriority?: number;
};

/** May (`auto`), must (`required`) or must not (`none`) the model use tools? Since 2025-11-25. */
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
  /** Handed to the model's provider as it is. */
  metadata?: { [key: string]: JsonValue };
  /** Needs the client capability `sampling.tools`. Since 2025-11-25. */
  tools?: Tool[];
  /** Needs the client capability `sampling.tools`. Since 2025-11-25. */
  toolChoice?: ToolChoice;
  _meta?: Meta;
};

/** Tool use, and `content` as an array, appear only when the request offered `tools`. */
export type CreateMessageResult = SamplingMessage & {
  /** The model that answered. */
  model: string;
  /** `toolUse` since 2025-11-25. Other values are the provider's own. */
  stopReason?: 'endTurn' | 'stopSequence' | 'maxTokens' | 'toolUse' | (string & {});
};

/** Roots (deprecated by 2026-07-28), and input rounds: how a modern server asks, since 2026-07-28. */

export type Root = {
  /** A `file:` URI. */
  uri: string;
  name?: string;
  _meta?: MetaObject;
};

export type ListRootsResult = { roots: Root[]; _meta?: MetaObject };

/** A question inside a result. In legacy the same question is a request of its own. */
export type InputRequest =
  | { method: 'elicitation/create'; params: ElicitParams }
  | { method: 'sampling/createMessage'; params: CreateMessageParams }
  | { method: 'roots/list'; params?: { _meta?: Meta } };

/** Questions by a key of the server's choice. */
export type InputRequests = { [key: string]: InputRequest };

/** The bare answer. There is no error among them: who will not answer does not retry. */
export type InputResponse = ElicitResult | CreateMessageResult | ListRootsResult;

/** Answers under the keys of their questions. */
export type InputResponses = { [key: string]: InputResponse };

/**
 * Instead of a result, from `tools/call`, `prompts/get` and `resources/read` only: ask, then be called
 * again. At least one of `inputRequests` and `requestState` is present.
 */
export type InputRequiredResult = {
  resultType: 'input_required';
  inputRequests?: InputRequests;
  /** Comes back byte for byte, through hands the server does not control. */
  requestState?: string;
  _meta?: ResultMeta;
};
