import { type EraCache, fileEraCache } from '@isthmus/sdk/internal/client/negotiation/era-cache.js';
import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';

/**
 * Remembers the eras of servers for all processes of a cluster: what one has found out, the others need not try. A process
 * asks the store only for what it does not know itself. Undefined: `own` is switched off, and nothing is remembered.
 */
export function sharedEras(
  { store, keys }: Pick<Cluster, 'store' | 'keys'>,
  own: EraCache | false = fileEraCache(),
): EraCache | false {
  if (own === false) return false;
  // The key of a server can hold secrets.
  const nameOf = (key: string) => keys.mac('era', key).toString('base64url');
  return {
    async get(key) {
      const known = await own.get(key);
      if (known) return known;
      const name = nameOf(key);
      const sealed = await store.recall(name).catch(() => undefined);
      const plain = sealed && keys.sealer('era', name).open(sealed);
      if (!plain) return undefined;
      const found = JSON.parse(plain.toString()) as NonNullable<Awaited<ReturnType<EraCache['get']>>>;
      await own.set(key, found);
      return found;
    },
    async set(key, verdict) {
      const name = nameOf(key);
      const sealed = keys.sealer('era', name).seal(Buffer.from(JSON.stringify(verdict)));
      // Nothing waits for the store.
      store.note(name, sealed, TTL_MS).catch(() => {});
      await own.set(key, verdict);
    },
    async delete(key) {
      store.note(nameOf(key), undefined, TTL_MS).catch(() => {});
      await own.delete(key);
    },
  };
}

const TTL_MS = 7 * 24 * 60 * 60_000;
