/** Many servers, many clients, and everything that can happen to a gateway: nothing is lost, and nobody lies. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { childrenOf } from '../../../sdk/test/support/host-lifetime.js';
import { onLinux } from '../../../sdk/test/support/process.js';
import { faultOf, tally } from '../support/chaos/judge.js';
import type { Runner } from '../support/chaos/rush.js';
import { weather } from '../support/chaos/storm.js';

const RUNNERS: readonly Runner[] = [
  { kind: 'our modern', at: 'all' },
  { kind: 'our legacy', at: 'all' },
  { kind: 'official v1', at: 'all' },
  { kind: 'official v2 modern', at: 'all' },
  { kind: 'official v2 auto', at: 'v1' },
  { kind: 'official v1', at: 'v2' },
  { kind: 'our modern', at: 'legacy' },
  { kind: 'our legacy', at: 'modern' },
  { kind: 'raw modern', at: 'fragile' },
  { kind: 'raw legacy', at: 'tree' },
  { kind: 'raw modern', at: 'all' },
  { kind: 'raw legacy', at: 'all' },
];

/** `npm run soak -- --storms MINUTES` gives others, and more time. What found something can be given again. */
const SEEDS = process.env['ISTHMUS_CHAOS_SEED']?.split(',').map(Number) ?? [7, 41];
const LIMIT_MS = Number(process.env['ISTHMUS_CHAOS_MS'] ?? 3000);

describe.runIf(onLinux)('a gateway in a storm', () => {
  const heaps: number[] = [];
  // When nobody holds what the storm has left to be judged.
  afterEach(() => void heaps.push(heapMB()));

  it.each(SEEDS)(
    'ends each call once and truly, and tells no lie (ISTHMUS_CHAOS_SEED=%i)',
    { timeout: LIMIT_MS + 150_000 },
    async (seed) => {
      const children = childrenOf(process.pid).length;
      const handles = activeHandles();
      const report = await weather({
        seed,
        runners: RUNNERS,
        limitMs: LIMIT_MS,
        watchdogMs: 25_000,
      });
      if (process.env['ISTHMUS_CHAOS_VERBOSE']) {
        const { deeds, weighed, processes, calm } = report;
        console.log(JSON.stringify({ ...tally(report.outcomes), deeds, weighed, processes, calm }, null, 2));
      }
      const { outcomes, runs } = report;
      expect(report.lies).toEqual([]);
      expect(outcomes.flatMap((each) => faultOf(each, runs.get(each.token) ?? 0) ?? [])).toEqual([]);
      expect(report.troubles).toEqual([]);
      expect(new Set(outcomes.map(({ token }) => token)).size).toBe(outcomes.length);
      // Otherwise nothing was proven. It is much more where the machine has nothing else to do.
      expect(outcomes.filter(({ end }) => end.kind === 'answer').length).toBeGreaterThan(50);

      expect(report.calm).toEqual({ ready: true, inFlight: 0, queued: 0, conversations: 0 });
      expect(report.processesLeft).toEqual([]);
      expect(report.timersLeft).toEqual([]);
      await until('as many children as before', () => childrenOf(process.pid).length <= children);
      await until('no handle is left', () => activeHandles() <= handles);
    },
  );

  it('leaves no more memory in use after the last than after the first', () => {
    expect(heaps.length).toBeGreaterThanOrEqual(SEEDS.length);
    if (process.env['ISTHMUS_CHAOS_VERBOSE']) console.log(heaps);
    // Code that was compiled meanwhile, and what each gateway measures of the process as a whole.
    expect(heaps.at(-1)! - heaps[0]!).toBeLessThan(6 + 2 * SEEDS.length);
  });
});

function heapMB(): number {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  gc();
  gc();
  return process.memoryUsage().heapUsed / 1e6;
}

function activeHandles(): number {
  const kinds = new Set(['Timeout', 'ProcessWrap', 'PipeWrap', 'TCPServerWrap', 'FSReqCallback']);
  return process.getActiveResourcesInfo().filter((kind) => kinds.has(kind)).length;
}
