import { createHistogram } from 'node:perf_hooks';
import type { Times } from './model.js';

/**
 * Durations by the million, in the memory of a few. The histogram of Node is HdrHistogram: buckets of a thousandth of
 * their value, so three figures of every percentile are true, however long the tail.
 */
export class TimeRecord {
  readonly #histogram = createHistogram({ lowest: 1, figures: 3 });
  #min = Number.POSITIVE_INFINITY;
  #max = 0;

  add(ms: number): void {
    this.#histogram.record(Math.max(1, Math.round(ms * NANOS_PER_MS)));
    if (ms < this.#min) this.#min = ms;
    if (ms > this.#max) this.#max = ms;
  }

  get count(): number {
    return this.#histogram.count;
  }

  /** The time that this share of the requests did not exceed. */
  percentile(percent: number): number {
    // A bucket is named by its upper end.
    return threeFigures(Math.min(this.#max, this.#histogram.percentile(percent) / NANOS_PER_MS));
  }

  /** Null when there is nothing to tell. */
  summary(): Times | null {
    if (this.count === 0) return null;
    return {
      min: threeFigures(this.#min),
      mean: threeFigures(this.#histogram.mean / NANOS_PER_MS),
      p50: this.percentile(50),
      p90: this.percentile(90),
      p99: this.percentile(99),
      p999: this.percentile(99.9),
      max: threeFigures(this.#max),
    };
  }
}

const NANOS_PER_MS = 1e6;

export function threeFigures(value: number): number {
  return Number(value.toPrecision(3));
}
