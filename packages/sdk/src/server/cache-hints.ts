import { IsthmusError } from '../errors.js';
import type { CacheHints } from '../wire/model.js';

/** CACHE-003, CACHE-004: found where the author wrote it, not by a client that refuses it. */
export function checkCacheHints(what: string, hints: CacheHints | undefined): void {
  const { ttlMs, cacheScope } = hints ?? {};
  if (ttlMs !== undefined && !(Number.isSafeInteger(ttlMs) && ttlMs >= 0)) {
    throw new IsthmusError(
      'INVALID_OPTION',
      `${what}: ttlMs must be a whole number of at least 0, got ${ttlMs}`,
    );
  }
  if (cacheScope !== undefined && cacheScope !== 'public' && cacheScope !== 'private') {
    throw new IsthmusError(
      'INVALID_OPTION',
      `${what}: cacheScope must be "public" or "private", got ${String(cacheScope)}`,
    );
  }
}
