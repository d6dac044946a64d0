import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { IsthmusError } from '../../src/errors.js';
import { type ChaosReport, faultOf, runChaos } from '../support/host-chaos.js';
import { isAlive, onLinux, until } from '../support/process.js';

/** Another one for each run; the one that found something can be given again. */
const SEED = Number(process.env['ISTHMUS_CHAOS_SEED'] ?? Date.now() % 1_000_000);

describe.runIf(onLinux)(`chaos (ISTHMUS_CHAOS_SEED=${SEED})`, () => {
  const after = new Map<string, Footprint>();

  it.each([
    ['modern', 'one shared process', 'shared'],
    ['legacy', 'one shared process', 'shared'],
    ['modern', 'a pool of three', { pool: 3 }],
    ['legacy', 'a pool of three', { pool: 3 }],
  ] as const)(
    'every one of 2,000 calls to a %s server, %s, ends once and truly',
    { timeout: 60_000 },
    async (era, _title, processes) => {
      const children = childrenOfThis();
      const handles = activeHandles();
      const report = await runChaos({
        seed: SEED,
        era,
        processes,
        conversations: 20,
        callsEach: 100,
        watchdogMs: 15_000,
      });
      if (process.env['ISTHMUS_CHAOS_VERBOSE']) console.log(describeReport(report));

      expect(report.troubles).toEqual([]);
      expect(report.outcomes.length).toBe(2000);
      expect(new Set(report.outcomes.map(({ token }) => token)).size).toBe(2000);
      const faults = report.outcomes.flatMap(
        (outcome) => faultOf(outcome, report.runs.get(outcome.token) ?? 0) ?? [],
      );
      expect(faults).toEqual([]);
      // Otherwise nothing was proven. It is much more where the machine has nothing else to do.
      expect(report.outcomes.filter(({ end }) => end.kind === 'answer').length).toBeGreaterThan(200);
      expect(report.did.kill).toBeGreaterThan(2);
      expect(report.pids.length).toBeGreaterThan(4);

      await until('every process is gone', () => !report.pids.some(isAlive));
      await until('there are as many children as before', () => childrenOfThis() <= children);
      await until('no handle is left', () => activeHandles() <= handles);
      expect(report.timersLeft()).toBe(0);
      after.set(`${era} ${JSON.stringify(processes)}`, footprint());
    },
  );

  it('leaves no more memory in use than the first of them needed', () => {
    expect(after.size).toBe(4);
    const [first, , , last] = [...after.values()];
    if (process.env['ISTHMUS_CHAOS_VERBOSE']) console.log([...after]);
    expect(last!.heapMB - first!.heapMB).toBeLessThan(10);
    expect(last!.rssMB - first!.rssMB).toBeLessThan(60);
  });
});

interface Footprint {
  readonly heapMB: number;
  readonly rssMB: number;
}

function footprint(): Footprint {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  gc();
  gc();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapMB: heapUsed / 1e6, rssMB: rss / 1e6 };
}

/** Living or not yet reaped. */
function childrenOfThis(): number {
  const text = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).length;
}

function activeHandles(): number {
  const kinds = new Set(['Timeout', 'ProcessWrap', 'PipeWrap', 'FSReqCallback']);
  return process.getActiveResourcesInfo().filter((kind) => kinds.has(kind)).length;
}

function describeReport({ outcomes, pids, did }: ChaosReport): string {
  const ends = new Map<string, number>();
  for (const { end, calledOff } of outcomes) {
    const error = end.kind === 'error' ? (end.error as IsthmusError) : undefined;
    const why = calledOff ? 'called off' : error?.message;
    const key = error ? `${error.code}/${error.sent} ${why}` : end.kind;
    ends.set(key, (ends.get(key) ?? 0) + 1);
  }
  return JSON.stringify({ ends: Object.fromEntries(ends), processes: pids.length, did }, null, 2);
}
