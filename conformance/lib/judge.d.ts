export interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

export interface Row {
  readonly verdict: 'passed' | 'failed' | 'noted';
  readonly scenario: string;
  readonly text: string;
}

/** One requirement set in server mode. */
export function judgeServer(facts: {
  readonly listed: { readonly scored: readonly string[]; readonly unscored: readonly string[] };
  readonly results: ReadonlyMap<string, readonly Check[]>;
  readonly expected: {
    readonly scored: number;
    readonly successes: number;
    readonly own?: Readonly<Record<string, number>>;
    readonly unscored: Readonly<Record<string, { readonly ends: string; readonly why: string }>>;
    readonly limits?: Readonly<
      Record<
        string,
        { readonly says: readonly string[]; readonly why: string; readonly isUnsteady?: boolean }
      >
    >;
  };
}): { rows: Row[]; summary: string };

/** A scenario of an extension that the server does not have. */
export function judgeSkipped(scenario: string, checks: readonly Check[] | undefined, why: string): Row;

/** One scenario in client mode. */
export function judgeClient(
  scenario: string,
  facts: {
    readonly exit: string | undefined;
    readonly checks: readonly Check[] | undefined;
    readonly successes: number | undefined;
  },
): Row;
