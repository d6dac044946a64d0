import type { Ratios, SideReport, Times } from './model.js';
import { threeFigures } from './times.js';

/** Each target but the first, measured by the first. */
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

/** Turn by turn: what the machine did to one it most likely did to its neighbour. */
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
