import type { CacheHints, CompleteResultBase } from './results.js';
import type { Implementation, JsonValue, Meta, ResultMeta } from './vocabulary.js';

/** Details of one capability. `{}`: present, without details. */
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

/** Result of `server/discover`. Since 2026-07-28; the server's identity is in `_meta`. */
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

/** Result of `initialize`. Legacy only. */
export type InitializeResult = {
  /** The revision of this session; a client that does not support it disconnects. */
  protocolVersion: string;
  capabilities: ServerCapabilities;
  serverInfo: Implementation;
  /** For the model: how to use this server well. */
  instructions?: string;
  _meta?: ResultMeta;
};
