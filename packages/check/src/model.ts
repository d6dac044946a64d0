/** What a check is, and what a run of checks has to say. */
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { CheckContext } from './run/check-context.js';

export type { Era };

export const SUITES = ['protocol', 'resilience', 'lifetime', 'http', 'tools', 'era'] as const;
export type Suite = (typeof SUITES)[number];

/** A broken `MUST` fails the run, a broken `SHOULD` warns. */
export type Level = 'MUST' | 'SHOULD';

/** How a target is talked to: a child's pipes, a stream that was there before (Unix, TCP, memory), or HTTP. */
export type CheckTransport = 'command' | 'socket' | 'http';

export interface Check {
  /** Stable and unique: what baselines and `--only` name. `area/what-is-right`, in kebab case. */
  readonly id: string;
  readonly suite: Suite;
  /** What a sound server does, as a sentence: "Answers a line that is not JSON with -32700". */
  readonly title: string;
  readonly level: Level;
  /** Ids of the rule book. Empty only with a `reason`. */
  readonly rules: readonly string[];
  /** Why it matters, where no rule says so. */
  readonly reason?: string;
  /** How to fix it: what to change in a server that fails. */
  readonly hint: string;
  /**
   * `each` (the default) runs once for every era that the target speaks, `modern` and `legacy` only in that era,
   * `none` once, whatever it speaks.
   */
  readonly era?: Era | 'each' | 'none';
  /** Over what it makes sense. Default: over everything. */
  readonly over?: readonly CheckTransport[];
  /**
   * `shared` (the default): polite, talks through `table.talk()`, one after the other on one connection.
   * `own`: opens connections of its own, and runs beside others. `after`: reads what everybody heard, at the end.
   * `rough`: sends what a server may not bear, through `table.roughTalk()`, one after the other on one connection;
   * what does not hold there is tried again on a new one, so that nobody answers for what others have done to it.
   */
  readonly lane?: 'shared' | 'own' | 'rough' | 'after';
  /** Passes by returning, with a few words on what was seen; `table.fail` and `table.skip` leave it. */
  readonly run: (table: CheckContext) => Promise<string | undefined> | string | undefined;
}

/** `skip`: does not apply here, and `seen` says why. `error`: the check could not be brought to an end. */
export type Outcome = 'pass' | 'fail' | 'warn' | 'skip' | 'error';

export interface Finding {
  readonly id: string;
  /** A `Suite`, or one of those that judge clients. */
  readonly suite: string;
  readonly title: string;
  readonly level: Level;
  readonly rules: readonly string[];
  readonly reason?: string;
  /** Absent for what does not depend on it. */
  readonly era?: Era;
  readonly outcome: Outcome;
  /** One sentence. */
  readonly seen: string;
  /** One sentence; empty unless it failed. */
  readonly expected: string;
  /** What went over the wire before the verdict: all of it, within the limits of `wire/excerpt.ts`. */
  readonly wire: readonly WireLine[];
  readonly hint: string;
  /** The smallest input found that still fails, for checks that make up their input. */
  readonly input?: string;
  readonly ms: number;
  /** In the baseline: known, and not counted. */
  readonly accepted?: boolean;
  /** Names of findings that broke only because of the fault that this one is about. */
  readonly consequences?: readonly string[];
  /** Of such a finding, which is `skip`: the name of the one that is about the fault. */
  readonly causedBy?: string;
}

export interface WireLine {
  /** `check` is us: towards a server the client, towards a client the server. */
  readonly from: 'check' | 'server' | 'client' | 'note';
  /** Since the connection was opened. */
  readonly atMs: number;
  readonly text: string;
}

export interface Counts {
  readonly pass: number;
  readonly fail: number;
  readonly warn: number;
  readonly skip: number;
  readonly error: number;
  /** Failures and warnings that the baseline knows; not among `fail` and `warn`. */
  readonly accepted: number;
}

/** What the target is in one era. */
export interface EraReport {
  readonly era: Era;
  readonly revision: string;
  readonly server?: { readonly name: string; readonly version: string };
  readonly capabilities: readonly string[];
  readonly tools: number;
  readonly resources: number;
  readonly prompts: number;
}

export interface Grade {
  readonly letter: 'A+' | 'A' | 'B' | 'C' | 'D' | 'F';
  /** Shares of the rules that apply, 0 to 100. */
  readonly must: number;
  readonly should: number;
  /** One sentence: why this letter, and what the next one takes. */
  readonly why: string;
}

export interface Report {
  readonly target: { readonly label: string; readonly transport: CheckTransport };
  readonly eras: readonly EraReport[];
  readonly findings: readonly Finding[];
  readonly counts: Counts;
  readonly grade: Grade;
  /** What had ended the server, where it was not there any more at the end: `tools/call of reset`. */
  readonly goneAfter?: string;
  /** Of the baseline: what it lists and did not fail any more. Each is a reason to fail the run. */
  readonly stale: readonly string[];
  readonly seed: number;
  /** ISO 8601. */
  readonly started: string;
  readonly ms: number;
  /** Of this tool. */
  readonly version: string;
}
