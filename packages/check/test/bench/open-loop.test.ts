/** With a rate: what is due is counted from when it was due, whatever the server does meanwhile. */
import { describe, expect, it } from 'vitest';
import { playTurn } from '../support/bench.js';

/** Answers in 2 ms, except that from the first to the second second of the run it does nothing. */
const stalls = (atMs: number) => (atMs >= 1000 && atMs < 2000 ? 2000 - atMs + 2 : 2);
const steady = () => 2;

describe('open loop', () => {
  it('sends at the rate, from the first moment on', async () => {
    const tally = await playTurn({ kind: 'open', perSecond: 100, concurrency: 256 }, 1000, steady);
    expect(tally).toMatchObject({ answered: 100, failed: 0, unsent: 0, abandoned: 0, elapsedMs: 1000 });
    expect(tally.latency.summary()).toMatchObject({ min: 2, p50: 2, max: 2 });
    expect(tally.turns).toEqual([{ answered: 100, elapsedMs: 1000, perSecond: 100 }]);
  });

  it('shows a stall of one second in the percentiles, and names it', async () => {
    const tally = await playTurn({ kind: 'open', perSecond: 100, concurrency: 256 }, 4000, stalls);
    expect(tally.answered).toBe(400);
    // A quarter of all requests were due in it, and waited half a second on average.
    expect(tally.latency.summary()).toMatchObject({ p50: 2, p90: 602, p99: 962, max: 1000 });
    expect(tally.longestSilence).toEqual({ ms: 1000, atMs: 1000, waiting: 101 });
  });

  it('counts from when each was due, although only one at a time may leave', async () => {
    const tally = await playTurn({ kind: 'open', perSecond: 100, concurrency: 1 }, 4000, stalls);
    expect(tally.answered).toBe(400);
    expect(tally.latency.summary()).toMatchObject({ p50: 2, p99: 970, max: 1000 });
    // The server was asked once while it stalled: by itself, that looks as if almost nobody had waited.
    expect(tally.service.summary()).toMatchObject({ p50: 2, p90: 2, p99: 2, max: 1000 });
    expect(tally.longestSilence).toMatchObject({ ms: 1000, atMs: 1000 });
  });

  it('a closed loop with the same server hides it: this is why there is a rate', async () => {
    const tally = await playTurn({ kind: 'closed', concurrency: 1 }, 4000, stalls);
    expect(tally.latency.summary()).toMatchObject({ p50: 2, p99: 2, p999: 2, max: 1000 });
    expect(tally.longestSilence).toEqual({ ms: 1000, atMs: 1000, waiting: 1 });
  });

  it('accounts for what was due and could not be sent until the end', async () => {
    const slow = () => 100;
    const tally = await playTurn({ kind: 'open', perSecond: 100, concurrency: 1 }, 1000, slow);
    expect(tally.answered).toBe(10);
    expect(tally.unsent).toBe(90);
    // The last that was answered was due after 90 ms; the first that never left had waited 900 ms until the end.
    expect(tally.latency.summary()).toMatchObject({ p50: 460, p99: 900, max: 910 });
    expect(tally.latency.count).toBe(100);
    expect(tally.service.summary()).toMatchObject({ p50: 100, max: 100 });
  });

  it('sends what the driver itself is late with: only the server can be too slow', async () => {
    const tally = await playTurn({ kind: 'open', perSecond: 100, concurrency: 256 }, 1000, steady, {
      driverSleeps: [500, 1500],
    });
    expect(tally).toMatchObject({ answered: 100, unsent: 0 });
    expect(tally.late.summary()).toMatchObject({ min: 0, max: 990 });
  });

  it('knows a lateness of its own only where it could have sent', async () => {
    const behind = await playTurn({ kind: 'open', perSecond: 100, concurrency: 1 }, 1000, () => 100);
    expect(behind.late.summary()).toMatchObject({ max: 0 });
  });

  it('waits for what is in flight at the end, and sends nothing more', async () => {
    let asked = 0;
    const tally = await playTurn({ kind: 'open', perSecond: 10, concurrency: 256 }, 1000, () => {
      asked += 1;
      return 700;
    });
    expect(asked).toBe(10);
    expect(tally).toMatchObject({ answered: 10, elapsedMs: 1600 });
  });

  it('takes rates below one a second and above one a millisecond', async () => {
    const rare = await playTurn({ kind: 'open', perSecond: 0.5, concurrency: 1 }, 4000, steady);
    expect(rare.answered).toBe(2);
    const dense = await playTurn({ kind: 'open', perSecond: 5000, concurrency: 256 }, 1000, steady);
    expect(dense).toMatchObject({ answered: 5000, unsent: 0 });
  });
});
