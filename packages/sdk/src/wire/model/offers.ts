import type { Annotations, Icon, MetaObject, Role } from './vocabulary.js';

/** Claims of the server about its tool. Hints only: do not base safety decisions on them. */
export type ToolAnnotations = {
  /** Display name from before `Tool.title`, which takes precedence. */
  title?: string;
  /** Changes nothing. Absent: false. */
  readOnlyHint?: boolean;
  /** May destroy data, not only add. Absent: true. */
  destructiveHint?: boolean;
  /** Repeating the same call changes nothing more. Absent: false. */
  idempotentHint?: boolean;
  /** Interacts with an open world, such as the web. Absent: true. */
  openWorldHint?: boolean;
};

/** A tool, as `tools/list` shows it. */
export type Tool = {
  name: string;
  /** Display name; takes precedence over `annotations.title` and `name`. Since 2025-06-18. */
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

/** A resource, as `resources/list` shows it. */
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

/** Text contents of a resource. */
export type TextResourceContents = { uri: string; mimeType?: string; text: string; _meta?: MetaObject };

/** Binary contents of a resource, in base64. */
export type BlobResourceContents = {
  uri: string;
  mimeType?: string;
  /** Base64. */
  blob: string;
  _meta?: MetaObject;
};

/** A prompt, as `prompts/list` shows it. */
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

/** One message of a prompt. */
export type PromptMessage = { role: Role; content: ContentBlock };

/** Text. */
export type TextContent = { type: 'text'; text: string; annotations?: Annotations; _meta?: MetaObject };

/** An image, in base64. */
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

/** A block of a tool result or a prompt message. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;
