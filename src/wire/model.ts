/**
 * The MCP model as users of Isthmus meet it: one shape per thing, wide enough for every revision.
 * A member without a note exists since 2024-11-05; "since" names the revision that introduced it.
 * Dialects add and remove what one era needs and the other does not know (`resultType`, cache hints).
 *
 * Two habits hold throughout, and `test/package/model-types.test-d.ts` keeps them:
 * - Values pass freely to and from the official SDK's types, hence mutable arrays.
 * - Everything is a type alias: an interface is not assignable to `Record<string, unknown>`, which is
 *   what params and results are on the wire. It also spares results an index signature, so that a
 *   misspelt member in a handler's literal is an error.
 */

// Vocabulary

/** Anything JSON can say. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** Who speaks in a conversation with a model. */
export type Role = 'user' | 'assistant';

/** RFC 5424 severities, mildest first. Logging is deprecated by 2026-07-28, where each request opts in. */
export type LoggingLevel =
  | 'debug'
  | 'info'
  | 'notice'
  | 'warning'
  | 'error'
  | 'critical'
  | 'alert'
  | 'emergency';

/** Chosen by the requester, repeated on each progress notification. A number is an integer. */
export type ProgressToken = string | number;

/** Opaque position in a list. `""` is a cursor too: the end of a list is an absent `nextCursor`. */
export type Cursor = string;

/** `_meta` of an item (tool, content block, …). Keys are prefixed with a domain its owner controls. */
export type MetaObject = { [key: string]: unknown };

/** `_meta` of a request. The modern dialects write and read the `io.modelcontextprotocol/…` envelope. */
export type Meta = {
  [key: string]: unknown;
  /** Present when the requester wants progress. */
  progressToken?: ProgressToken;
  /** Since 2026-07-28, where it is required. */
  'io.modelcontextprotocol/protocolVersion'?: string;
  /** Since 2026-07-28, where it is required (`{}` will do). Holds for this request alone. */
  'io.modelcontextprotocol/clientCapabilities'?: ClientCapabilities;
  /** Since 2026-07-28. Self-reported: for display and logs, never for security. */
  'io.modelcontextprotocol/clientInfo'?: Implementation;
  /** Since 2026-07-28: asks for logs about this request, at this level and above. */
  'io.modelcontextprotocol/logLevel'?: LoggingLevel;
  /** 2025-11-25 only. */
  'io.modelcontextprotocol/related-task'?: { taskId: string };
  /** W3C Trace Context. */
  traceparent?: string;
  /** W3C Trace Context. */
  tracestate?: string;
  /** W3C Baggage. */
  baggage?: string;
};

/** `_meta` of a result. */
export type ResultMeta = {
  [key: string]: unknown;
  /** Since 2026-07-28. Self-reported: for display and logs, never for security. */
  'io.modelcontextprotocol/serverInfo'?: Implementation;
};

/** A picture for a user interface. Since 2025-11-25. */
export type Icon = {
  /** `https:` or `data:`. Whoever loads it decides whether to trust it. */
  src: string;
  mimeType?: string;
  /** `"48x48"`, or `"any"` for a format that scales. Absent: any size. */
  sizes?: string[];
  /** The background it is drawn for. */
  theme?: 'light' | 'dark';
};

/** Which program is speaking. */
export type Implementation = {
  name: string;
  version: string;
  /** Display name. Since 2025-06-18. */
  title?: string;
  /** Since 2025-11-25. */
  description?: string;
  /** Since 2025-11-25. */
  websiteUrl?: string;
  /** Since 2025-11-25. */
  icons?: Icon[];
};

/** Hints for whoever shows or selects content. */
export type Annotations = {
  /** For whom it is meant. */
  audience?: Role[];
  /** From 0 (optional) to 1 (indispensable). */
  priority?: number;
  /** ISO 8601. Since 2025-06-18. */
  lastModified?: string;
};

// Capabilities

/** Details of one capability. `{}` means: present, nothing to add. */
export type CapabilitySettings = { [key: string]: JsonValue };

/** What the client can do for the server. Fixed per session in legacy, stated on every request in modern. */
export type ClientCapabilities = {
  experimental?: { [key: string]: CapabilitySettings };
  /** Deprecated by 2026-07-28, which also drops `listChanged`. */
  roots?: { listChanged?: boolean };
  /** Deprecated by 2026-07-28. `context` and `tools` since 2025-11-25. */
  sampling?: { context?: CapabilitySettings; tools?: CapabilitySettings };
  /** Since 2025-06-18. `form` and `url` since 2025-11-25; `{}` means form only. */
  elicitation?: { form?: CapabilitySettings; url?: CapabilitySettings };
  /** 2025-11-25 only. */
  tasks?: { [key: string]: unknown };
  /** By extension id. Since 2026-07-28. */
  extensions?: { [key: string]: CapabilitySettings };
};

/** What the server offers. A method whose capability is absent counts as not implemented. */
export type ServerCapabilities = {
  experimental?: { [key: string]: CapabilitySettings };
  /** Deprecated by 2026-07-28. */
  logging?: CapabilitySettings;
  /** Since 2025-03-26. */
  completions?: CapabilitySettings;
  prompts?: { listChanged?: boolean };
  resources?: { subscribe?: boolean; listChanged?: boolean };
  tools?: { listChanged?: boolean };
  /** 2025-11-25 only. */
  tasks?: { [key: string]: unknown };
  /** By extension id. Since 2026-07-28. */
  extensions?: { [key: string]: CapabilitySettings };
};

// What a server offers

/** Claims of the server about its tool. Hints only: no decision about safety may rest on them. */
export type ToolAnnotations = {
  /** Display name of the days before `Tool.title`, which wins. */
  title?: string;
  /** Changes nothing. Taken as false when absent. */
  readOnlyHint?: boolean;
  /** May destroy rather than only add. Taken as true when absent. */
  destructiveHint?: boolean;
  /** The same call again changes nothing more. Taken as false when absent. */
  idempotentHint?: boolean;
  /** Reaches out to a world that is not closed, such as the web. Taken as true when absent. */
  openWorldHint?: boolean;
};

export type Tool = {
  name: string;
  /** Display name; then come `annotations.title` and `name`. Since 2025-06-18. */
  title?: string;
  description?: string;
  /** JSON Schema of the arguments; 2020-12 unless `$schema` says otherwise. */
  inputSchema: { [key: string]: unknown; type: 'object'; $schema?: string };
  /** JSON Schema of `structuredContent`. Since 2025-06-18; must describe an object before 2026-07-28. */
  outputSchema?: { [key: string]: unknown; $schema?: string };
  /** Since 2025-03-26. */
  annotations?: ToolAnnotations;
  /** Since 2025-11-25. */
  icons?: Icon[];
  /** 2025-11-25 only. */
  execution?: { taskSupport?: 'forbidden' | 'optional' | 'required' };
  /** Since 2025-06-18. */
  _meta?: MetaObject;
};

export type Resource = {
  uri: string;
  name: string;
  /** Display name. Since 2025-06-18. */
  title?: string;
  description?: string;
  mimeType?: string;
  /** Bytes of the raw content, before any base64. */
  size?: number;
  annotations?: Annotations;
  /** Since 2025-11-25. */
  icons?: Icon[];
  /** Since 2025-06-18. */
  _meta?: MetaObject;
};

/** A family of resources. */
export type ResourceTemplate = {
  /** RFC 6570. */
  uriTemplate: string;
  name: string;
  /** Display name. Since 2025-06-18. */
  title?: string;
  description?: string;
  /** Only when every resource of the family has this type. */
  mimeType?: string;
  annotations?: Annotations;
  /** Since 2025-11-25. */
  icons?: Icon[];
  /** Since 2025-06-18. */
  _meta?: MetaObject;
};

export type TextResourceContents = { uri: string; mimeType?: string; text: string; _meta?: MetaObject };

export type BlobResourceContents = {
  uri: string;
  mimeType?: string;
  /** Base64. */
  blob: string;
  _meta?: MetaObject;
};

export type Prompt = {
  name: string;
  /** Display name. Since 2025-06-18. */
  title?: string;
  description?: string;
  arguments?: PromptArgument[];
  /** Since 2025-11-25. */
  icons?: Icon[];
  /** Since 2025-06-18. */
  _meta?: MetaObject;
};

/** The values of prompt arguments are always strings. */
export type PromptArgument = {
  name: string;
  /** Display name. Since 2025-06-18. */
  title?: string;
  description?: string;
  required?: boolean;
};

export type PromptMessage = { role: Role; content: ContentBlock };

// Content

export type TextContent = { type: 'text'; text: string; annotations?: Annotations; _meta?: MetaObject };

export type ImageContent = {
  type: 'image';
  /** Base64. */
  data: string;
  mimeType: string;
  annotations?: Annotations;
  _meta?: MetaObject;
};

/** Since 2025-03-26. */
export type AudioContent = {
  type: 'audio';
  /** Base64. */
  data: string;
  mimeType: string;
  annotations?: Annotations;
  _meta?: MetaObject;
};

/** A resource to read later; `resources/list` need not mention it. Since 2025-06-18. */
export type ResourceLink = Resource & { type: 'resource_link' };

/** A resource with its contents. */
export type EmbeddedResource = {
  type: 'resource';
  resource: TextResourceContents | BlobResourceContents;
  annotations?: Annotations;
  _meta?: MetaObject;
};

/** What tool results and prompt messages are made of. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

// Results of a server

/** May others be given a cached copy? `private`: only within the same authorization context. */
export type CacheScope = 'public' | 'private';

/** How long and for whom a result stays fresh. Since 2026-07-28, where both members are on the wire. */
export type CacheHints = {
  /** Milliseconds, an integer. Absent, zero or negative: stale at once. */
  ttlMs?: number;
  /** Absent: private. */
  cacheScope?: CacheScope;
};

type CompleteResultBase = {
  /** Written by the modern dialect: a handler need not. */
  resultType?: 'complete';
  _meta?: ResultMeta;
};

type ListResultBase = CompleteResultBase & CacheHints & { nextCursor?: Cursor };

export type ListToolsResult = ListResultBase & { tools: Tool[] };

export type ListResourcesResult = ListResultBase & { resources: Resource[] };

export type ListResourceTemplatesResult = ListResultBase & { resourceTemplates: ResourceTemplate[] };

export type ListPromptsResult = ListResultBase & { prompts: Prompt[] };

export type CallToolResult = CompleteResultBase & {
  content: ContentBlock[];
  /** Since 2025-06-18; an object before 2026-07-28, any JSON value from then on. */
  structuredContent?: unknown;
  /** The tool ran and failed; `content` tells the model why. */
  isError?: boolean;
};

export type ReadResourceResult = CompleteResultBase &
  CacheHints & {
    /** More than one when the URI names a collection. */
    contents: (TextResourceContents | BlobResourceContents)[];
  };

export type GetPromptResult = CompleteResultBase & { description?: string; messages: PromptMessage[] };

/** Names a prompt whose argument is being completed. */
export type PromptReference = { type: 'ref/prompt'; name: string; title?: string };

/** Names a resource, or a template whose variable is being completed. */
export type ResourceTemplateReference = { type: 'ref/resource'; uri: string };

/** Params of `completion/complete`. */
export type CompleteParams = {
  ref: PromptReference | ResourceTemplateReference;
  /** `value` is what was typed so far. */
  argument: { name: string; value: string };
  /** What is already filled in. Since 2025-06-18. */
  context?: { arguments?: { [key: string]: string } };
  _meta?: Meta;
};

export type CompleteResult = CompleteResultBase & {
  completion: {
    /** 100 at the most, best first. */
    values: string[];
    total?: number;
    hasMore?: boolean;
  };
};

// Opening

/** Answer to `server/discover`. Since 2026-07-28; who answers stands in `_meta`. */
export type DiscoverResult = CompleteResultBase &
  CacheHints & {
    supportedVersions: string[];
    capabilities: ServerCapabilities;
    /** For the model: how to use this server well. */
    instructions?: string;
  };

/** Params of `initialize`. Legacy only. */
export type InitializeParams = {
  /** The newest revision the client speaks. */
  protocolVersion: string;
  capabilities: ClientCapabilities;
  clientInfo: Implementation;
  _meta?: Meta;
};

/** Answer to `initialize`. Legacy only. */
export type InitializeResult = {
  /** The revision of this session; a client that does not speak it hangs up. */
  protocolVersion: string;
  capabilities: ServerCapabilities;
  serverInfo: Implementation;
  /** For the model: how to use this server well. */
  instructions?: string;
  _meta?: ResultMeta;
};

// Sampling: the server borrows the client's model. Deprecated by 2026-07-28.

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

// Elicitation: the server asks the user. Since 2025-06-18.

export type StringSchema = {
  type: 'string';
  title?: string;
  description?: string;
  minLength?: number;
  maxLength?: number;
  format?: 'email' | 'uri' | 'date' | 'date-time';
  /** Since 2025-11-25. */
  default?: string;
};

export type NumberSchema = {
  type: 'number' | 'integer';
  title?: string;
  description?: string;
  minimum?: number;
  maximum?: number;
  /** Since 2025-11-25. */
  default?: number;
};

export type BooleanSchema = { type: 'boolean'; title?: string; description?: string; default?: boolean };

/** Choose one, shown as it is. */
export type UntitledSingleSelectEnumSchema = {
  type: 'string';
  title?: string;
  description?: string;
  enum: string[];
  default?: string;
};

/** Choose one, shown by title. Since 2025-11-25. */
export type TitledSingleSelectEnumSchema = {
  type: 'string';
  title?: string;
  description?: string;
  oneOf: { const: string; title: string }[];
  default?: string;
};

/** Choose several, shown as they are. Since 2025-11-25. */
export type UntitledMultiSelectEnumSchema = {
  type: 'array';
  title?: string;
  description?: string;
  minItems?: number;
  maxItems?: number;
  items: { type: 'string'; enum: string[] };
  default?: string[];
};

/** Choose several, shown by title. Since 2025-11-25. */
export type TitledMultiSelectEnumSchema = {
  type: 'array';
  title?: string;
  description?: string;
  minItems?: number;
  maxItems?: number;
  items: { anyOf: { const: string; title: string }[] };
  default?: string[];
};

/** The titles of 2025-06-18, side by side with the values. Later revisions prefer `oneOf`. */
export type LegacyTitledEnumSchema = UntitledSingleSelectEnumSchema & { enumNames?: string[] };

export type SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema;

export type MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema;

export type EnumSchema = SingleSelectEnumSchema | MultiSelectEnumSchema | LegacyTitledEnumSchema;

/** One field of a form. */
export type PrimitiveSchema = StringSchema | NumberSchema | BooleanSchema | EnumSchema;

/** A form: a flat object, nothing nested. */
export type ElicitSchema = {
  type: 'object';
  $schema?: string;
  properties: { [key: string]: PrimitiveSchema };
  required?: string[];
};

/** Asks for a form to be filled in. Never for secrets: those go through a URL. */
export type ElicitFormParams = {
  /** Since 2025-11-25; absent means form. */
  mode?: 'form';
  message: string;
  requestedSchema: ElicitSchema;
  _meta?: Meta;
};

/** Sends the user to a page; what happens there is not part of the answer. Since 2025-11-25. */
export type ElicitUrlParams = {
  mode: 'url';
  message: string;
  url: string;
  /** Required by 2025-11-25, unknown to 2026-07-28. */
  elicitationId?: string;
  _meta?: Meta;
};

/** Params of `elicitation/create`. */
export type ElicitParams = ElicitFormParams | ElicitUrlParams;

export type ElicitResult = {
  /** `decline`: the user said no. `cancel`: the user did not choose. */
  action: 'accept' | 'decline' | 'cancel';
  /** The filled form, on `accept` in form mode only. `string[]` since 2025-11-25. */
  content?: { [key: string]: string | number | boolean | string[] };
  _meta?: MetaObject;
};

// Roots: where the client lets the server work. Deprecated by 2026-07-28.

export type Root = {
  /** A `file:` URI. */
  uri: string;
  name?: string;
  _meta?: MetaObject;
};

export type ListRootsResult = { roots: Root[]; _meta?: MetaObject };

// Input rounds: how a modern server asks. Since 2026-07-28.

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

// News

/** What `subscriptions/listen` is to report. Since 2026-07-28. */
export type SubscriptionFilter = {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  /** URIs whose changes are wanted. */
  resourceSubscriptions?: string[];
};

/** How far a request has come. */
export type ProgressUpdate = {
  /** Rises with every update, even when `total` is unknown. */
  progress: number;
  total?: number;
  /** Since 2025-03-26. */
  message?: string;
};

export type LogEntry = {
  level: LoggingLevel;
  /** Any JSON value. */
  data: unknown;
  /** Which part of the server speaks. */
  logger?: string;
};
