import type { Rule } from './rule.js';

/** Lists in pages. */
export const PAGINATION: readonly Rule[] = [
  {
    id: 'PAGE-001',
    era: 'both',
    level: 'MAY',
    actor: 'server',
    rule: 'tools/list, prompts/list, resources/list and resources/templates/list may be paged with `nextCursor`.',
    source: '2026-07-28/server/utilities/pagination.mdx § Operations Supporting Pagination',
  },
  {
    id: 'PAGE-002',
    era: 'both',
    level: 'MUST NOT',
    actor: 'client',
    rule: 'No fixed page size is assumed.',
    source: '2026-07-28/server/utilities/pagination.mdx § Pagination Model',
  },
  {
    id: 'PAGE-003',
    era: 'both',
    level: 'MUST',
    actor: 'client',
    rule: 'Cursors are opaque: never parsed, changed or guessed.',
    source: '2026-07-28/server/utilities/pagination.mdx § Implementation Guidelines',
  },
  {
    id: 'PAGE-004',
    era: 'modern',
    level: 'MUST NOT',
    actor: 'client',
    rule: 'An empty-string nextCursor is a real cursor and does not end the listing; only absence (or null) does.',
    source: '2026-07-28/server/utilities/pagination.mdx § Implementation Guidelines',
  },
  {
    id: 'PAGE-005',
    era: 'both',
    level: 'SHOULD',
    actor: 'client',
    rule: 'A missing nextCursor ends the list; paged and unpaged replies both work.',
    source: '2026-07-28/server/utilities/pagination.mdx § Implementation Guidelines',
  },
  {
    id: 'PAGE-006',
    era: 'both',
    level: 'SHOULD',
    actor: 'server',
    rule: 'Cursors are stable and invalid ones are handled gracefully with -32602.',
    source: '2026-07-28/server/utilities/pagination.mdx § Implementation Guidelines; Error Handling',
  },
  {
    id: 'PAGE-007',
    era: 'legacy',
    level: 'MUST NOT',
    actor: 'client',
    rule: 'Legacy: cursors are not kept across sessions.',
    source: '2025-11-25/server/utilities/pagination.mdx § Implementation Guidelines',
  },
];
