/** What a check is, and what a run of checks reports. */
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { CheckContext } from './run/check-context.js';

export type { Era };

/** The groups of checks. */
export const SUITES = ['protocol', 'resilience', 'lifetime', 'http', 'tools', 'era'] as const;
/** The name of a group of checks. */
export type Suite = (typeof SUITES)[number];

/** A broken `MUST` fails the run, a broken `SHOULD` warns. */
export type Level = 'MUST' | 'SHOULD';

/** The transport of a target: the pipes of a child process, an existing stream (Unix, TCP, memory), or HTTP. */
export type CheckTransport = 'command' | 'socket' | 'http';

/** One thing that is checked, with its rules. */
export interface Check {
  /** Stable and unique; baselines and `--only` use it. `area/what-is-right`, in kebab case. */
  readonly id: string;
  readonly suite: Suite;
  /** What a correct server does, as a sentence: "Answers a line that is not JSON with -32700". */
  readonly title: string;
  readonly level: Level;
  /** Ids of the rule book. Empty only with a `reason`. */
  readonly rules: readonly string[];
  /** Why it matters, where there is no rule. */
  readonly reason?: string;
  /** How to fix it: what to change in a server that fails. */
  readonly hint: string;
  /**
   * `each` (the default) runs once for every era that the target speaks, `modern` and `legacy` only in that era,
   * `none` once, in any era.
   */
  readonly era?: Era | 'each' | 'none';
  /** The transports that it applies to. Default: all. */
  readonly over?: readonly CheckTransport[];
  /**
   * `shared` (the default): sends only valid messages, through `context.conversation()`; such checks run one after the
   * other on one connection. `own`: opens its own connections, and runs in parallel. `after`: reads all transcripts at
   * the end. `abuse`: sends bad input through `context.abuseConversation()`; such checks run one after the other on one
   * connection. A check that fails there runs again on a new connection, since an earlier check may have caused the
   * failure.
   */
  readonly lane?: 'shared' | 'own' | 'abuse' | 'after';
  /** Passes by returning a short text on what was seen; `context.fail` and `context.skip` throw. */
  readonly run: (context: CheckContext) => Promise<string | undefined> | string | undefined;
}

/** `skip`: does not apply, and `seen` says why. `error`: the check could not be finished. */
export type Outcome = 'pass' | 'fail' | 'warn' | 'skip' | 'error';

/** What one check found in one era. */
export interface Finding {
  readonly id: string;
  /** A `Suite`, or a suite of client checks. */
  readonly suite: string;
  readonly title: string;
  readonly level: Level;
  readonly rules: readonly string[];
  readonly reason?: string;
  /** Absent for checks that do not depend on the era. */
  readonly era?: Era;
  readonly outcome: Outcome;
  /** One sentence. */
  readonly seen: string;
  /** One sentence; empty unless it failed. */
  readonly expected: string;
  /** What went over the wire before the verdict: all of it, within the limits of `wire/excerpt.ts`. */
  readonly wire: readonly WireLine[];
  readonly hint: string;
  /** The smallest input found that still fails, for checks that generate their input. */
  readonly input?: string;
  readonly ms: number;
  /** In the baseline: known, and not counted as a failure. */
  readonly accepted?: boolean;
  /** Names of findings that failed only because of this fault. */
  readonly consequences?: readonly string[];
  /** For such a finding, which is `skip`: the name of the finding about the fault. */
  readonly causedBy?: string;
}

/** A message that was sent or received during a check. */
export interface WireLine {
  /** `check` is this program: the client of a server, or the server of a client. */
  readonly from: 'check' | 'server' | 'client' | 'note';
  /** Since the connection was opened. */
  readonly atMs: number;
  readonly text: string;
}

/** How many findings have each outcome. */
export interface Counts {
  readonly pass: number;
  readonly fail: number;
  readonly warn: number;
  readonly skip: number;
  readonly error: number;
  /** Failures and warnings that the baseline knows; not among `fail` and `warn`. */
  readonly accepted: number;
}

/** What the target has in one era. */
export interface EraReport {
  readonly era: Era;
  readonly revision: string;
  readonly server?: { readonly name: string; readonly version: string };
  readonly capabilities: readonly string[];
  readonly tools: number;
  readonly resources: number;
  readonly prompts: number;
}

/** The grade of a server, and why it is not better. */
export interface Grade {
  readonly letter: 'A+' | 'A' | 'B' | 'C' | 'D' | 'F';
  /** Shares of the rules that apply, 0 to 100. */
  readonly must: number;
  readonly should: number;
  /** One sentence: why this letter, and what the next one needs. */
  readonly why: string;
}

export interface Interrupted {
  readonly done: number;
  readonly of: number;
}

/** The result of a run: the server, the grade and all findings. */
export interface Report {
  readonly target: { readonly label: string; readonly transport: CheckTransport };
  readonly eras: readonly EraReport[];
  readonly findings: readonly Finding[];
  readonly counts: Counts;
  readonly grade: Grade;
  /** What ended the server, if it was gone at the end: `tools/call of reset`. */
  readonly goneAfter?: string;
  /** The run was cancelled after so many of its checks. It has no good grade then, and does not pass. */
  readonly interrupted?: Interrupted;
  /** Entries of the baseline that no longer fail. Each one fails the run. */
  readonly stale: readonly string[];
  readonly seed: number;
  /** ISO 8601. */
  readonly started: string;
  readonly ms: number;
  /** Of this tool. */
  readonly version: string;
}
