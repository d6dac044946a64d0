import type { BlobResourceContents, Resource, TextResourceContents } from './offers.js';
import type { Annotations, MetaObject } from './vocabulary.js';

/** What tools and prompts give back, block by block. */

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
