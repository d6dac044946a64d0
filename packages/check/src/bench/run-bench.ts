import { availableParallelism, loadavg } from 'node:os';
import { CostAccount } from './cost.js';
import type {
  BenchReport,
  BenchRequest,
  BenchSettings,
  BenchSide,
  Ratios,
  SideReport,
  Times,
} from './model.js';
import { asker, type DirectAsk } from './request.js';
import { perSecond, Tally } from './tally.js';
import { threeFigures } from './times.js';
import { type Ask, type Pace, runTurn, systemPace } from './turn.js';

interface BenchHooks {
  /** Ends the run early. The report has what was measured until then. */
  readonly signal?: AbortSignal;
  readonly pace?: Pace;
  /** Called at the start of a turn. */
  readonly onTurn?: (state: BenchState) => void;
}

/** The state of a running benchmark. */
export interface BenchState {
  /** The index of the target of this turn. */
  readonly index: number;
  readonly phase: 'warm-up' | 'measuring';
  /** Changes during the turn. */
  readonly tally: Tally;
  /** Measured time of all targets before this turn, and that of all turns. */
  readonly doneMs: number;
  readonly totalMs: number;
  /** Of this turn. */
  readonly durationMs: number;
}

/**
 * Puts load on each server. Several servers take turns, since the load of the machine changes over time. `requests` has one
 * request for each server.
 */
export async function runBench(
  sides: readonly BenchSide[],
  requests: readonly BenchRequest[],
  settings: BenchSettings,
  hooks: BenchHooks = {},
): Promise<BenchReport> {
  const { load, durationMs, warmupMs } = settings;
  const interrupted = hooks.signal ?? new AbortController().signal;
  const machine = { processors: availableParallelism(), loadBefore: Math.round(loadavg()[0]! * 10) / 10 };
  const lanes = sides.map((side, at) => openLane(side, requests[at]!));
  const turns = turnsOf(durationMs, sides.length);
  const totalMs = sides.length * durationMs;
  let doneMs = 0;
  const run = async (lane: BenchLane, phase: BenchState['phase'], ms: number) => {
    const { ask, direct, gone } = lane;
    const tally = phase === 'warm-up' ? lane.warmup : lane.tally;
    hooks.onTurn?.({ index: lanes.indexOf(lane), phase, tally, doneMs, totalMs, durationMs: ms });
    const pace = hooks.pace ?? systemPace;
    await runTurn({ ask, direct, load, durationMs: ms, tally, pace, interrupted, gone });
    if (phase === 'measuring') doneMs += ms;
  };
  if (warmupMs > 0) for (const lane of lanes) await run(lane, 'warm-up', warmupMs);
  for (let turn = 0; turn < turns; turn += 1) {
    for (const lane of lanes) {
      // When one server is gone, the others cannot be compared.
      if (interrupted.aborted || lanes.some(({ gone }) => gone.aborted)) continue;
      await lane.cost.around(() => run(lane, 'measuring', durationMs / turns));
    }
  }
  const targets = lanes.map((lane) => report(lane, load.kind === 'open'));
  return {
    load: { ...load, durationMs, warmupMs, turns },
    machine,
    interrupted: interrupted.aborted,
    targets,
    ratios: compareSides(targets),
  };
}

/** A target with its measurements. */
interface BenchLane {
  readonly side: BenchSide;
  readonly request: BenchRequest;
  readonly ask: Ask;
  readonly direct: DirectAsk | undefined;
  readonly warmup: Tally;
  readonly tally: Tally;
  readonly cost: CostAccount;
  readonly gone: AbortSignal;
}

function openLane(side: BenchSide, request: BenchRequest): BenchLane {
  const gone = new AbortController();
  void side.client.closed.then(() => gone.abort());
  return {
    side,
    request,
    ask: asker(side.client, request),
    direct: side.direct?.asker(request),
    warmup: new Tally(),
    tally: new Tally(),
    cost: new CostAccount(side.pid),
    gone: gone.signal,
  };
}

/** Targets take turns of about a second. */
function turnsOf(durationMs: number, sides: number): number {
  return sides === 1 ? 1 : Math.min(60, Math.max(4, Math.round(durationMs / 1000)));
}

function report(lane: BenchLane, isOpenLoop: boolean): SideReport {
  const { side, request, cost, gone } = lane;
  // A server that died in its warm-up was not measured. Its failures are the only thing to report.
  const tally = gone.aborted && lane.tally.turns.length === 0 ? lane.warmup : lane.tally;
  const { client, label } = side;
  const { answered, failed, unsent, abandoned, elapsedMs } = tally;
  return {
    target: label,
    era: client.era,
    revision: client.revision,
    server: client.server.info ?? null,
    request,
    answered,
    failed,
    unsent,
    abandoned,
    elapsedMs: Math.round(elapsedMs),
    perSecond: perSecond(answered, elapsedMs),
    latencyMs: tally.latency.summary(),
    serviceMs: tally.service.summary(),
    errors: tally.errors,
    longestSilence: tally.longestSilence,
    process: cost.server(tally),
    driver: cost.driver(tally, isOpenLoop),
    gone: gone.aborted,
    turns: tally.turns,
  };
}

/** Compares each target with the first. */
export function compareSides([base, ...others]: readonly SideReport[]): readonly Ratios[] {
  return base ? others.map((side) => compare(side, base)) : [];
}

function compare(side: SideReport, base: SideReport): Ratios {
  const latency = (name: keyof Times) => ratio(side.latencyMs?.[name], base.latencyMs?.[name]);
  return {
    target: side.target,
    against: base.target,
    throughput: throughput(side, base),
    latency: {
      min: latency('min'),
      mean: latency('mean'),
      p50: latency('p50'),
      p90: latency('p90'),
      p99: latency('p99'),
      p999: latency('p999'),
      max: latency('max'),
    },
    cpuPerRequest: ratio(side.process?.cpuMicrosPerRequest, base.process?.cpuMicrosPerRequest),
    peakRss: ratio(side.process?.peakRssBytes, base.process?.peakRssBytes),
  };
}

/** Compares turn by turn, since neighbouring turns run under similar conditions. */
function throughput(side: SideReport, base: SideReport): Ratios['throughput'] {
  const pairs = side.turns.flatMap((turn, at) => ratio(turn.perSecond, base.turns[at]?.perSecond) ?? []);
  if (pairs.length === 0) return null;
  const sorted = pairs.toSorted((a, b) => a - b);
  return { ratio: threeFigures(median(sorted)), min: sorted[0]!, max: sorted.at(-1)! };
}

function median(sorted: readonly number[]): number {
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function ratio(value: number | null | undefined, base: number | null | undefined): number | null {
  if (value === null || value === undefined || !base) return null;
  return threeFigures(value / base);
}
