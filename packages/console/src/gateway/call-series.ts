import type { SeriesPoint, SeriesView } from '../contract.js';

/** How long the calls of 5 s took: 48 bins, each a fifth wider than the one before. */
interface Step {
  readonly at: number;
  calls: number;
  errors: number;
  readonly bins: Uint32Array;
  rssBytes: number | null;
  cpu: number | null;
}

/** Calls by server and time, for an hour: counted while the console is open. */
export class CallSeries {
  readonly #servers = new Map<string, Step[]>();

  add(server: string, now: number, ms: number, failed: boolean): void {
    const step = this.#stepAt(server, now);
    step.calls += 1;
    if (failed) step.errors += 1;
    step.bins[binOf(ms)]! += 1;
  }

  measure(server: string, now: number, rssBytes: number | undefined, cpu: number | undefined): void {
    const step = this.#stepAt(server, now);
    step.rssBytes = rssBytes ?? null;
    step.cpu = cpu ?? null;
  }

  /** Rates of the last minute. */
  recent(
    server: string | undefined,
    now: number,
  ): { rate: number; errorShare: number; p95: number | undefined } {
    const since = now - RECENT_MS;
    const found = this.#steps(server).filter(({ at }) => at + STEP_MS > since);
    const calls = found.reduce((sum, step) => sum + step.calls, 0);
    const errors = found.reduce((sum, step) => sum + step.errors, 0);
    return {
      rate: Math.round((calls / (RECENT_MS / 1000)) * 100) / 100,
      errorShare: calls === 0 ? 0 : errors / calls,
      p95: quantile(found, 0.95) ?? undefined,
    };
  }

  view(server: string | undefined, from: number, now: number): SeriesView {
    const first = Math.max(floor(from), floor(now) - (MAX_STEPS - 1) * STEP_MS);
    const count = Math.max(0, Math.floor((floor(now) - first) / STEP_MS) + 1);
    const all = this.#steps(server);
    const columns = Array.from({ length: count }, (_, at) =>
      all.filter((step) => step.at === first + at * STEP_MS),
    );
    const sum = (steps: readonly Step[], member: 'rssBytes' | 'cpu') => {
      const values = steps.flatMap((step) => step[member] ?? []);
      return values.length === 0 ? null : values.reduce((total, value) => total + value, 0);
    };
    return {
      ...(server !== undefined && { server }),
      ...{ from: first, stepMs: STEP_MS },
      calls: columns.map((steps) => steps.reduce((total, step) => total + step.calls, 0)),
      errors: columns.map((steps) => steps.reduce((total, step) => total + step.errors, 0)),
      p50: columns.map((steps) => quantile(steps, 0.5)),
      p95: columns.map((steps) => quantile(steps, 0.95)),
      p99: columns.map((steps) => quantile(steps, 0.99)),
      rssBytes: columns.map((steps) => sum(steps, 'rssBytes')),
      cpu: columns.map((steps) => sum(steps, 'cpu')),
    };
  }

  /** The step before the present one, of each server that had calls in it. */
  last(now: number): SeriesPoint[] {
    const at = floor(now) - STEP_MS;
    return [...this.#servers].flatMap(([server, steps]) => {
      const step = steps.find((each) => each.at === at && each.calls > 0);
      if (!step) return [];
      const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => quantile([step], share)) as [
        number,
        number,
        number,
      ];
      return [{ server, at, calls: step.calls, errors: step.errors, p50, p95, p99 }];
    });
  }

  forget(servers: ReadonlySet<string>): void {
    for (const name of this.#servers.keys()) if (!servers.has(name)) this.#servers.delete(name);
  }

  #steps(server: string | undefined): readonly Step[] {
    return server === undefined ? [...this.#servers.values()].flat() : (this.#servers.get(server) ?? []);
  }

  #stepAt(server: string, now: number): Step {
    const steps = this.#servers.get(server) ?? [];
    this.#servers.set(server, steps);
    const at = floor(now);
    const last = steps.at(-1);
    if (last?.at === at) return last;
    const step: Step = { at, calls: 0, errors: 0, bins: new Uint32Array(BINS), rssBytes: null, cpu: null };
    steps.push(step);
    if (steps.length > MAX_STEPS) steps.shift();
    return step;
  }
}

const STEP_MS = 5000;
const MAX_STEPS = 720;
const RECENT_MS = 60_000;
const BINS = 48;
const GROWTH = Math.log(1.35);

function floor(now: number): number {
  return Math.floor(now / STEP_MS) * STEP_MS;
}

/** From a tenth of a millisecond to some minutes. */
function binOf(ms: number): number {
  return Math.min(BINS - 1, Math.max(0, Math.ceil(Math.log(Math.max(ms, 0.1) / 0.1) / GROWTH)));
}

function quantile(steps: readonly Step[], share: number): number | null {
  const calls = steps.reduce((sum, step) => sum + step.calls, 0);
  if (calls === 0) return null;
  let left = Math.ceil(calls * share);
  for (let bin = 0; bin < BINS; bin += 1) {
    left -= steps.reduce((sum, step) => sum + step.bins[bin]!, 0);
    if (left <= 0) return Math.round(0.1 * Math.exp(bin * GROWTH) * 10) / 10;
  }
  return null;
}
