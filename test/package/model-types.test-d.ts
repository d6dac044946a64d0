/**
 * Checked by `tsc`, never run: the model of `src/wire/model.ts` against the official SDK's types.
 * A value of ours must pass where the SDK's type is asked for, and the other way round.
 */

import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type * as M from '@isthmus/sdk/internal/wire/model.js';
import type * as V2Client from '@modelcontextprotocol/client';
import type * as V1 from '@modelcontextprotocol/sdk/types.js';
import type * as V2 from '@modelcontextprotocol/server';

/** `any` is assignable to everything, so a broken declaration file would make every check pass. */
type IsAny<T> = 0 extends 1 & T ? true : false;

type Assignable<From, To> = true extends IsAny<From> | IsAny<To> ? false : [From] extends [To] ? true : false;

type Mutual<Ours, Official> = [Assignable<Ours, Official>, Assignable<Official, Ours>] extends [true, true]
  ? true
  : Assignable<Ours, Official> extends true
    ? 'ours does not accept the official type'
    : 'the official type does not accept ours';

type Check<T extends true> = T;

export type OfficialV2 = [
  // Vocabulary
  Check<Mutual<M.JsonValue, V2.JSONValue>>,
  Check<Mutual<M.Role, V2.Role>>,
  Check<Mutual<M.LoggingLevel, V2.LoggingLevel>>,
  Check<Mutual<M.ProgressToken, V2.ProgressToken>>,
  Check<Mutual<M.Cursor, V2.Cursor>>,
  Check<Mutual<M.MetaObject, V2.MetaObject>>,
  Check<Mutual<M.Meta, V2.RequestMeta>>,
  Check<Mutual<M.Meta, V2.RequestMetaObject>>,
  Check<Mutual<M.ResultMeta, V2.ResultMetaObject>>,
  Check<Mutual<M.Icon, V2.Icon>>,
  Check<Mutual<M.Implementation, V2.Implementation>>,
  Check<Mutual<M.Annotations, V2.Annotations>>,
  // Capabilities
  Check<Mutual<M.CapabilitySettings, V2.JSONObject>>,
  Check<Mutual<M.ClientCapabilities, V2.ClientCapabilities>>,
  Check<Mutual<M.ServerCapabilities, V2.ServerCapabilities>>,
  // What a server offers
  Check<Mutual<M.ToolAnnotations, V2.ToolAnnotations>>,
  Check<Mutual<M.Tool, V2.Tool>>,
  Check<Mutual<M.Resource, V2.Resource>>,
  Check<Mutual<M.ResourceTemplate, V2.ResourceTemplateType>>,
  Check<Mutual<M.TextResourceContents, V2.TextResourceContents>>,
  Check<Mutual<M.BlobResourceContents, V2.BlobResourceContents>>,
  Check<Mutual<M.Prompt, V2.Prompt>>,
  Check<Mutual<M.PromptArgument, V2.PromptArgument>>,
  Check<Mutual<M.PromptMessage, V2.PromptMessage>>,
  // Content
  Check<Mutual<M.TextContent, V2.TextContent>>,
  Check<Mutual<M.ImageContent, V2.ImageContent>>,
  Check<Mutual<M.AudioContent, V2.AudioContent>>,
  Check<Mutual<M.ResourceLink, V2.ResourceLink>>,
  Check<Mutual<M.EmbeddedResource, V2.EmbeddedResource>>,
  Check<Mutual<M.ContentBlock, V2.ContentBlock>>,
  // Results of a server
  Check<Mutual<M.CacheScope, V2.CacheScope>>,
  Check<Mutual<M.CacheHints, V2.CacheHint>>,
  Check<Mutual<M.ListToolsResult, V2.ListToolsResult>>,
  Check<Mutual<M.ListResourcesResult, V2.ListResourcesResult>>,
  Check<Mutual<M.ListResourceTemplatesResult, V2.ListResourceTemplatesResult>>,
  Check<Mutual<M.ListPromptsResult, V2.ListPromptsResult>>,
  Check<Mutual<M.CallToolResult, V2.CallToolResult>>,
  Check<Mutual<M.ReadResourceResult, V2.ReadResourceResult>>,
  Check<Mutual<M.GetPromptResult, V2.GetPromptResult>>,
  Check<Mutual<M.PromptReference, V2.PromptReference>>,
  Check<Mutual<M.ResourceTemplateReference, V2.ResourceTemplateReference>>,
  Check<Mutual<M.CompleteParams, V2.CompleteRequestParams>>,
  Check<Mutual<M.CompleteResult, V2.CompleteResult>>,
  // Opening
  Check<Mutual<M.DiscoverResult, V2.DiscoverResult>>,
  Check<Mutual<M.InitializeParams, V2.InitializeRequestParams>>,
  Check<Mutual<M.InitializeResult, V2.InitializeResult>>,
  // Sampling
  Check<Mutual<M.ToolUseContent, V2.ToolUseContent>>,
  Check<Mutual<M.ToolResultContent, V2.ToolResultContent>>,
  Check<Mutual<M.SamplingMessageContentBlock, V2.SamplingMessageContentBlock>>,
  Check<Mutual<M.SamplingMessage, V2.SamplingMessage>>,
  Check<Mutual<M.ModelHint, V2.ModelHint>>,
  Check<Mutual<M.ModelPreferences, V2.ModelPreferences>>,
  Check<Mutual<M.ToolChoice, V2.ToolChoice>>,
  Check<Mutual<M.CreateMessageParams, V2.CreateMessageRequestParams>>,
  Check<Mutual<M.CreateMessageResult, V2.CreateMessageResultWithTools>>,
  // Elicitation
  Check<Mutual<M.StringSchema, V2.StringSchema>>,
  Check<Mutual<M.NumberSchema, V2.NumberSchema>>,
  Check<Mutual<M.BooleanSchema, V2.BooleanSchema>>,
  Check<Mutual<M.UntitledSingleSelectEnumSchema, V2.UntitledSingleSelectEnumSchema>>,
  Check<Mutual<M.TitledSingleSelectEnumSchema, V2.TitledSingleSelectEnumSchema>>,
  Check<Mutual<M.UntitledMultiSelectEnumSchema, V2.UntitledMultiSelectEnumSchema>>,
  Check<Mutual<M.TitledMultiSelectEnumSchema, V2.TitledMultiSelectEnumSchema>>,
  Check<Mutual<M.LegacyTitledEnumSchema, V2.LegacyTitledEnumSchema>>,
  Check<Mutual<M.SingleSelectEnumSchema, V2.SingleSelectEnumSchema>>,
  Check<Mutual<M.MultiSelectEnumSchema, V2.MultiSelectEnumSchema>>,
  Check<Mutual<M.EnumSchema, V2.EnumSchema>>,
  Check<Mutual<M.PrimitiveSchema, V2.PrimitiveSchemaDefinition>>,
  Check<Mutual<M.ElicitSchema, V2.ElicitRequestFormParams['requestedSchema']>>,
  Check<Mutual<M.ElicitFormParams, V2.ElicitRequestFormParams>>,
  Check<Mutual<M.ElicitResult, V2.ElicitResult>>,
  // Roots
  Check<Mutual<M.Root, V2.Root>>,
  Check<Mutual<M.ListRootsResult, V2.ListRootsResult>>,
  // News
  Check<Mutual<M.SubscriptionFilter, V2.SubscriptionFilter>>,
  Check<Mutual<M.ProgressUpdate, V2.Progress>>,
  Check<Mutual<M.LogEntry, V2.LoggingMessageNotificationParams>>,
];

/** What an application holds when it uses the official client: the same shapes, declared a second time. */
export type OfficialV2Client = [
  Check<Mutual<M.Tool, V2Client.Tool>>,
  Check<Mutual<M.CallToolResult, V2Client.CallToolResult>>,
  Check<Mutual<M.ContentBlock, V2Client.ContentBlock>>,
  Check<Mutual<M.Implementation, V2Client.Implementation>>,
  Check<Mutual<M.ClientCapabilities, V2Client.ClientCapabilities>>,
  Check<Mutual<M.CreateMessageParams, V2Client.CreateMessageRequestParams>>,
  Check<Mutual<M.CreateMessageResult, V2Client.CreateMessageResultWithTools>>,
  Check<Mutual<M.ElicitResult, V2Client.ElicitResult>>,
  Check<Mutual<M.ListRootsResult, V2Client.ListRootsResult>>,
];

type Asking<Method> = Extract<M.InputRequest, { method: Method }>;
type UrlParamsOf2025 = M.ElicitUrlParams & { elicitationId: string };

/**
 * One direction only. Each `@ts-expect-error` shows that the other one cannot be had; when an SDK
 * release makes it possible, the directive itself becomes an error and the line moves up.
 */
export type OneWay = [
  // The SDK splits the answer in two: without tools `content` is one block. The specification has one
  // type since 2025-11-25, and so have we (its counterpart is CreateMessageResultWithTools above).
  Check<Assignable<V2.CreateMessageResult, M.CreateMessageResult>>,
  // @ts-expect-error ours may carry tool use
  Check<Assignable<M.CreateMessageResult, V2.CreateMessageResult>>,
  // The SDK still requires `elicitationId`, which 2026-07-28 removed.
  Check<Assignable<V2.ElicitRequestURLParams, M.ElicitUrlParams>>,
  Check<Mutual<UrlParamsOf2025, V2.ElicitRequestURLParams>>,
  // @ts-expect-error ours may lack elicitationId
  Check<Assignable<M.ElicitUrlParams, V2.ElicitRequestURLParams>>,
  Check<Assignable<V2.ElicitRequestParams, M.ElicitParams>>,
  Check<Mutual<M.ElicitFormParams | UrlParamsOf2025, V2.ElicitRequestParams>>,
  // The same two differences, seen through the input rounds.
  Check<Assignable<V2.InputRequest, M.InputRequest>>,
  Check<Assignable<V2.InputRequests, M.InputRequests>>,
  Check<Assignable<V2.InputRequiredResult, M.InputRequiredResult>>,
  Check<Assignable<V2.ElicitRequest, Asking<'elicitation/create'>>>,
  Check<Mutual<Asking<'sampling/createMessage'>, V2.CreateMessageRequest>>,
  Check<Mutual<Asking<'roots/list'>, V2.ListRootsRequest>>,
  Check<Assignable<V2.InputResponse, M.InputResponse>>,
  Check<Assignable<V2.InputResponses, M.InputResponses>>,
  Check<Mutual<M.InputResponse, V2.InputResponse | V2.CreateMessageResultWithTools>>,
];

/** v1 ends at 2025-11-25: what it produces we accept; what 2026-07-28 widened it cannot take back. */
export type OfficialV1 = [
  Check<Mutual<M.Implementation, V1.Implementation>>,
  Check<Mutual<M.ContentBlock, V1.ContentBlock>>,
  Check<Assignable<V1.Tool, M.Tool>>,
  // @ts-expect-error an output schema need not describe an object any more
  Check<Assignable<M.Tool, V1.Tool>>,
  Check<Mutual<Omit<M.Tool, 'outputSchema'>, Omit<V1.Tool, 'outputSchema'>>>,
  Check<Assignable<V1.CallToolResult, M.CallToolResult>>,
  // @ts-expect-error structured content need not be an object any more
  Check<Assignable<M.CallToolResult, V1.CallToolResult>>,
  Check<Assignable<Omit<M.CallToolResult, 'structuredContent'>, V1.CallToolResult>>,
];

/** Params and results go on the wire without a cast. */
export type OnTheWire = [
  Check<
    Assignable<
      | M.CompleteParams
      | M.InitializeParams
      | M.CreateMessageParams
      | M.ElicitParams
      | M.ProgressUpdate
      | M.LogEntry
      | M.SubscriptionFilter,
      JsonObject
    >
  >,
  Check<
    Assignable<
      | M.ListToolsResult
      | M.ListResourcesResult
      | M.ListResourceTemplatesResult
      | M.ListPromptsResult
      | M.CallToolResult
      | M.ReadResourceResult
      | M.GetPromptResult
      | M.CompleteResult
      | M.DiscoverResult
      | M.InitializeResult
      | M.InputRequiredResult
      | M.InputResponse,
      JsonObject
    >
  >,
];

/** Every check has a case that it catches. */
export type TheHelperCanFail = [
  // @ts-expect-error a required member is missing
  Check<Assignable<{ name: string }, V2.Implementation>>,
  // @ts-expect-error a member has another type
  Check<Assignable<Omit<M.Tool, 'name'> & { name: number }, V2.Tool>>,
  // @ts-expect-error one direction is not enough: the official type does not accept ours
  Check<Mutual<{ name?: string; version: string }, V2.Implementation>>,
  // @ts-expect-error one direction is not enough: ours does not accept the official type
  Check<Mutual<V2.Implementation & { mandatory: true }, V2.Implementation>>,
  // @ts-expect-error a block of an unknown type
  Check<Mutual<M.ContentBlock | { type: 'video'; data: string }, V2.ContentBlock>>,
  // @ts-expect-error a readonly array is refused where the SDK wants a mutable one
  Check<Assignable<{ content: readonly M.ContentBlock[] }, V2.CallToolResult>>,
  // @ts-expect-error `any` proves nothing
  // biome-ignore lint/suspicious/noExplicitAny: the very thing that must not pass
  Check<Mutual<any, V2.Tool>>,
  // @ts-expect-error `any` proves nothing
  // biome-ignore lint/suspicious/noExplicitAny: the very thing that must not pass
  Check<Mutual<M.Tool, any>>,
];

// What handler authors write: plain literals, checked for spelling.

export const answer: M.CallToolResult = { content: [{ type: 'text', text: 'hello' }] };

export const misspelt: M.CallToolResult = {
  content: [],
  // @ts-expect-error a typo is caught, since results have no index signature
  isEror: true,
};

export const tool: M.Tool = {
  name: 'add',
  inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
};

export const form: M.ElicitParams = {
  message: 'Which colour?',
  requestedSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { colour: { type: 'string', enum: ['red', 'blue'] }, often: { type: 'boolean' } },
    required: ['colour'],
  },
};

// Members the SDK leaves untyped: nothing above would notice a wrong type here.

export const envelope: M.Meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  'io.modelcontextprotocol/clientInfo': { name: 'probe', version: '1' },
  'io.modelcontextprotocol/logLevel': 'warning',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'vendor=1',
  baggage: 'user=7',
  'com.example/anything': 1,
};

export const cached: M.ListPromptsResult = {
  resultType: 'complete',
  prompts: [{ name: 'greet', arguments: [{ name: 'who', title: 'Whom to greet' }] }],
  ttlMs: 60_000,
  cacheScope: 'public',
};

export function textOf(result: M.CallToolResult | M.InputRequiredResult): string | undefined {
  if (result.resultType === 'input_required') return result.requestState;
  const first = result.content[0];
  return first?.type === 'text' ? first.text : undefined;
}
