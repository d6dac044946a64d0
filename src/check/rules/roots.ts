import type { Rule } from './rule.js';

/** Roots. */
export const ROOTS: readonly Rule[] = [
  {
    id: 'ROOT-001',
    era: 'modern',
    level: 'SHOULD NOT',
    actor: 'both',
    rule: 'Roots are deprecated in 2026-07-28; new implementations do not add them.',
    source: '2026-07-28/client/roots.mdx § (Warning); 2026-07-28/deprecated.mdx',
  },
  {
    id: 'ROOT-002',
    era: 'modern',
    level: 'MUST',
    actor: 'client',
    rule: 'A supporting client declares `roots: {}` on each request; there is no listChanged sub-field any more.',
    source:
      '2026-07-28/client/roots.mdx § Capabilities; schema/2026-07-28/schema.ts § ClientCapabilities.roots',
  },
  {
    id: 'ROOT-003',
    era: 'both',
    level: 'MUST',
    actor: 'client',
    rule: 'Each root `uri` is a file:// URI.',
    source: '2026-07-28/client/roots.mdx § Root',
  },
  {
    id: 'ROOT-004',
    era: 'both',
    level: 'MUST',
    actor: 'client',
    rule: 'Only permitted roots are exposed, URIs are checked against traversal, and access controls are applied.',
    source: '2026-07-28/client/roots.mdx § Security Considerations',
  },
  {
    id: 'ROOT-005',
    era: 'both',
    level: 'SHOULD',
    actor: 'server',
    rule: 'Servers check the capability first, respect root boundaries, validate paths and cope with vanished roots.',
    source: '2026-07-28/client/roots.mdx § Security Considerations; Implementation Guidelines',
  },
  {
    id: 'ROOT-006',
    era: 'both',
    level: 'SHOULD',
    actor: 'client',
    rule: 'Users consent before roots are exposed.',
    source: '2026-07-28/client/roots.mdx § Implementation Guidelines',
  },
  {
    id: 'ROOT-007',
    era: 'legacy',
    level: 'MUST',
    actor: 'client',
    rule: 'Legacy: a client with roots.listChanged sends notifications/roots/list_changed when roots change.',
    source: '2025-11-25/client/roots.mdx § Root List Changes',
  },
  {
    id: 'ROOT-008',
    era: 'legacy',
    level: 'SHOULD',
    actor: 'client',
    rule: 'Legacy: without roots support, roots/list is answered with -32601.',
    source: '2025-11-25/client/roots.mdx § Error Handling',
  },
  {
    id: 'ROOT-009',
    era: 'modern',
    level: 'MUST NOT',
    actor: 'client',
    rule: 'notifications/roots/list_changed does not exist in the modern era.',
    source: '2026-07-28/changelog.mdx § Major changes 5',
  },
];
