import { type Clock, systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import type { Report } from '../../model.js';
import { applyBaseline, type Baseline, type BaselineScope } from '../../run/baseline.js';
import { countsOf, gradeOf } from '../../run/grade.js';
import { CLIENT_CHECKS, choose, concerns } from '../catalogue.js';
import type { ClientCheck, ClientFacts } from '../checks/check.js';
import { type ClientTranscript, OVERS, type Over } from '../model.js';
import { SCENARIOS } from '../scenarios/index.js';
import { factsOf, judge, viewsOf } from './judge.js';
import type { Player } from './player.js';
import { runScenario } from './run-scenario.js';

interface ClientRun {
  readonly player: Player;
  /** The name of the client in the report. */
  readonly label: string;
  readonly version: string;
  /** The transports to try. Default: both. */
  readonly over?: readonly Over[];
  /** Why a transport cannot be tried. Its checks do not apply then. */
  readonly missing?: Partial<Record<Over, string>>;
  /** Names of checks, suites and scenarios; see `choose`. Default: all. */
  readonly only?: readonly string[];
  /** Also shows it servers that want a token. Default false. */
  readonly auth?: boolean;
  /** The eras that the client speaks, for a client that does not show it. */
  readonly eras?: readonly ('modern' | 'legacy')[];
  /** Known failures: docs/check-ci.md. */
  readonly baseline?: Baseline | undefined;
  /** How long the client may take for one server. Default 90 s. */
  readonly boundMs?: number | undefined;
  /** How many runs at a time. A run that takes longer than some seconds does not count. Default 2. */
  readonly jobs?: number;
  readonly signal?: AbortSignal;
  /** Called after every run. */
  readonly onRun?: (done: number, all: number, transcript: ClientTranscript) => void;
}

export interface ClientReport extends Report {
  /** The record of every run. */
  readonly transcripts: readonly ClientTranscript[];
}

/** Runs a client against every scripted server, and reports what the checks found. */
export async function checkClient(run: ClientRun): Promise<ClientReport> {
  const {
    player,
    label,
    version,
    over = OVERS,
    missing = {},
    only = [],
    auth = false,
    jobs = 2,
    onRun,
  } = run;
  const signal = run.signal ?? new AbortController().signal;
  const began = Date.now();
  const { checks, scenarios } = choose(only, { auth });
  const wanted = over.filter((each) => missing[each] === undefined);
  const plans = scenarios.flatMap((scenario) =>
    scenario.over
      .filter((each) => wanted.includes(each) && checks.some((check) => concerns(check, scenario, each)))
      .map((each) => ({ scenario, over: each })),
  );
  const transcripts: ClientTranscript[] = [];
  const show = async (plan: (typeof plans)[number]) => {
    if (signal.aborted) return;
    const transcript = await runScenario(plan.scenario, plan.over, player, { boundMs: run.boundMs, signal });
    if (signal.aborted) return;
    transcripts.push(transcript);
    onRun?.(transcripts.length, plans.length, transcript);
  };
  await takeTurns(plans, jobs, show, { clock: systemClock });
  // In the order of the catalogue, not in the order in which the runs ended.
  const order = new Map(SCENARIOS.map(({ name }, at) => [name, at]));
  transcripts.sort(
    (one, other) =>
      (order.get(one.scenario) ?? 0) - (order.get(other.scenario) ?? 0) || one.over.localeCompare(other.over),
  );
  const views = viewsOf(transcripts);
  const facts = factsOf(transcripts, run.eras);
  const notTried: Partial<Record<Over, string>> = {
    ...Object.fromEntries(
      OVERS.filter((each) => !over.includes(each)).map((each) => [each, `${each} was not selected (--over)`]),
    ),
    ...missing,
  };
  const { findings, stale } = applyBaseline(
    checks.map((check) => judge(check, views, facts, notTried)),
    run.baseline ?? { version: 1, accepted: [] },
    scopeOf(checks),
  );
  return {
    target: { label: `${label} (${describe(facts, wanted)})`, transport: 'command' },
    eras: [],
    findings,
    counts: countsOf(findings),
    grade: gradeOf(findings),
    stale,
    seed: 0,
    started: new Date(began).toISOString(),
    ms: Date.now() - began,
    version,
    transcripts,
  };
}

/** What a baseline must know about the selected checks. */
export function scopeOf(checks: readonly ClientCheck[]): BaselineScope {
  const ids = (of: readonly ClientCheck[]) => new Set(of.map(({ id }) => id));
  return { chosen: ids(checks), known: ids(CLIENT_CHECKS) };
}

function describe({ modern, legacy }: ClientFacts, over: readonly Over[]): string {
  const eras =
    modern && legacy ? 'both eras' : modern ? 'the modern era' : legacy ? 'the legacy era' : 'no era of MCP';
  return `speaks ${eras}; tried over ${over.join(' and ')}`;
}

/**
 * Does `work` for every plan, `jobs` at a time. A job that takes longer than `patienceMs` mostly waits for a timeout of the
 * client and needs no processor, so another job starts beside it, until `MOST_WAITING` jobs wait.
 */
export async function takeTurns<Plan>(
  plans: readonly Plan[],
  jobs: number,
  work: (plan: Plan) => Promise<void>,
  { clock, patienceMs = PATIENCE_MS }: { readonly clock: Clock; readonly patienceMs?: number },
): Promise<void> {
  const queue = [...plans];
  const jobsBegun: Promise<void>[] = [];
  let waiting = 0;
  const turn = async () => {
    for (let plan = queue.shift(); plan !== undefined; plan = queue.shift()) {
      const job = work(plan);
      jobsBegun.push(job);
      if (await within(clock, patienceMs, job)) continue;
      if (waiting >= MOST_WAITING) {
        await job.catch(() => {});
        continue;
      }
      waiting += 1;
      job.finally(() => (waiting -= 1)).catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, jobs) }, turn));
  await Promise.all(jobsBegun);
}

const PATIENCE_MS = 8000;
const MOST_WAITING = 16;
