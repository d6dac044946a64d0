import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Peer } from '@isthmus/sdk/internal/exchange/call.js';
import { Callers } from './callers.js';

/** How often a caller may call all services that share this limit. */
export interface RateLimit {
  readonly perMinute: number;
  /** Callers that are remembered. */
  readonly size: number;
  /**
   * Counts one call of this caller. Returns 0, or after how many milliseconds a call will be possible. A promise: other
   * processes count, too, and have to be asked.
   */
  take(peer: Peer): number | Promise<number>;
}

/** A rate that only this process counts. */
export interface OwnRate extends RateLimit {
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

/**
 * A token bucket for each caller, kept as the moment at which it is full again (GCRA), so that no rounding errors add up.
 * A full bucket needs no entry.
 */
export function createRateLimit(options: RateLimitOptions): OwnRate {
  const { perMinute, burst = Math.max(1, Math.ceil(perMinute)), maxCallers, clock = systemClock } = options;
  if (!(perMinute > 0 && perMinute < Number.POSITIVE_INFINITY)) {
    throw new IsthmusError('INVALID_OPTION', `rate.perMinute must be a positive number, got ${perMinute}`);
  }
  if (!Number.isSafeInteger(burst) || burst < 1) {
    throw new IsthmusError('INVALID_OPTION', `rate.burst must be a positive whole number, got ${burst}`);
  }
  const everyMs = 60_000 / perMinute;
  const allMs = burst * everyMs;
  const callers = new Callers<Bucket>({
    create: () => ({ fullAt: 0 }),
    isIdle: ({ fullAt }) => fullAt <= clock.now(),
    // Otherwise a new session would be a full bucket.
    byAddress: true,
    max: maxCallers,
  });
  let sweptAt = clock.now();
  return {
    perMinute,
    get size() {
      return callers.size;
    },
    take(peer) {
      const now = clock.now();
      if (Math.abs(now - sweptAt) >= SWEEP_EVERY_MS) {
        sweptAt = now;
        callers.sweep();
      }
      const bucket = callers.of(peer);
      // At most the time that an empty bucket needs, because the clock may have been set back.
      const fullAt = Math.min(Math.max(bucket.fullAt, now), now + allMs) + everyMs;
      if (fullAt - allMs > now) return Math.ceil(fullAt - allMs - now);
      bucket.fullAt = fullAt;
      return 0;
    },
  };
}

interface Bucket {
  fullAt: number;
}

const SWEEP_EVERY_MS = 60_000;
