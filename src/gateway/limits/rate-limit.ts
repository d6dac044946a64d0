import { type Clock, systemClock } from '../../async/clock.js';
import { IsthmusError } from '../../errors.js';
import type { Peer } from '../../exchange/call.js';
import { Callers } from './callers.js';

/** How often a caller may call, in all services that share it. */
export interface RateLimit {
  readonly perMinute: number;
  /** Callers that are remembered. */
  readonly size: number;
  /** Takes one call from what the caller has left; 0, or in how many milliseconds it will have one. */
  take(peer: Peer): number;
}

export interface RateLimitOptions {
  readonly perMinute: number;
  /** How many may come at once after a pause. Default: as many as in a minute. */
  readonly burst?: number;
  /** How many callers are remembered. Default 10,000. */
  readonly maxCallers?: number;
  readonly clock?: Clock;
}

/** A bucket of tokens for each caller. A full one is as good as none, and forgotten. */
export function createRateLimit(options: RateLimitOptions): RateLimit {
  const { perMinute, burst = Math.max(1, Math.ceil(perMinute)), maxCallers, clock = systemClock } = options;
  if (!(perMinute > 0 && perMinute < Number.POSITIVE_INFINITY)) {
    throw new IsthmusError('INVALID_OPTION', `rate.perMinute must be a positive number, got ${perMinute}`);
  }
  if (!Number.isSafeInteger(burst) || burst < 1) {
    throw new IsthmusError('INVALID_OPTION', `rate.burst must be a positive whole number, got ${burst}`);
  }
  const perMs = perMinute / 60_000;
  const refill = (bucket: Bucket) => {
    const now = clock.now();
    // A clock that was set back takes nothing away.
    bucket.tokens = Math.min(burst, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
    bucket.at = now;
  };
  const isFull = (bucket: Bucket) => {
    refill(bucket);
    return bucket.tokens >= burst;
  };
  const callers = new Callers<Bucket>(() => ({ tokens: burst, at: clock.now() }), isFull, maxCallers);
  let sweptAt = clock.now();
  return {
    perMinute,
    get size() {
      return callers.size;
    },
    take(peer) {
      if (clock.now() - sweptAt >= SWEEP_EVERY_MS) {
        sweptAt = clock.now();
        callers.sweep();
      }
      const bucket = callers.of(peer);
      refill(bucket);
      if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / perMs);
      bucket.tokens -= 1;
      return 0;
    },
  };
}

interface Bucket {
  tokens: number;
  at: number;
}

const SWEEP_EVERY_MS = 60_000;
