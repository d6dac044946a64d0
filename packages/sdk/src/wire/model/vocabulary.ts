import type { ClientCapabilities } from './capabilities.js';

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** The author of a message in a conversation with a model. */
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
  /** Since 2026-07-28, where it is required (`{}` is allowed). Holds for this request only. */
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
  /** `https:` or `data:`. The client that loads it decides whether to trust it. */
  src: string;
  mimeType?: string;
  /** `"48x48"`, or `"any"` for a format that scales. Absent: any size. */
  sizes?: string[];
  /** The background that it is drawn for. */
  theme?: 'light' | 'dark';
};

/** The name and version of a program. */
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

/** Hints for programs that show or select content. */
export type Annotations = {
  /** The intended audience. */
  audience?: Role[];
  /** From 0 (optional) to 1 (indispensable). */
  priority?: number;
  /** ISO 8601. Since 2025-06-18. */
  lastModified?: string;
};
