import type { EpochMs, EraName, Seq, ServerQuery } from './words.js';

/** `:what` is `tools`, `resources`, `templates` or `prompts`. Without `cursor`, all pages are read, up to 10,000 items. */
export interface ListQuery extends ServerQuery {
  readonly cursor?: string;
  /** `true`: does not take what is cached. */
  readonly fresh?: boolean;
}

export interface ListPage {
  /** As the server sent them. */
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly nextCursor?: string;
  /** How long the list may be kept, where the server says so. */
  readonly ttlMs?: number;
  readonly cacheScope?: string;
  readonly frames: readonly Seq[];
}

export interface CompleteRequest {
  readonly ref:
    | { readonly type: 'ref/prompt'; readonly name: string }
    | { readonly type: 'ref/resource'; readonly uri: string };
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: Readonly<Record<string, string>>;
  readonly server?: string;
}

export interface Completion {
  readonly values: readonly string[];
  readonly total?: number;
  readonly hasMore?: boolean;
}

export interface ListenRequest {
  readonly server?: string;
  readonly tools?: boolean;
  readonly prompts?: boolean;
  readonly resources?: boolean;
  /** The URIs of single resources. */
  readonly uris?: readonly string[];
}

/** One subscription, also after its end. */
export interface ListenView {
  readonly id: number;
  readonly server?: string;
  readonly era: EraName;
  readonly wanted: Omit<ListenRequest, 'server'>;
  readonly honoured: Omit<ListenRequest, 'server'>;
  readonly began: EpochMs;
  readonly ended?: { readonly at: EpochMs; readonly why: string };
  /** The last 100. */
  readonly news: readonly {
    readonly at: EpochMs;
    readonly what: 'tools' | 'prompts' | 'resources' | 'resource';
    readonly uri?: string;
  }[];
}
