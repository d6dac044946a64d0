import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { ALL_ERAS } from '@isthmus/sdk/internal/era/revisions.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { createKnownFaults } from '../conversation/conversation.js';
import type { Check, EraReport, Finding, Report } from '../model.js';
import { CHECKS } from '../suites/index.js';
import type { Facts } from '../survey/facts.js';
import { findEras } from '../survey/find-eras.js';
import { type CheckTokens, createTokenSet, tokensFor, withToken } from '../tokens/token-set.js';
import type { CheckTarget } from '../wire/targets.js';
import { applyBaseline, type Baseline } from './baseline.js';
import type { CheckPatience } from './check-context.js';
import { createFairClock } from './fair-clock.js';
import { countsOf, gradeOf } from './grade.js';
import { groupFindings, type JudgedCheck } from './group-findings.js';
import { type CheckChoice, choose, type Planned, planRun } from './plan.js';
import type { RunContext } from './prepare-context.js';
import { findingOf, runCheck } from './run-check.js';
import { openRunContext } from './run-context.js';
import { createServerWatch } from './server-watch.js';

/** What to check, how long to wait, and what may be called. */
export interface CheckOptions extends CheckChoice {
  /** Default: those that the target speaks. */
  readonly eras?: readonly Era[];
  /** Also calls tools without `readOnlyHint`, except tools with `destructiveHint`. */
  readonly callTools?: boolean;
  /** Calls no tools except those of `allow`, not even tools with `readOnlyHint`. */
  readonly noTools?: boolean;
  /** Calls these tools, whatever their annotations are. */
  readonly allow?: readonly string[];
  /** Arguments for tools, by name, where the schema is not enough to make them up. */
  readonly args?: Readonly<Record<string, JsonObject>>;
  /** The tools that the survey calls, of those that may be called. Default: all. */
  readonly visit?: readonly string[];
  /** For checks that generate their input. Default: random; the report has it. */
  readonly seed?: number;
  /** How many inputs each of them tries. Default 100. */
  readonly fuzzRuns?: number;
  readonly patience?: Partial<CheckPatience>;
  /** For a server that wants tokens. The good one is sent with every request. */
  readonly tokens?: CheckTokens;
  /**
   * Surveys one era after the other, instead of both at once. Behind a bridge both may share a process, and a log message of
   * that process cannot be attributed to a call while calls of two clients run.
   */
  readonly inTurn?: boolean;
  /** How many checks with their own connections run at the same time. Default 4. */
  readonly concurrency?: number;
  readonly baseline?: Baseline;
  /** Called for every finding. */
  readonly onFinding?: (finding: Finding, progress: Progress) => void;
  /** Stops after the checks that are running. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** The version in the report. Default: the version of this package. */
  readonly version?: string;
  /** Default: all checks. */
  readonly checks?: readonly Check[];
}

/** How far a run is: `done` of `of` checks. */
export interface Progress {
  readonly done: number;
  readonly of: number;
}

/** Checks a server. Rejects only if it cannot be checked: it cannot be reached, or speaks no era. */
export async function checkServer(target: CheckTarget, options: CheckOptions = {}): Promise<Report> {
  return (await surveyAndCheck(target, options)).report;
}

/** Like `checkServer`, with the facts about the server. */
export async function surveyAndCheck(
  target: CheckTarget,
  options: CheckOptions = {},
): Promise<{ readonly report: Report; readonly facts: readonly Facts[] }> {
  const checks = options.checks ?? CHECKS;
  const chosen = choose(checks, options);
  if (chosen.length === 0)
    throw new IsthmusError('INVALID_OPTION', 'No check is selected; see --only, --skip and --suite');
  const clock = options.clock ?? systemClock;
  const began = clock.now();
  const run = await startRun(target, options);
  try {
    const plan = planRun(chosen, target.transport, [...run.facts.keys()], run.facts.get('legacy')?.isSse);
    const judged = await runAll(plan, run, options);
    const interrupted =
      options.signal?.aborted && judged.length < plan.length
        ? { done: judged.length, of: plan.length }
        : undefined;
    const found = groupFindings(judged, [...run.facts.values()]);
    const { findings, stale } = options.baseline
      ? applyBaseline(found, options.baseline, {
          chosen: new Set(chosen.map(({ id }) => id)),
          known: new Set(checks.map(({ id }) => id)),
          ...(options.eras && { eras: new Set(options.eras) }),
        })
      : { findings: found, stale: [] };
    const report: Report = {
      target: { label: target.label, transport: target.transport },
      eras: [...run.facts.values()].map(toEraReport),
      findings,
      counts: countsOf(findings),
      grade: gradeOf(findings, { goneAfter: run.watch.goneAfter, interrupted }),
      ...(run.watch.goneAfter !== undefined && { goneAfter: run.watch.goneAfter }),
      ...(interrupted && { interrupted }),
      // A cancelled run says nothing about the entries of the baseline.
      stale: options.signal?.aborted ? [] : stale,
      seed: run.seed,
      started: new Date(began).toISOString(),
      ms: clock.now() - began,
      version: options.version ?? VERSION,
    };
    return { report, facts: [...run.facts.values()] };
  } finally {
    await run.close();
  }
}

/** Only the survey: the facts about the server in each era. */
export async function survey(target: CheckTarget, options: CheckOptions = {}): Promise<readonly Facts[]> {
  const run = await startRun(target, options);
  await run.close();
  return [...run.facts.values()];
}

async function startRun(
  target: CheckTarget,
  options: CheckOptions,
): Promise<RunContext & { close(): Promise<void> }> {
  // Explicit time limits are not stretched on a busy machine.
  const fair =
    options.clock || options.patience?.answerMs !== undefined ? undefined : createFairClock(systemClock);
  try {
    const run = await startRunBy(fair ?? options.clock ?? systemClock, target, options);
    const close = async () => {
      await run.close();
      fair?.stop();
    };
    return { ...run, close };
  } catch (error) {
    fair?.stop();
    throw error;
  }
}

async function startRunBy(
  clock: Clock,
  given: CheckTarget,
  options: CheckOptions,
): Promise<RunContext & { close(): Promise<void> }> {
  const tokens = createTokenSet(tokensFor(given, options.tokens), () => clock.now());
  const target = withToken(given, tokens);
  const patience: CheckPatience = { ...PATIENCE, ...options.patience };
  const { helloMs, answerMs } = patience;
  const knownFaults = createKnownFaults();
  const verdicts = await findEras(target, options.eras ?? ALL_ERAS, {
    clock,
    helloMs,
    answerMs,
    knownFaults,
  });
  const conversations = verdicts.flatMap((verdict) => (verdict.speaks ? [verdict.conversation] : []));
  if (conversations.length === 0) throw speaksNothing(target, verdicts);
  const watch = createServerWatch(target, clock);
  // If calls ran in two eras at once, it would be unknown which call ended the server.
  const mayEndServer =
    target.transport !== 'command' && (options.callTools === true || options.allow !== undefined);
  const opening = openRunContext({
    target,
    watch,
    clock,
    patience,
    seed: options.seed ?? Math.floor(Math.random() * 2 ** 31),
    fuzzRuns: options.fuzzRuns ?? 100,
    tokens,
    verdicts,
    conversations,
    inTurn: options.inTurn ?? mayEndServer,
    walkthrough: {
      callTools: options.callTools ?? false,
      noTools: options.noTools ?? false,
      allow: options.allow ?? [],
      args: options.args ?? {},
      visit: options.visit,
      stopMs: Math.min(2000, answerMs),
      knownFaults,
      isGone: watch.look,
    },
  });
  // If the run cannot start, nothing else closes these conversations.
  opening.catch(() => Promise.all(conversations.map((conversation) => conversation.close())));
  return opening;
}

const PATIENCE: CheckPatience = { helloMs: 20_000, answerMs: 5000, quietMs: 300, checkMs: 30_000 };

/** Runs the lanes `shared` and `abuse` in order for each era, `own` in parallel with them, and `after` at the end. */
async function runAll(
  plan: readonly Planned[],
  run: RunContext,
  options: CheckOptions,
): Promise<JudgedCheck[]> {
  const found = new Map<Planned, JudgedCheck>();
  const judge = async (planned: Planned): Promise<void> => {
    if (options.signal?.aborted) return;
    const judged = planned.obstacle === undefined ? await runWithRetry(planned, run) : notRun(planned);
    found.set(planned, judged);
    options.onFinding?.(judged.finding, { done: found.size, of: plan.length });
  };
  const inLane = (lane: NonNullable<Check['lane']>) =>
    plan.filter(({ check }) => (check.lane ?? 'shared') === lane);
  const own = [...inLane('own')];
  const worker = async () => {
    for (let next = own.shift(); next; next = own.shift()) await judge(next);
  };
  await Promise.all([
    ...ALL_ERAS.map(async (era) => {
      for (const planned of inLane('shared')) if (planned.era === era) await judge(planned);
    }),
    ...ALL_ERAS.map(async (era) => {
      for (const planned of inLane('abuse')) if (planned.era === era) await judge(planned);
    }),
    ...Array.from({ length: options.concurrency ?? 4 }, worker),
  ]);
  for (const planned of inLane('after')) await judge(planned);
  return plan.flatMap((planned) => found.get(planned) ?? []);
}

/** A check that fails on a connection that got bad input from other checks runs again on a new connection. */
async function runWithRetry({ check, era }: Planned, run: RunContext): Promise<JudgedCheck> {
  const isGoneBefore = run.watch.goneAfter !== undefined;
  const judged = await runCheck(check, era, run);
  const { finding } = judged;
  const skipped = () => ({ finding: findingOf(check, era, 'skip', { seen: goneWhy(run), ms: finding.ms }) });
  const holds = finding.outcome === 'pass' || finding.outcome === 'skip';
  if (isGoneBefore && finding.outcome === 'error') return skipped();
  // Checks that only read transcripts do not need the server.
  if (!holds && !isGoneBefore && (await run.watch.look(`the check ${check.id}`))) {
    const isCulprit = run.watch.goneAfter === `the check ${check.id}`;
    if (!isCulprit) return skipped();
    const seen = `${finding.seen}; the server was gone after this check`;
    return { ...judged, finding: { ...finding, seen } };
  }
  if (check.lane !== 'abuse' || holds || !(await run.renewAbuseConnection(era))) return judged;
  const again = await runCheck(check, era, run);
  return { ...again, finding: { ...again.finding, ms: again.finding.ms + finding.ms } };
}

function goneWhy({ watch }: RunContext): string {
  return `the server was gone after ${watch.goneAfter}`;
}

function notRun({ check, era, obstacle = '' }: Planned): JudgedCheck {
  return { finding: findingOf(check, era, 'skip', { seen: obstacle, ms: 0 }) };
}

function speaksNothing(target: CheckTarget, verdicts: Awaited<ReturnType<typeof findEras>>): IsthmusError {
  const evidence = verdicts.map((verdict) => (verdict.speaks ? '' : `${verdict.era}: ${verdict.why}`));
  const failures = verdicts.flatMap((verdict) =>
    verdict.speaks || !verdict.unreachable ? [] : [verdict.unreachable],
  );
  const isUnreachable = failures.length === verdicts.length;
  if (verdicts.every((verdict) => !verdict.speaks && verdict.reply?.http?.status === 401)) {
    const message = `${target.label} wants a login or a key (HTTP 401), so it cannot be checked`;
    return new IsthmusError('UNAUTHORIZED', message, { status: 401 });
  }
  return new IsthmusError(
    isUnreachable ? 'ADDRESS_UNAVAILABLE' : 'NO_COMMON_REVISION',
    `${target.label} speaks no era of MCP that was tried, so it cannot be checked`,
    {
      evidence,
      ...(isUnreachable && { cause: new AggregateError(failures, `Cannot connect to ${target.label}`) }),
    },
  );
}

/** The part of the report about an era. */
function toEraReport(facts: Facts): EraReport {
  const { era, revision, capabilities, serverInfo, tools, resources, prompts } = facts;
  return {
    era,
    revision,
    ...(serverInfo && {
      server: { name: String(serverInfo['name'] ?? ''), version: String(serverInfo['version'] ?? '') },
    }),
    capabilities: Object.keys(capabilities),
    tools: tools.length,
    resources: resources.length,
    prompts: prompts.length,
  };
}
