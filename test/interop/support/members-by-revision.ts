import type { Revision } from './revision.js';

/**
 * What a server may say in each revision, to the last member: our own reading of the protocol, wire sheet
 * §§3, 4, 8 and 12. Whatever is not in here is not known to any revision.
 *
 * A table lists names under the revision that brought them. A table that is just a text says what the thing
 * has had for as long as there is such a thing. A name is written `name!:Value<revision`, where
 *   `!`          says that it must be there,
 *   `:Value`     is what it holds: a kind or a variant of this file, a plain value of `known-members.ts`,
 *                `Value[]` for a list, `Value{}` for a map, `A|B` for either; without it, anything,
 *   `<revision`  names the revision that took it away, or changed it and so lists it again.
 *
 * Left out on purpose: all but `execution` and the capability of the tasks of 2025-11-25. Tests of tasks compare the rest.
 */
export type Table = string | Readonly<Partial<Record<Revision, string>>>;

/** What a server answers, by the method that was called. */
export const RESULTS: Table = {
  '2024-11-05': `
    initialize:InitializeResult<2026-07-28 ping:EmptyResult<2026-07-28 logging/setLevel:EmptyResult<2026-07-28
    resources/subscribe:EmptyResult<2026-07-28 resources/unsubscribe:EmptyResult<2026-07-28
    tools/list:ListToolsResult tools/call:CallToolResult
    resources/list:ListResourcesResult resources/templates/list:ListResourceTemplatesResult
    resources/read:ReadResourceResult prompts/list:ListPromptsResult prompts/get:GetPromptResult
    completion/complete:CompleteResult`,
  '2026-07-28': 'server/discover:DiscoverResult subscriptions/listen:EmptyResult',
};

/** What may be answered with `input_required` instead. */
export const ROUNDS: Table = { '2026-07-28': 'tools/call prompts/get resources/read' };

/** What a server asks. A modern one asks within a result. */
export const REQUESTS: Table = {
  '2024-11-05':
    'ping:BareParams<2026-07-28 roots/list:BareParams<2026-07-28 sampling/createMessage:SamplingParams<2026-07-28',
  '2025-06-18': 'elicitation/create:ElicitParams<2026-07-28',
};

/** What a server tells, and the params. */
export const NOTIFICATIONS: Table = {
  '2024-11-05': `
    notifications/cancelled:CancelledParams notifications/progress:ProgressParams
    notifications/message:LogParams notifications/resources/updated:UpdatedParams
    notifications/tools/list_changed:BareParams notifications/prompts/list_changed:BareParams
    notifications/resources/list_changed:BareParams`,
  '2025-11-25': 'notifications/elicitation/complete:ElicitationCompleteParams<2026-07-28',
  '2026-07-28': 'notifications/subscriptions/acknowledged:AcknowledgedParams',
};

/** Objects that come in several kinds, told apart by the member `by`; `otherwise` when it is not there. */
export const VARIANTS: Readonly<Record<string, { by: string; otherwise?: string; kinds: Table }>> = {
  ContentBlock: {
    by: 'type',
    kinds: {
      '2024-11-05': 'text:TextBlock image:MediaBlock resource:EmbeddedResource',
      '2025-03-26': 'audio:MediaBlock',
      '2025-06-18': 'resource_link:ResourceLink',
    },
  },
  SamplingBlock: {
    by: 'type',
    kinds: {
      '2024-11-05': 'text:TextBlock image:MediaBlock',
      '2025-03-26': 'audio:MediaBlock',
      '2025-11-25': 'tool_use:ToolUse tool_result:ToolResult',
    },
  },
  ElicitParams: {
    by: 'mode',
    otherwise: 'form',
    kinds: { '2025-06-18': 'form:FormParams', '2025-11-25': 'url:PageParams' },
  },
  Field: {
    by: 'type',
    kinds: {
      '2025-06-18': 'string:TextField number:NumberField integer:NumberField boolean:BooleanField',
      '2025-11-25': 'array:ChoicesField',
    },
  },
  InputRequest: {
    by: 'method',
    kinds: {
      '2026-07-28': 'elicitation/create:AskElicit sampling/createMessage:AskSampling roots/list:AskRoots',
    },
  },
};

const RESULT = { '2024-11-05': '_meta:Meta', '2026-07-28': 'resultType!:complete' };
const CACHED = 'resultType!:complete ttlMs!:duration cacheScope!:scope';
const page = (items: string): Table => ({
  '2024-11-05': `${items} nextCursor:string _meta:Meta`,
  '2026-07-28': CACHED,
});
const block = (own: string): Table => ({
  '2024-11-05': `type! ${own} annotations:Annotations`,
  '2025-06-18': '_meta:Meta',
});
const FIELD = 'type! title:string description:string';

export const KINDS: Readonly<Record<string, Table>> = {
  // Messages
  Response: 'jsonrpc! id! result!:object',
  ErrorResponse: { '2024-11-05': 'jsonrpc! error!:Error id!<2025-11-25', '2025-11-25': 'id' },
  Error: 'code! message! data',
  Request: 'jsonrpc! id! method! params:object',
  Notification: 'jsonrpc! method! params:object',

  // Metadata: open, but for the names that the protocol keeps for itself
  Meta: {
    '2025-11-25': 'io.modelcontextprotocol/related-task<2026-07-28',
    '2026-07-28': 'io.modelcontextprotocol/serverInfo:Implementation io.modelcontextprotocol/subscriptionId',
  },

  // Results
  EmptyResult: RESULT,
  InitializeResult:
    'protocolVersion!:string capabilities!:Capabilities serverInfo!:Implementation instructions:string _meta:Meta',
  DiscoverResult: `${CACHED} supportedVersions!:strings capabilities!:Capabilities instructions:string _meta:Meta`,
  ListToolsResult: page('tools!:Tool[]'),
  ListResourcesResult: page('resources!:Resource[]'),
  ListResourceTemplatesResult: page('resourceTemplates!:ResourceTemplate[]'),
  ListPromptsResult: page('prompts!:Prompt[]'),
  CallToolResult: {
    '2024-11-05': 'content!:ContentBlock[] isError _meta:Meta',
    '2025-06-18': 'structuredContent:object<2026-07-28',
    '2026-07-28': 'structuredContent resultType!:complete',
  },
  ReadResourceResult: { '2024-11-05': 'contents!:Contents[] _meta:Meta', '2026-07-28': CACHED },
  GetPromptResult: { ...RESULT, '2024-11-05': 'description:string messages!:PromptMessage[] _meta:Meta' },
  CompleteResult: { ...RESULT, '2024-11-05': 'completion!:Completion _meta:Meta' },
  Completion: 'values!:strings total hasMore',
  InputRequiredResult:
    'resultType!:input_required inputRequests:InputRequest{} requestState:string _meta:Meta',
  AskElicit: 'method! params!:ElicitParams',
  AskSampling: 'method! params!:SamplingParams',
  AskRoots: 'method! params:BareParams',

  // The server itself
  Implementation: {
    '2024-11-05': 'name!:string version!:string',
    '2025-06-18': 'title:string',
    '2025-11-25': 'description:string websiteUrl:uri icons:Icon[]',
  },
  Capabilities: {
    '2024-11-05': `experimental:object logging:object prompts:ChangingCapability tools:ChangingCapability
      resources:ResourcesCapability extensions:object`,
    '2025-03-26': 'completions:object',
    '2025-11-25': 'tasks:object<2026-07-28',
  },
  ChangingCapability: 'listChanged',
  ResourcesCapability: 'subscribe listChanged',

  // What it offers
  Tool: {
    '2024-11-05': 'name!:string description:string inputSchema!:object',
    '2025-03-26': 'annotations:ToolAnnotations',
    '2025-06-18': 'title:string outputSchema:object _meta:Meta',
    '2025-11-25': 'icons:Icon[] execution:object<2026-07-28',
  },
  ToolAnnotations: 'title:string readOnlyHint destructiveHint idempotentHint openWorldHint',
  Resource: {
    '2024-11-05': 'uri!:uri name!:string description:string mimeType:string size annotations:Annotations',
    '2025-06-18': 'title:string _meta:Meta',
    '2025-11-25': 'icons:Icon[]',
  },
  ResourceTemplate: {
    '2024-11-05':
      'uriTemplate!:string name!:string description:string mimeType:string annotations:Annotations',
    '2025-06-18': 'title:string _meta:Meta',
    '2025-11-25': 'icons:Icon[]',
  },
  Prompt: {
    '2024-11-05': 'name!:string description:string arguments:PromptArgument[]',
    '2025-06-18': 'title:string _meta:Meta',
    '2025-11-25': 'icons:Icon[]',
  },
  PromptArgument: { '2024-11-05': 'name!:string description:string required', '2025-06-18': 'title:string' },
  Icon: 'src!:uri mimeType:string sizes:strings theme',
  Annotations: { '2024-11-05': 'audience:strings priority', '2025-06-18': 'lastModified:string' },

  // Content
  TextBlock: block('text!:string'),
  MediaBlock: block('data!:string mimeType!:string'),
  EmbeddedResource: block('resource!:Contents'),
  ResourceLink: {
    '2025-06-18':
      'type! uri!:uri name!:string title:string description:string mimeType:string size annotations:Annotations _meta:Meta',
    '2025-11-25': 'icons:Icon[]',
  },
  ToolUse: 'type! id!:string name!:string input!:object _meta:Meta',
  ToolResult: {
    '2025-11-25':
      'type! toolUseId!:string content!:ContentBlock[] structuredContent:object<2026-07-28 isError _meta:Meta',
    '2026-07-28': 'structuredContent',
  },
  Contents: { '2024-11-05': 'uri!:uri mimeType:string text:string blob:string', '2025-06-18': '_meta:Meta' },
  PromptMessage: 'role! content!:ContentBlock',

  // Questions
  BareParams: '_meta:Meta',
  SamplingParams: {
    '2024-11-05': `messages!:SamplingMessage[] maxTokens! modelPreferences:ModelPreferences systemPrompt:string
      includeContext temperature stopSequences:strings metadata:object _meta:Meta<2026-07-28`,
    '2025-11-25': 'tools:Tool[] toolChoice:ToolChoice',
  },
  SamplingMessage: {
    '2024-11-05': 'role! content!:SamplingBlock<2025-11-25',
    '2025-11-25': 'content!:SamplingBlock|SamplingBlock[] _meta:Meta',
  },
  ModelPreferences: 'hints:ModelHint[] costPriority speedPriority intelligencePriority',
  ModelHint: 'name:string',
  ToolChoice: 'mode',
  FormParams: {
    '2025-06-18': 'message!:string requestedSchema!:Form _meta:Meta<2026-07-28',
    '2025-11-25': 'mode',
  },
  PageParams: {
    '2025-11-25': 'mode! message!:string url!:uri elicitationId!:string<2026-07-28 _meta:Meta<2026-07-28',
  },
  Form: { '2025-06-18': 'type! properties!:Field{} required:strings', '2025-11-25': '$schema:string' },
  TextField: {
    '2025-06-18': `${FIELD} minLength maxLength format enum:strings enumNames:strings`,
    '2025-11-25': 'default:string oneOf:Choice[]',
  },
  NumberField: { '2025-06-18': `${FIELD} minimum maximum`, '2025-11-25': 'default' },
  BooleanField: `${FIELD} default`,
  ChoicesField: `${FIELD} items!:Choices minItems maxItems default:strings`,
  Choices: 'type enum:strings anyOf:Choice[]',
  Choice: 'const! title!:string',

  // Notifications
  CancelledParams: {
    '2024-11-05': 'requestId!<2025-11-25 reason:string _meta:Meta',
    '2025-11-25': 'requestId<2026-07-28',
    '2026-07-28': 'requestId!',
  },
  ProgressParams: {
    '2024-11-05': 'progressToken! progress! total _meta:Meta',
    '2025-03-26': 'message:string',
  },
  LogParams: 'level! data! logger:string _meta:Meta',
  UpdatedParams: 'uri!:uri _meta:Meta',
  ElicitationCompleteParams: 'elicitationId!:string _meta:Meta',
  AcknowledgedParams: 'notifications!:SubscriptionFilter _meta:Meta',
  SubscriptionFilter:
    'toolsListChanged promptsListChanged resourcesListChanged resourceSubscriptions:strings',
};
