import type { Era } from '../../exchange/call.js';

/** The era of a server, and how it was determined. */
export interface EraVerdict {
  readonly era: Era;
  readonly revision: string;
  /** One sentence. */
  readonly why: string;
  /** What each step brought, in order. */
  readonly evidence: readonly string[];
  /** The outcome of each `server/discover`, in order; for programs, where `evidence` is for people. */
  readonly discovery: readonly DiscoveryOutcome[];
  /** How long connecting took. */
  readonly ms: number;
  /** The revisions that the server named, where it did. */
  readonly supported: readonly string[] | undefined;
  /** What works with this client and may not with others: a draft shape, an interim draft. */
  readonly warnings: readonly string[] | undefined;
  /** `cache`: the era was remembered from an earlier run, and was right. */
  readonly source: 'probe' | 'cache' | 'mode';
}

/** How a server answered the `server/discover` with which its era was looked for. */
export interface DiscoveryOutcome {
  /** `status`: an HTTP status; `idless`: an error without id; `gone`: the server ended. */
  readonly kind: 'result' | 'error' | 'status' | 'idless' | 'unreadable' | 'silence' | 'gone';
  /** The code of the error. */
  readonly code?: number;
}
