/** Two targets as numbers of one divided by the other. */
import { describe, expect, it } from 'vitest';
import type { SideReport } from '../../src/bench/model.js';
import { compareSides } from '../../src/bench/run-bench.js';

describe('ratios', () => {
  it('are those of each other target to the first', () => {
    const [ratios, ...more] = compareSides([
      side({ perSecond: [100, 100, 200], p99: 2, cpu: 10, rss: 100 }),
      side({ perSecond: [50, 80, 100], p99: 5, cpu: 25, rss: 50 }),
    ]);
    expect(more).toEqual([]);
    expect(ratios).toMatchObject({
      // By turns, so that a machine that is fast for a while does not tip the scales: 0.5, 0.8, 0.5.
      throughput: { ratio: 0.5, min: 0.5, max: 0.8 },
      latency: { p50: 2.5, p99: 2.5 },
      cpuPerRequest: 2.5,
      peakRss: 0.5,
    });
  });

  it('are the middle of an even number of turns', () => {
    const [ratios] = compareSides([
      side({ perSecond: [100, 100, 100, 100], p99: 1 }),
      side({ perSecond: [10, 20, 40, 80], p99: 1 }),
    ]);
    expect(ratios!.throughput).toEqual({ ratio: 0.3, min: 0.1, max: 0.8 });
  });

  it('are null where one side is not known or has nothing', () => {
    const [ratios] = compareSides([
      side({ perSecond: [0], p99: 1 }),
      side({ perSecond: [10], p99: 1, cpu: 10, rss: 10 }),
    ]);
    expect(ratios).toMatchObject({ throughput: null, cpuPerRequest: null, peakRss: null });
  });

  it('are none for a target alone', () => {
    expect(compareSides([side({ perSecond: [1], p99: 1 })])).toEqual([]);
  });
});

function side(numbers: {
  readonly perSecond: readonly number[];
  readonly p99: number;
  readonly cpu?: number;
  readonly rss?: number;
}): SideReport {
  const { perSecond, p99, cpu, rss } = numbers;
  const times = { min: p99, mean: p99, p50: p99, p90: p99, p99, p999: p99, max: p99 };
  const turns = perSecond.map((each) => ({ answered: each, elapsedMs: 1000, perSecond: each }));
  const process =
    cpu === undefined || rss === undefined
      ? null
      : { cpuMs: cpu, cpuMicrosPerRequest: cpu, peakRssBytes: rss, processes: 1 };
  return { target: 't', latencyMs: times, serviceMs: times, turns, process } as unknown as SideReport;
}
