import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { ALL_ERAS } from '@isthmus/sdk/internal/era/revisions.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { createRequestDefaults } from '../conversation/conversation.js';
import type { Check, EraReport, Finding, Report } from '../model.js';
import { CHECKS } from '../suites/index.js';
import type { Facts } from '../survey/facts.js';
import { findEras } from '../survey/find-eras.js';
import type { CheckTarget } from '../wire/targets.js';
import { applyBaseline, type Baseline } from './baseline.js';
import type { CheckPatience } from './check-context.js';
import { createFairClock } from './fair-clock.js';
import { countsOf, gradeOf } from './grade.js';
import { groupFindings } from './group-findings.js';
import { type CheckChoice, choose, type Planned, planRun } from './plan.js';
import type { RunContext } from './prepare-context.js';
import { findingOf, runCheck } from './run-check.js';
import { openRunContext } from './run-context.js';
import { createServerWatch } from './server-watch.js';

export interface CheckOptions extends CheckChoice {
  /** Default: those that the target speaks. */
  readonly eras?: readonly Era[];
  /** Calls tools that do not say that they only read, unless they say that they destroy something. */
  readonly callTools?: boolean;
  /** Calls no tools but those of `allow`, not even those that say that they only read. */
  readonly noTools?: boolean;
  /** Calls these tools, whatever they say. */
  readonly allow?: readonly string[];
  /** Arguments for tools, by name, where their schema does not tell enough. */
  readonly args?: Readonly<Record<string, JsonObject>>;
  /** Of the tools that may be called, those that are called to look around. Default: all. */
  readonly visit?: readonly string[];
  /** For checks that make up their input. Default: a new one each time; the report has it. */
  readonly seed?: number;
  /** How many inputs each of them tries. Default 100. */
  readonly fuzzRuns?: number;
  readonly patience?: Partial<CheckPatience>;
  /**
   * Looks around in one era after the other, rather than in both at once. Behind a bridge they may share a process, and
   * what that logs while two of its clients have calls there is for neither.
   */
  readonly inTurn?: boolean;
  /** Checks with connections of their own that run at the same time. Default 4. */
  readonly concurrency?: number;
  readonly baseline?: Baseline;
  /** Told of every finding as it comes. */
  readonly onFinding?: (finding: Finding, progress: Progress) => void;
  /** Stops after the checks that are under way. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** Of the tool, for the report. Default: that of this package. */
  readonly version?: string;
  /** Default: all that there are. */
  readonly checks?: readonly Check[];
}

export interface Progress {
  readonly done: number;
  readonly of: number;
}

/** Judges a server. Rejects only where there is nothing to judge: it cannot be reached, or speaks no era. */
export async function checkServer(target: CheckTarget, options: CheckOptions = {}): Promise<Report> {
  return (await surveyAndCheck(target, options)).report;
}

/** The same, with what was learned of the server on the way. */
export async function surveyAndCheck(
  target: CheckTarget,
  options: CheckOptions = {},
): Promise<{ readonly report: Report; readonly facts: readonly Facts[] }> {
  const checks = options.checks ?? CHECKS;
  const chosen = choose(checks, options);
  if (chosen.length === 0) throw new IsthmusError('INVALID_OPTION', 'No check has been chosen');
  const clock = options.clock ?? systemClock;
  const began = clock.now();
  const house = await enter(target, options);
  try {
    const plan = planRun(chosen, target.transport, [...house.facts.keys()], house.facts.get('legacy')?.isSse);
    const found = groupFindings(await runAll(plan, house, options), [...house.facts.values()]);
    const { findings, stale } = options.baseline
      ? applyBaseline(found, options.baseline, {
          chosen: new Set(chosen.map(({ id }) => id)),
          known: new Set(checks.map(({ id }) => id)),
          ...(options.eras && { eras: new Set(options.eras) }),
        })
      : { findings: found, stale: [] };
    const report: Report = {
      target: { label: target.label, transport: target.transport },
      eras: [...house.facts.values()].map(toEraReport),
      findings,
      counts: countsOf(findings),
      grade: gradeOf(findings, house.watch.goneAfter),
      ...(house.watch.goneAfter !== undefined && { goneAfter: house.watch.goneAfter }),
      // Checks that were called off say nothing about their entries.
      stale: options.signal?.aborted ? [] : stale,
      seed: house.seed,
      started: new Date(began).toISOString(),
      ms: clock.now() - began,
      version: options.version ?? VERSION,
    };
    return { report, facts: [...house.facts.values()] };
  } finally {
    await house.close();
  }
}

/** Only a look around: what the server is in each era. */
export async function survey(target: CheckTarget, options: CheckOptions = {}): Promise<readonly Facts[]> {
  const house = await enter(target, options);
  await house.close();
  return [...house.facts.values()];
}

async function enter(
  target: CheckTarget,
  options: CheckOptions,
): Promise<RunContext & { close(): Promise<void> }> {
  // Who says how long to wait gets just that.
  const fair =
    options.clock || options.patience?.answerMs !== undefined ? undefined : createFairClock(systemClock);
  try {
    const house = await enterBy(fair ?? options.clock ?? systemClock, target, options);
    const close = async () => {
      await house.close();
      fair?.stop();
    };
    return { ...house, close };
  } catch (error) {
    fair?.stop();
    throw error;
  }
}

async function enterBy(
  clock: Clock,
  target: CheckTarget,
  options: CheckOptions,
): Promise<RunContext & { close(): Promise<void> }> {
  const patience: CheckPatience = { ...PATIENCE, ...options.patience };
  const { helloMs, answerMs } = patience;
  const manners = createRequestDefaults();
  const verdicts = await findEras(target, options.eras ?? ALL_ERAS, { clock, helloMs, answerMs, manners });
  const talks = verdicts.flatMap((verdict) => (verdict.speaks ? [verdict.talk] : []));
  if (talks.length === 0) throw speaksNothing(target, verdicts);
  const watch = createServerWatch(target, clock);
  // Of calls in two eras at once nobody could say which of them ended the server.
  const isBold =
    target.transport !== 'command' && (options.callTools === true || options.allow !== undefined);
  const opening = openRunContext({
    target,
    watch,
    clock,
    patience,
    seed: options.seed ?? Math.floor(Math.random() * 2 ** 31),
    fuzzRuns: options.fuzzRuns ?? 100,
    verdicts,
    talks,
    inTurn: options.inTurn ?? isBold,
    tour: {
      callTools: options.callTools ?? false,
      noTools: options.noTools ?? false,
      allow: options.allow ?? [],
      args: options.args ?? {},
      visit: options.visit,
      stopMs: Math.min(2000, answerMs),
      manners,
      isGone: watch.look,
    },
  });
  // Without a house nobody else would.
  opening.catch(() => Promise.all(talks.map((talk) => talk.close())));
  return opening;
}

const PATIENCE: CheckPatience = { helloMs: 20_000, answerMs: 5000, quietMs: 300, checkMs: 30_000 };

/** Polite checks one after the other in each era, others beside them, and the readers when all is said. */
async function runAll(
  plan: readonly Planned[],
  house: RunContext,
  options: CheckOptions,
): Promise<Finding[]> {
  const found = new Map<Planned, Finding>();
  const judge = async (planned: Planned): Promise<void> => {
    if (options.signal?.aborted) return;
    const finding = planned.obstacle === undefined ? await runFairly(planned, house) : notRun(planned);
    found.set(planned, finding);
    options.onFinding?.(finding, { done: found.size, of: plan.length });
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
      for (const planned of inLane('rough')) if (planned.era === era) await judge(planned);
    }),
    ...Array.from({ length: options.concurrency ?? 4 }, worker),
  ]);
  for (const planned of inLane('after')) await judge(planned);
  return plan.flatMap((planned) => found.get(planned) ?? []);
}

/** On a connection that others have ill-treated, a check that does not hold gets a second chance on a new one. */
async function runFairly({ check, era }: Planned, house: RunContext): Promise<Finding> {
  const isGoneBefore = house.watch.goneAfter !== undefined;
  const finding = await runCheck(check, era, house);
  const holds = finding.outcome === 'pass' || finding.outcome === 'skip';
  if (isGoneBefore && finding.outcome === 'error')
    return findingOf(check, era, 'skip', { seen: goneWhy(house), ms: finding.ms });
  // Checks that only read what was heard are judged all the same: they have no use for the server.
  if (!holds && !isGoneBefore && (await house.watch.look(`the check ${check.id}`))) {
    const isCulprit = house.watch.goneAfter === `the check ${check.id}`;
    if (isCulprit) return { ...finding, seen: `${finding.seen}; the server was gone after this check` };
    return findingOf(check, era, 'skip', { seen: goneWhy(house), ms: finding.ms });
  }
  if (check.lane !== 'rough' || holds || !(await house.renewRoughTalk(era))) return finding;
  const again = await runCheck(check, era, house);
  return { ...again, ms: again.ms + finding.ms };
}

function goneWhy({ watch }: RunContext): string {
  return `the server was gone after ${watch.goneAfter}`;
}

function notRun({ check, era, obstacle = '' }: Planned): Finding {
  return findingOf(check, era, 'skip', { seen: obstacle, ms: 0 });
}

function speaksNothing(target: CheckTarget, verdicts: Awaited<ReturnType<typeof findEras>>): IsthmusError {
  const evidence = verdicts.map((verdict) => (verdict.speaks ? '' : `${verdict.era}: ${verdict.why}`));
  const failures = verdicts.flatMap((verdict) =>
    verdict.speaks || !verdict.unreachable ? [] : [verdict.unreachable],
  );
  const isUnreachable = failures.length === verdicts.length;
  return new IsthmusError(
    isUnreachable ? 'ADDRESS_UNAVAILABLE' : 'NO_COMMON_REVISION',
    `${target.label} speaks no era of MCP that was asked for; there is nothing to judge`,
    {
      evidence,
      ...(isUnreachable && { cause: new AggregateError(failures, `Cannot connect to ${target.label}`) }),
    },
  );
}

/** What the report says of an era. */
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
