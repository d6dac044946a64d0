import type { Finding, Report } from '../../model.js';
import { countsOf, gradeOf } from '../../run/grade.js';
import { CLIENT_CHECKS } from '../checks/index.js';
import { OVERS, type Over, type Scenario, type Transcript } from '../model.js';
import { SCENARIOS } from '../scenarios/index.js';
import { factsOf, judge, viewsOf } from './judge.js';
import { runScenario } from './run-scenario.js';
import type { Player } from './stage.js';

export interface ClientRun {
  readonly player: Player;
  /** What a person would call the client. */
  readonly label: string;
  readonly version: string;
  /** The transports to try. Default: both. */
  readonly over?: readonly Over[];
  /** Why a transport cannot be tried; its checks do not apply then. */
  readonly missing?: Partial<Record<Over, string>>;
  /** Checks, suites or scenarios, by name or by the beginning of one. Default: all. */
  readonly only?: readonly string[];
  /** The eras that the client speaks, for one that does not show it. */
  readonly eras?: readonly ('modern' | 'legacy')[];
  readonly boundMs?: number | undefined;
  /** How many runs at a time. Default 2. */
  readonly jobs?: number;
  readonly signal?: AbortSignal;
  /** Told after every run. */
  readonly onRun?: (done: number, all: number, transcript: Transcript) => void;
}

export interface ClientReport extends Report {
  /** What was tried, for whoever wants to look for himself. */
  readonly transcripts: readonly Transcript[];
}

/** Shows a client every server, and says what is to be said about it. */
export async function checkClient(run: ClientRun): Promise<ClientReport> {
  const { player, label, version, over = OVERS, missing = {}, only = [], jobs = 2, onRun } = run;
  const signal = run.signal ?? new AbortController().signal;
  const began = Date.now();
  const checks = CLIENT_CHECKS.filter(
    ({ id, suite, on }) =>
      only.length === 0 ||
      only.some((name) => matches(name, id, suite) || (on !== 'all' && on.includes(name))),
  );
  const wanted = over.filter((each) => missing[each] === undefined);
  const plans = SCENARIOS.flatMap((scenario) =>
    scenario.over
      .filter((each) => wanted.includes(each) && isNeeded(scenario, each, checks))
      .map((each) => ({ scenario, over: each })),
  );
  const transcripts: Transcript[] = [];
  const queue = [...plans];
  const work = async () => {
    for (let plan = queue.shift(); plan && !signal.aborted; plan = queue.shift()) {
      const transcript = await runScenario(plan.scenario, plan.over, player, {
        boundMs: run.boundMs,
        signal,
      });
      if (signal.aborted) return;
      transcripts.push(transcript);
      onRun?.(transcripts.length, plans.length, transcript);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, jobs) }, work));
  // In the order of the catalogue, however the runs overtook each other.
  const order = new Map(SCENARIOS.map(({ name }, at) => [name, at]));
  transcripts.sort(
    (one, other) =>
      (order.get(one.scenario) ?? 0) - (order.get(other.scenario) ?? 0) || one.over.localeCompare(other.over),
  );
  const views = viewsOf(transcripts);
  const facts = factsOf(transcripts, run.eras);
  const notTried: Partial<Record<Over, string>> = {
    ...Object.fromEntries(
      OVERS.filter((each) => !over.includes(each)).map((each) => [each, `${each} was not to be tried`]),
    ),
    ...missing,
  };
  const findings = checks.map((check) => judge(check, views, facts, notTried));
  return {
    target: { label, transport: 'command' },
    eras: [],
    findings,
    counts: countsOf(findings),
    grade: gradeOf(findings),
    stale: [],
    seed: 0,
    started: new Date(began).toISOString(),
    ms: Date.now() - began,
    version,
    transcripts,
  };
}

export type { Finding };

function matches(name: string, id: string, suite: string): boolean {
  return (
    name === suite ||
    id === name ||
    id.startsWith(`${name}/`) ||
    (name.endsWith('*') && id.startsWith(name.slice(0, -1)))
  );
}

/** A run that no check looks at by name is still needed when only such checks are wanted. */
function isNeeded(
  scenario: Scenario,
  over: Over,
  checks: readonly (typeof CLIENT_CHECKS)[number][],
): boolean {
  const fits = checks.filter((check) => check.over === undefined || check.over.includes(over));
  const named = fits.some(({ on }) => on !== 'all' && on.includes(scenario.name));
  if (named) return true;
  // Checks of every message look at whatever is run; where they are alone, a few ordinary servers will do.
  return fits.some(({ on }) => on === 'all') && ORDINARY.includes(scenario.name);
}

const ORDINARY: readonly string[] = [
  'modern-only',
  'dual',
  'legacy-2025-06-18',
  'legacy-2025-11-25',
  'cancel-modern',
];
