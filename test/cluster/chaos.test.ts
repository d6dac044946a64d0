import { describe, expect, it, onTestFinished } from 'vitest';
import { OF_ALL, OF_ENDS, OF_REPLICAS } from './storm/deeds.js';
import { faultOf, tally } from './storm/judge.js';
import { openStage } from './storm/stage.js';
import { storm } from './storm/storm.js';
import { hasClusterTools } from './support.js';

/**
 * Without seeds, replicas end and come back (`ends`). The other storms find rare faults, and are run with seeds:
 * ISTHMUS_CHAOS_SEED=1,5,8. Of 66 passes on a busy machine 6 failed, with a call that asks and was left without an answer.
 * A trace showed why: a process that was stopped (SIGSTOP) until another one had its session woke up without a connection to
 * Redis, and accepted the answer to a question of the other process. That is corrected, and has a small test
 * (adoption.test.ts). Of 22 passes after that (seeds 1, 2, 3, 5, 8, 13 and 21 to 24) none failed. In one earlier pass (seed 1,
 * of replicas) a session was lost, which has not been seen again and is not explained. ISTHMUS_CHAOS_TRACE=FOLDER keeps
 * all HTTP messages of a pass that failed.
 */
const SEEDS = process.env['ISTHMUS_CHAOS_SEED']?.split(',').map(Number);
const STORMS: readonly { readonly seed: number; readonly of: keyof typeof DEEDS_OF }[] = SEEDS?.flatMap(
  (seed) => [{ seed, of: 'replicas' } as const, { seed, of: 'all' } as const],
) ?? [{ seed: 1, of: 'ends' }];
const DEEDS_OF = { ends: OF_ENDS, replicas: OF_REPLICAS, all: OF_ALL };
const FOR_MS = Number(process.env['ISTHMUS_CHAOS_MS'] ?? 15_000);
const CLIENTS = [
  ...(['our modern', 'our legacy', 'official v1', 'official v2', 'raw modern', 'raw legacy'] as const),
  ...(['our legacy', 'official v1', 'raw legacy'] as const),
];

describe.skipIf(!hasClusterTools)(
  'three replicas in a storm, behind nginx (skipped without redis-server and nginx)',
  () => {
    it.each(STORMS)(
      'end each call once and truly (ISTHMUS_CHAOS_SEED=$seed, of $of)',
      { timeout: FOR_MS + 180_000 },
      async ({ seed, of }) => {
        const stage = await openStage(3);
        onTestFinished(() => stage.close());
        const { outcomes, did, complaints } = await storm(stage, {
          ...{ seed, forMs: FOR_MS, deeds: DEEDS_OF[of], clients: CLIENTS },
        });
        const runs = stage.runs();
        if (process.env['ISTHMUS_CHAOS_VERBOSE'])
          console.log(JSON.stringify({ did, ends: tally(outcomes) }, null, 2));
        const faults = outcomes.flatMap((each) => faultOf(each, runs.get(each.token) ?? 0) ?? []);
        const gone = outcomes.filter(({ end }) => end.kind === 'error' && end.error.isSessionGone);
        if (faults.length > 0 || (of === 'replicas' && gone.length > 0))
          stage.keepTrace(`${seed}-${of}-${Date.now()}`);
        expect(faults).toEqual([]);
        expect(complaints).toEqual([]);
        expect(await stage.leftovers()).toEqual([]);
        // Each run belongs to a call.
        const tokens = new Set(outcomes.map(({ token }) => token));
        expect([...runs.keys()].filter((token) => !tokens.has(token))).toEqual([]);
        // Otherwise nothing was proven.
        expect(outcomes.filter(({ end }) => end.kind === 'answer').length).toBeGreaterThan(10);
        if (of === 'replicas') {
          expect(gone.map(({ client, end }) => [client, end])).toEqual([]);
        }
      },
    );
  },
);
