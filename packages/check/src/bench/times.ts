import type { Times } from './model.js';

/** Records millions of durations in constant memory. */
export class TimeRecord {
  readonly #nanos = new Buckets();
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = 0;

  add(ms: number): void {
    this.#nanos.add(Math.max(0, Math.round(ms * NANOS_PER_MS)));
    this.#sum += ms;
    if (ms < this.#min) this.#min = ms;
    if (ms > this.#max) this.#max = ms;
  }

  /** Adds the durations of another record. */
  addAll(other: TimeRecord): void {
    this.#nanos.addAll(other.#nanos);
    this.#sum += other.#sum;
    this.#min = Math.min(this.#min, other.#min);
    this.#max = Math.max(this.#max, other.#max);
  }

  get count(): number {
    return this.#nanos.count;
  }

  /** The time that `percent` of the requests did not exceed. */
  percentile(percent: number): number {
    // The value of a bucket is its upper end.
    return threeFigures(Math.min(this.#max, this.#nanos.percentile(percent) / NANOS_PER_MS));
  }

  /** Null if there are no durations. */
  summary(): Times | null {
    if (this.count === 0) return null;
    return {
      min: threeFigures(this.#min),
      mean: threeFigures(this.#sum / this.count),
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

/**
 * Counts integers in buckets whose width is at most a two-thousandth of their value, like HdrHistogram. Every percentile is
 * exact to three figures. Adding a value takes some nanoseconds, which matters since the load generator shares the machine
 * with the server.
 */
export class Buckets {
  readonly #counts = new Uint32Array((MAX_SHIFT + 2) * STEPS);
  count = 0;

  add(value: number): void {
    this.#counts[indexOf(value)]! += 1;
    this.count += 1;
  }

  addAll(other: Buckets): void {
    for (let at = 0; at < this.#counts.length; at += 1) this.#counts[at]! += other.#counts[at]!;
    this.count += other.count;
  }

  /** The upper end of the bucket that `percent` of the numbers do not exceed. */
  percentile(percent: number): number {
    const wanted = Math.max(1, Math.ceil((percent * this.count) / 100 - 1e-6));
    let seen = 0;
    for (let at = 0; at < this.#counts.length; at += 1) {
      seen += this.#counts[at]!;
      if (seen >= wanted) return upperEnd(at);
    }
    return 0;
  }
}

/** Buckets for each power of two. */
const STEPS = 2048;
const STEP_BITS = 11;
const MAX_SHIFT = 42;
const TWO_TO_31 = 2 ** 31;

/** Numbers below 2 * STEPS have a bucket each; above, each power of two has STEPS of them. */
function indexOf(value: number): number {
  if (value < TWO_TO_31) {
    const shift = Math.max(0, 31 - Math.clz32(value) - STEP_BITS);
    return shift * STEPS + (value >>> shift);
  }
  const shift = Math.min(MAX_SHIFT, Math.floor(Math.log2(value)) - STEP_BITS);
  return shift * STEPS + Math.min(2 * STEPS - 1, Math.floor(value / 2 ** shift));
}

function upperEnd(index: number): number {
  const shift = Math.max(0, Math.floor(index / STEPS) - 1);
  return (index - shift * STEPS + 1) * 2 ** shift - 1;
}
