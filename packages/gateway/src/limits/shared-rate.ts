import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';
import type { Peer } from '@isthmus/sdk/internal/exchange/call.js';
import { Callers } from './callers.js';
import { createRateLimit, type OwnRate, type RateLimit, type RateLimitOptions } from './rate-limit.js';

export interface SharedRateOptions extends RateLimitOptions {
  readonly cluster: Pick<Cluster, 'store' | 'keys' | 'members'>;
  /** The same at all members, and not that of another limit. */
  readonly name: string;
}

/**
 * A rate that all members of a cluster count together. Each member draws a handful of permits from the store, and asks again
 * when they are used up, so one call in about ten waits for the store. While the store is away, each member allows its
 * share of the rate.
 */
export function createSharedRate(options: SharedRateOptions): RateLimit {
  const { cluster, name, clock = systemClock, perMinute } = options;
  const burst = options.burst ?? Math.max(1, Math.ceil(perMinute));
  // It also checks the numbers.
  let alone = { members: 1, rate: createRateLimit(options) };
  const rate = { everyMs: 60_000 / perMinute, burst };
  const handful = Math.max(1, Math.floor(burst / 10));
  const callers = new Callers<Drawn>({
    create: ({ client }) => ({
      // The store does not learn who calls.
      buckets: cluster.keys.macs('rate', name, client).map((mac) => mac.toString('base64url')),
      ...{ permits: 0, refusedUntil: 0, awayUntil: 0, usedAt: clock.now(), drawing: undefined },
    }),
    isIdle: ({ usedAt, drawing }) => !drawing && clock.now() - usedAt > IDLE_MS,
    byAddress: true,
    max: options.maxCallers,
  });

  const draw = async (drawn: Drawn): Promise<void> => {
    try {
      const { granted, retryAfterMs } = await cluster.store.take(bucketOf(drawn), handful, rate);
      drawn.permits += granted;
      if (granted === 0) drawn.refusedUntil = clock.now() + retryAfterMs;
    } catch {
      drawn.awayUntil = clock.now() + AWAY_MS;
    } finally {
      drawn.drawing = undefined;
    }
  };
  /**
   * While the secret of the cluster is replaced, members have different ones, or the same in another order. They count
   * together in the bucket that is named by the first secret, by its name, that all of them have.
   */
  const bucketOf = ({ buckets }: Drawn): string => {
    const { keys, members } = cluster;
    const shared = keys.names.filter((each) => members.all.every(({ secrets }) => secrets.includes(each)));
    return buckets[keys.names.indexOf(shared.sort()[0] ?? keys.names[0]!)]!;
  };
  /** Undefined: only the store knows. */
  const known = (drawn: Drawn, peer: Peer): number | undefined => {
    const now = clock.now();
    drawn.usedAt = now;
    if (drawn.permits > 0) {
      drawn.permits -= 1;
      return 0;
    }
    if (now < drawn.refusedUntil) return Math.ceil(drawn.refusedUntil - now);
    return now < drawn.awayUntil ? share().take(peer) : undefined;
  };
  const share = (): OwnRate => {
    const members = Math.max(1, cluster.members.all.length);
    if (alone.members !== members) {
      const own = { perMinute: perMinute / members, burst: Math.max(1, Math.floor(burst / members)) };
      alone = { members, rate: createRateLimit({ ...options, ...own }) };
    }
    return alone.rate;
  };
  const takeLater = async (drawn: Drawn, peer: Peer): Promise<number> => {
    for (;;) {
      drawn.drawing ??= draw(drawn);
      await drawn.drawing;
      // Others may have waited for the same permits.
      const answer = known(drawn, peer);
      if (answer !== undefined) return answer;
    }
  };
  let sweptAt = clock.now();
  return {
    perMinute,
    get size() {
      return callers.size;
    },
    take(peer) {
      if (Math.abs(clock.now() - sweptAt) >= IDLE_MS) {
        sweptAt = clock.now();
        callers.sweep();
      }
      const drawn = callers.of(peer);
      return known(drawn, peer) ?? takeLater(drawn, peer);
    },
  };
}

/** What a member has drawn for a caller. */
interface Drawn {
  /** One for each secret of this member. */
  readonly buckets: readonly string[];
  permits: number;
  /** The store has none before this. */
  refusedUntil: number;
  /** The store did not answer. It is asked again after this. */
  awayUntil: number;
  usedAt: number;
  drawing: Promise<void> | undefined;
}

const IDLE_MS = 60_000;
const AWAY_MS = 1000;
