import type { Listener } from './bridge.js';
import type { Feature } from './features/feature.js';

/** Where in the matrix something is. */
export interface Cell {
  readonly client: string;
  readonly upstream: string;
  readonly listener: Listener;
}

/** What cannot work, and why. */
export interface Limit {
  readonly feature: Feature;
  /** For which cells; a member that is left out means all. */
  readonly clients?: readonly string[];
  readonly upstreams?: readonly string[];
  readonly listeners?: readonly Listener[];
  /** In words, for the table. */
  readonly reason: string;
  /** How the attempt fails. */
  readonly shows: RegExp;
}

export const LIMITS: readonly Limit[] = [];

export function limitOf(cell: Cell, feature: Feature): Limit | undefined {
  return LIMITS.find(
    (limit) =>
      limit.feature === feature &&
      (limit.clients?.includes(cell.client) ?? true) &&
      (limit.upstreams?.includes(cell.upstream) ?? true) &&
      (limit.listeners?.includes(cell.listener) ?? true),
  );
}
