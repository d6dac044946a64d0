import type {
  BlobResourceContents,
  ContentBlock,
  Prompt,
  PromptMessage,
  Resource,
  ResourceTemplate,
  TextResourceContents,
  Tool,
} from './offers.js';
import type { Cursor, LoggingLevel, Meta, MetaObject, ResultMeta } from './vocabulary.js';

/** Who may be given a cached copy. `private`: only the same authorization context. */
export type CacheScope = 'public' | 'private';

/** How long and for whom a result stays fresh. Since 2026-07-28, where both members are on the wire. */
export type CacheHints = {
  /** Milliseconds, an integer. Absent, zero or negative: stale at once. */
  ttlMs?: number;
  /** Absent: private. */
  cacheScope?: CacheScope;
};

/** What every result may have besides its content. */
export type CompleteResultBase = {
  /** Added by the modern dialect; a handler need not set it. */
  resultType?: 'complete';
  _meta?: ResultMeta;
};

type ListResultBase = CompleteResultBase & CacheHints & { nextCursor?: Cursor };

/** One page of `tools/list`. */
export type ListToolsResult = ListResultBase & { tools: Tool[] };

/** One page of `resources/list`. */
export type ListResourcesResult = ListResultBase & { resources: Resource[] };

/** One page of `resources/templates/list`. */
export type ListResourceTemplatesResult = ListResultBase & { resourceTemplates: ResourceTemplate[] };

/** One page of `prompts/list`. */
export type ListPromptsResult = ListResultBase & { prompts: Prompt[] };

/** The result of `tools/call`. */
export type CallToolResult = CompleteResultBase & {
  content: ContentBlock[];
  /** Since 2025-06-18; an object before 2026-07-28, any JSON value from then on. */
  structuredContent?: unknown;
  /** The tool ran and failed; `content` tells the model why. */
  isError?: boolean;
};

/** The result of `resources/read`. */
export type ReadResourceResult = CompleteResultBase &
  CacheHints & {
    /** More than one when the URI names a collection. */
    contents: (TextResourceContents | BlobResourceContents)[];
  };

/** The result of `prompts/get`. */
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

/** The result of `completion/complete`. */
export type CompleteResult = CompleteResultBase & {
  completion: {
    /** 100 at the most, best first. */
    values: string[];
    total?: number;
    hasMore?: boolean;
  };
};

/** The changes that `subscriptions/listen` reports. Since 2026-07-28. */
export type SubscriptionFilter = {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  /** URIs whose changes are wanted. */
  resourceSubscriptions?: string[];
  /** Tasks whose states are wanted. Extension `io.modelcontextprotocol/tasks`. */
  taskIds?: string[];
};

/** The progress of a request. */
export type ProgressUpdate = {
  /** Rises with every update, even when `total` is unknown. */
  progress: number;
  total?: number;
  /** Since 2025-03-26. */
  message?: string;
  _meta?: MetaObject;
};

/** A log message of a server. */
export type LogEntry = {
  level: LoggingLevel;
  /** Any JSON value. */
  data: unknown;
  /** The part of the server that logs. */
  logger?: string;
  _meta?: MetaObject;
};
