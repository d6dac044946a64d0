import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';
import type { ClusterStore } from '@isthmus/sdk/internal/cluster/store.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { LoginRecord, LoginStore } from '@isthmus/sdk/internal/oauth/store/login-record.js';

/**
 * Keeps logins in the store of a cluster, sealed with a key of the cluster, so that all its members have them. A login that is
 * not used for 90 days is forgotten. The store can neither read a login nor put one in the place of another.
 */
export function clusterLoginStore(
  { store, keys }: { readonly store: ClusterStore; readonly keys: Cluster['keys'] },
  clock: Clock = systemClock,
): LoginStore {
  const sealerOf = (name: string) => keys.sealer('record', name);
  return {
    async read(key) {
      const name = nameOf(key);
      const found = await store.claim(name, { by: ANYONE, ttlMs: KEPT_MS });
      if (found.kind !== 'mine') return undefined;
      const sealer = sealerOf(name);
      const plain = sealer.open(found.value);
      const value = sealer.renew(found.value);
      // The secret is being replaced. What another member has written meanwhile stays, since its epoch is later.
      if (value)
        await store.put(name, { by: ANYONE, epoch: found.epoch, value, ttlMs: KEPT_MS }).catch(() => {});
      const record = plain && (JSON.parse(plain.toString()) as LoginRecord);
      return record?.v === 1 ? record : undefined;
    },
    async write(key, record) {
      const name = nameOf(key);
      const value = sealerOf(name).seal(Buffer.from(JSON.stringify(record)));
      // Another member may claim the record between the two steps, which only raises its epoch.
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const found = await store.claim(name, { by: ANYONE, ttlMs: KEPT_MS });
        const epoch = found.kind === 'mine' ? found.epoch : 1;
        if (await store.put(name, { by: ANYONE, epoch, value, ttlMs: KEPT_MS })) return;
      }
      throw new IsthmusError('TIMED_OUT', 'The login cannot be stored: other members write it all the time');
    },
    async delete(key) {
      const name = nameOf(key);
      const found = await store.claim(name, { by: ANYONE, ttlMs: KEPT_MS });
      if (found.kind === 'mine') await store.drop(name, { epoch: found.epoch });
    },
    list: async () => [],
    async locked(key, action) {
      const release = await takeLock(store, `${nameOf(key)} lock`, clock);
      try {
        return await action();
      } finally {
        await release();
      }
    },
  };
}

/**
 * One member at a time. A lock whose holder has died is free after 30 s. A holder that needs longer gives up only its own lock:
 * the name that it took it by is random.
 */
async function takeLock(store: ClusterStore, name: string, clock: Clock): Promise<() => Promise<void>> {
  const by = randomBytes(12).toString('base64url');
  const until = clock.now() + LOCK_MS;
  for (;;) {
    let found = await store.claim(name, { by, ttlMs: LOCK_MS });
    if (found.kind === 'unknown') {
      await store.put(name, { by, epoch: 1, value: new Uint8Array(), ttlMs: LOCK_MS });
      // Two members may have put at once. The later one has it.
      found = await store.claim(name, { by, ttlMs: LOCK_MS });
    }
    if (found.kind === 'mine') {
      const { epoch } = found;
      return async () => {
        await store.release(name, { by, epoch }).catch(() => {});
      };
    }
    if (clock.now() >= until) {
      throw new IsthmusError('TIMED_OUT', 'Another member of the cluster has held this login for too long');
    }
    await new Promise<void>((resolve) => void clock.after(PAUSE_MS, resolve));
  }
}

function nameOf(key: string): string {
  return `login ${key}`;
}

/** A record belongs to all members. */
const ANYONE = 'logins';
const ATTEMPTS = 20;
const KEPT_MS = 90 * 24 * 3_600_000;
const LOCK_MS = 30_000;
const PAUSE_MS = 50;
