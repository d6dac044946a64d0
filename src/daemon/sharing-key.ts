import { createHash } from 'node:crypto';
import type { AttachParams } from './definition.js';

/**
 * Whoever has the same key shares a server: all that may make a difference to it is in it. Names are not, nor are
 * variables that say something about the host that was started rather than about the server.
 */
export function sharingKey({ unit, sseFirst }: Pick<AttachParams, 'unit' | 'sseFirst'>): string {
  const { name: _, ...telling } = unit;
  return createHash('sha256')
    .update(JSON.stringify(sorted([telling, sseFirst])))
    .digest('hex');
}

/** The order in which things were written makes no difference, except in lists. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  // An object, so that it is not mistaken for a list.
  return { of: entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, sorted(each)]) };
}
