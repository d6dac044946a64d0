import type { Era } from '../exchange/call.js';

/** Oldest first. */
export const LEGACY_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;
export const MODERN_REVISIONS = ['2026-07-28'] as const;

export type LegacyRevision = (typeof LEGACY_REVISIONS)[number];
export type ModernRevision = (typeof MODERN_REVISIONS)[number];

export const LATEST_LEGACY: LegacyRevision = '2025-11-25';
export const LATEST_MODERN: ModernRevision = '2026-07-28';

export function isLegacyRevision(value: unknown): value is LegacyRevision {
  return (LEGACY_REVISIONS as readonly unknown[]).includes(value);
}

export function isModernRevision(value: unknown): value is ModernRevision {
  return (MODERN_REVISIONS as readonly unknown[]).includes(value);
}

/** The revision a server answers `initialize` with: the one asked for, else its newest (INIT-009, INIT-010). */
export function negotiateLegacy(requested: string): LegacyRevision {
  return isLegacyRevision(requested) ? requested : LATEST_LEGACY;
}

/** Revisions are dates, so they compare as strings. */
export function isAtLeast(revision: string, since: LegacyRevision): boolean {
  return revision >= since;
}

export const ALL_ERAS: readonly Era[] = ['legacy', 'modern'];
