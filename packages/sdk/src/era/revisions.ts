import type { Era } from '../exchange/call.js';

/** The published session revisions, oldest first. */
export const LEGACY_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;
/** Drafts that were never published, but that peers use: sessions with the shapes of 2025-11-25. */
const INTERIM_REVISIONS = ['2026-03-26'] as const;
export const MODERN_REVISIONS = ['2026-07-28'] as const;
/** All revisions that `initialize` may settle on. */
export const SESSION_REVISIONS = [...LEGACY_REVISIONS, ...INTERIM_REVISIONS] as const;

type PublishedLegacyRevision = (typeof LEGACY_REVISIONS)[number];
export type LegacyRevision = (typeof SESSION_REVISIONS)[number];
export type ModernRevision = (typeof MODERN_REVISIONS)[number];

/** What a client offers first, and a server's answer to an unknown revision. Never a draft. */
export const LATEST_LEGACY: PublishedLegacyRevision = '2025-11-25';
export const LATEST_MODERN: ModernRevision = '2026-07-28';

export function isLegacyRevision(value: unknown): value is LegacyRevision {
  return (SESSION_REVISIONS as readonly unknown[]).includes(value);
}

export function isInterimRevision(value: unknown): value is (typeof INTERIM_REVISIONS)[number] {
  return (INTERIM_REVISIONS as readonly unknown[]).includes(value);
}

export function isModernRevision(value: unknown): value is ModernRevision {
  return (MODERN_REVISIONS as readonly unknown[]).includes(value);
}

/** The revision in a server's answer to `initialize`: the requested one, else its newest (INIT-009, INIT-010). */
export function negotiateLegacy(requested: string): LegacyRevision {
  return isLegacyRevision(requested) ? requested : LATEST_LEGACY;
}

/** The session revision to use with a peer that supports these: the newest published one, else a draft. */
export function newestSession(named: readonly unknown[]): LegacyRevision | undefined {
  const inOrder: readonly LegacyRevision[] = [...INTERIM_REVISIONS, ...LEGACY_REVISIONS];
  return inOrder.findLast((revision) => named.includes(revision));
}

/** The revision whose shapes a session uses. */
export function shapesOf(revision: LegacyRevision): PublishedLegacyRevision {
  return isInterimRevision(revision) ? LATEST_LEGACY : revision;
}

/** Revisions are dates, so they compare as strings. */
export function isAtLeast(revision: string, since: LegacyRevision): boolean {
  return revision >= since;
}

/** For people: `2025-11-25`, `2026-03-26 (interim draft)`. */
export function revisionLabel(revision: string): string {
  return isInterimRevision(revision) ? `${revision} (interim draft)` : revision;
}

/** All known revisions and their kind, for errors about unknown ones. */
export const REVISION_TABLE: string = [
  ...LEGACY_REVISIONS.map((revision) => `${revision} (session)`),
  ...INTERIM_REVISIONS.map((revision) => `${revision} (session, interim draft)`),
  ...MODERN_REVISIONS.map((revision) => `${revision} (stateless)`),
].join(', ');

export const ALL_ERAS: readonly Era[] = ['legacy', 'modern'];
