import type { ClientCapabilities, ServerCapabilities } from './capabilities.js';
import type { CacheHints, CompleteResultBase } from './results.js';
import type { Implementation, Meta, ResultMeta } from './vocabulary.js';

/** How a conversation opens, in either era. */

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
