import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { createFairClock } from '../../src/run/fair-clock.js';

describe('the clock of a run', () => {
  it('is the clock that it was made from on a machine with room', () => {
    const base = new FakeClock();
    const clock = createFairClock(base, () => 1);
    let isOver = false;
    clock.after(5000, () => {
      isOver = true;
    });
    base.advance(4999);
    expect(isOver).toBe(false);
    base.advance(1);
    expect(isOver).toBe(true);
    clock.stop();
  });

  it('goes at a quarter of the speed where eight tasks wait for each processor', () => {
    const base = new FakeClock();
    const clock = createFairClock(base, () => 8);
    const began = clock.now();
    let isOver = false;
    clock.after(5000, () => {
      isOver = true;
    });
    base.advance(19_000);
    expect(isOver).toBe(false);
    // Time is taken away every 200 ms, and stands still until that is made up for.
    expect(clock.now() - began).toBeGreaterThanOrEqual(4750);
    expect(clock.now() - began).toBeLessThanOrEqual(4950);
    base.advance(1400);
    expect(isOver).toBe(true);
    clock.stop();
  });

  it('does not run what was called off', () => {
    const base = new FakeClock();
    const clock = createFairClock(base, () => 8);
    let isOver = false;
    const callOff = clock.after(1000, () => {
      isOver = true;
    });
    base.advance(2000);
    callOff();
    base.advance(10_000);
    expect(isOver).toBe(false);
    clock.stop();
  });
});
