export interface Reason {
  readonly check: string;
  readonly peers: readonly string[];
  readonly why: string;
  readonly source: string;
  readonly sometimes?: string;
}

export function readReasons(): Reason[];
export function matchReasons(
  rows: readonly { readonly name: string; readonly broken: readonly string[] }[],
  reasons: readonly Reason[],
): { readonly unexplained: readonly string[]; readonly stale: readonly string[] };
