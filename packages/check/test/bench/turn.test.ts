/** A turn, whatever its load: failures, giving up, the server's end and the user's. */
import { describe, expect, it } from 'vitest';
import type { BenchFailure } from '../../src/bench/request.js';
import { SilenceWatch } from '../../src/bench/tally.js';
import { playTurn } from '../support/bench.js';

const refused: BenchFailure = { kind: 'error -32602', example: 'no', answered: true };
const timedOut: BenchFailure = { kind: 'TIMED_OUT', example: 'late', answered: false };
const both = [
  { kind: 'closed', concurrency: 4 },
  { kind: 'open', perSecond: 100, concurrency: 4 },
] as const;

describe.each(both)('a turn of a $kind loop', (load) => {
  it('counts failures by kind, and takes no time from them', async () => {
    const tally = await playTurn(load, 200, () => 10, { failure: refused });
    expect(tally.answered).toBe(0);
    expect(tally.failed).toBeGreaterThanOrEqual(20);
    expect(tally.errors).toEqual([{ kind: 'error -32602', count: tally.failed, example: 'no' }]);
    expect(tally.latency.summary()).toBeNull();
  });

  it('counts what was waited in vain as time: silence must not make a server look fast', async () => {
    const tally = await playTurn(load, 200, () => 5000, { failure: timedOut });
    expect(tally.failed).toBe(4);
    expect(tally.service.summary()).toMatchObject({ p50: 5000, max: 5000 });
    expect(tally.latency.summary()!.max).toBeGreaterThanOrEqual(5000);
    expect(tally.longestSilence).toMatchObject({ atMs: 0 });
    expect(tally.longestSilence!.ms).toBeGreaterThanOrEqual(5000);
  });

  it('ends at once when the user has seen enough, and leaves out what is in flight', async () => {
    const tally = await playTurn(load, 60_000, (at) => (at < 100 ? 10 : 'never'), { interruptAtMs: 300 });
    expect(tally).toMatchObject({ abandoned: 4, elapsedMs: 300 });
    expect(tally.answered).toBeGreaterThanOrEqual(10);
    expect(tally.longestSilence!.ms).toBeGreaterThan(150);
  });

  it('sends nothing more to a server that is gone', async () => {
    let last = 0;
    const tally = await playTurn(
      load,
      10_000,
      (at) => {
        last = at;
        return 10;
      },
      { goneAtMs: 500 },
    );
    expect(last).toBeLessThanOrEqual(500);
    expect(tally.elapsedMs).toBeLessThanOrEqual(510);
    expect(tally.abandoned).toBe(0);
  });
});

describe('a turn of a closed loop', () => {
  it('does not send what failed once more when the turn is over', async () => {
    let asked = 0;
    const takes = () => {
      asked += 1;
      return 10;
    };
    // All four have just failed, and wait for their turn.
    const tally = await playTurn({ kind: 'closed', concurrency: 4 }, 1000, takes, {
      failure: refused,
      interruptAtMs: 10,
    });
    expect(asked).toBe(4);
    expect(tally).toMatchObject({ failed: 4, abandoned: 0 });
  });

  it('keeps so many in flight, and counts those that end after the time', async () => {
    let inFlight = 0;
    let most = 0;
    const tally = await playTurn({ kind: 'closed', concurrency: 3 }, 100, () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      setImmediate(() => {
        inFlight = 0;
      });
      return 40;
    });
    expect(most).toBe(3);
    expect(tally).toMatchObject({ answered: 9, elapsedMs: 120 });
    expect(tally.turns).toEqual([{ answered: 9, elapsedMs: 120, perSecond: 75 }]);
  });
});

describe('the longest silence', () => {
  it('is not ended by what was given up: only the server can end it', () => {
    const silence = new SilenceWatch();
    silence.asked(0);
    silence.asked(0);
    silence.settled(100, true, 0);
    silence.asked(100);
    silence.settled(400, false, 0);
    silence.settled(900, true, 5);
    expect(silence.longest).toEqual({ ms: 800, atMs: 100, waiting: 6 });
  });

  it('does not count the time in which nothing was awaited', () => {
    const silence = new SilenceWatch();
    silence.asked(0);
    silence.settled(10, true, 0);
    silence.asked(5000);
    silence.settled(5020, true, 0);
    silence.over(9000, 0);
    expect(silence.longest).toEqual({ ms: 20, atMs: 5000, waiting: 1 });
  });
});
