/** What is known of a million durations. */
import { describe, expect, it } from 'vitest';
import { TimeRecord } from '../../src/bench/times.js';

describe('recorded times', () => {
  it('have percentiles that are true to three figures', () => {
    const times = new TimeRecord();
    for (let ms = 1; ms <= 1000; ms += 1) times.add(ms);
    expect(times.summary()).toEqual({
      min: 1,
      mean: 501,
      p50: 500,
      p90: 900,
      p99: 990,
      p999: 999,
      max: 1000,
    });
  });

  it('keep microseconds apart as well as minutes', () => {
    const times = new TimeRecord();
    for (let count = 0; count < 99; count += 1) times.add(0.0123);
    times.add(123_456);
    expect(times.summary()).toMatchObject({
      min: 0.0123,
      p50: 0.0123,
      p99: 0.0123,
      p999: 123_000,
      max: 123_000,
    });
  });

  it('never tell of a percentile above the largest', () => {
    const times = new TimeRecord();
    times.add(1000.1);
    expect(times.summary()).toMatchObject({ p50: 1000, p999: 1000, max: 1000 });
  });

  it('are none where nothing was recorded, and take a time of nothing', () => {
    const times = new TimeRecord();
    expect(times.summary()).toBeNull();
    times.add(0);
    expect(times.count).toBe(1);
    expect(times.summary()).toMatchObject({ min: 0, max: 0, p50: 0 });
  });
});
