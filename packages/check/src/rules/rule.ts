import type { LegacyRevision, ModernRevision } from '@isthmus/sdk/internal/era/revisions.js';

/** One requirement of the specification, in our words. */
export interface Rule {
  readonly id: string;
  readonly era: 'legacy' | 'modern' | 'both';
  /** Where it does not hold in all revisions of its era. */
  readonly versions?: readonly (LegacyRevision | ModernRevision)[];
  readonly level: 'MUST' | 'MUST NOT' | 'SHOULD' | 'SHOULD NOT' | 'MAY';
  /** Who has to keep it. */
  readonly actor: 'server' | 'client' | 'both' | 'host' | 'intermediary';
  readonly rule: string;
  /** Pages of the specification and their sections; the first says it best. */
  readonly source: string;
}
