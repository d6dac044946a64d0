import type { EpochMs, EraName, Seq } from './words.js';

export interface ConnectionSettings {
  readonly mode: 'auto' | 'modern' | 'legacy' | (string & {});
  /** What the server may ask for. The declared capabilities follow from it. */
  readonly asks: Asks;
  readonly roots: readonly RootFolder[];
  /** One of `TargetView.names`. */
  readonly name?: string;
}

export interface Asks {
  readonly forms: boolean;
  readonly urls: boolean;
  readonly sampling: boolean;
  readonly roots: boolean;
}

export interface RootFolder {
  readonly uri: string;
  readonly name?: string;
}

/** One connection, also after its end. */
export interface ConnectionView {
  readonly id: number;
  readonly side: 'client' | 'upstream';
  /** The name of the server in a gateway. */
  readonly server?: string;
  readonly state: 'connecting' | 'open' | 'ended';
  readonly label: string;
  readonly transport: 'stdio' | 'http' | 'unix' | 'tcp' | 'memory';
  readonly era?: EraName;
  readonly revision?: string;
  readonly pid?: number;
  /** The number of the start of the process. */
  readonly generation?: number;
  /** Who the client is, where that is authenticated. */
  readonly principal?: string;
  /** The name that a client gives itself. */
  readonly client?: string;
  readonly began: EpochMs;
  readonly lastAnswer?: EpochMs;
  readonly ended?: { readonly at: EpochMs; readonly why: string };
  /** The first and the last frame so far. 0: none. */
  readonly frames: readonly [first: Seq, last: Seq];
  readonly verdict?: VerdictView;
  readonly serverInfo?: ImplementationView;
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly instructions?: string;
  readonly warnings: readonly Warning[];
  /** Why it could not connect, or was lost. */
  readonly problem?: ConnectionProblem;
  /** Made for `CallRequest.lens`: its server is a bridge of this process. */
  readonly lens: boolean;
}

export interface ImplementationView {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly websiteUrl?: string;
}

/** How the era was found. */
export interface VerdictView {
  readonly era: EraName;
  readonly revision: string;
  /** One sentence. */
  readonly why: string;
  /** What each step brought, with the frames that show it. */
  readonly steps: readonly { readonly say: string; readonly frames: readonly Seq[] }[];
  readonly supported?: readonly string[];
  /** `mode`: it was required. `cache`: it was known from an earlier run. */
  readonly source: 'probe' | 'cache' | 'mode';
  readonly ms: number;
}

/** What is odd about a server that works. The codes are those of `isthmus probe`. */
export interface Warning {
  readonly code: string;
  readonly message: string;
}

/** Why it does not connect. `code` is that of `isthmus doctor`. */
export interface ConnectionProblem {
  readonly message: string;
  readonly likely: readonly { readonly code: string; readonly message: string; readonly advice: string }[];
  readonly evidence: readonly string[];
  /** Its last lines. */
  readonly stderr: readonly string[];
}
