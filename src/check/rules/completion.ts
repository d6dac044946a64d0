import type { Rule } from './rule.js';

/** Completion of arguments. */
export const COMPLETION: readonly Rule[] = [
  {
    id: 'COMP-001',
    era: 'both',
    versions: ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'],
    level: 'MUST',
    actor: 'server',
    rule: 'A server that supports completion declares `completions` (2024-11-05 has no such capability).',
    source: '2026-07-28/server/utilities/completion.mdx § Capabilities',
  },
  {
    id: 'COMP-002',
    era: 'both',
    level: 'MUST',
    actor: 'client',
    rule: '`ref` is `{type:"ref/prompt", name}` or `{type:"ref/resource", uri}`, and `argument` holds name and value strings.',
    source: 'schema/2026-07-28/schema.ts § CompleteRequestParams',
  },
  {
    id: 'COMP-003',
    era: 'both',
    versions: ['2025-06-18', '2025-11-25', '2026-07-28'],
    level: 'SHOULD',
    actor: 'client',
    rule: 'Already chosen arguments are sent in `context.arguments` (from 2025-06-18).',
    source: '2026-07-28/server/utilities/completion.mdx § Requesting Completions',
  },
  {
    id: 'COMP-004',
    era: 'both',
    level: 'MUST',
    actor: 'server',
    rule: '`completion.values` holds at most 100 strings; `total` and `hasMore` are optional.',
    source:
      '2026-07-28/server/utilities/completion.mdx § Completion Results; schema/2026-07-28/schema.ts § CompleteResult',
  },
  {
    id: 'COMP-005',
    era: 'both',
    versions: ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'],
    level: 'SHOULD',
    actor: 'server',
    rule: 'Errors: -32601 when completion is unsupported, -32602 for an unknown prompt or missing arguments, -32603 for internal errors.',
    source: '2026-07-28/server/utilities/completion.mdx § Error Handling',
  },
  {
    id: 'COMP-006',
    era: 'both',
    level: 'SHOULD',
    actor: 'server',
    rule: 'Values are sorted by relevance and requests are rate-limited.',
    source: '2026-07-28/server/utilities/completion.mdx § Implementation Considerations',
  },
  {
    id: 'COMP-007',
    era: 'both',
    level: 'SHOULD',
    actor: 'client',
    rule: 'Rapid requests are debounced and partial or missing results tolerated.',
    source: '2026-07-28/server/utilities/completion.mdx § Implementation Considerations',
  },
  {
    id: 'COMP-008',
    era: 'both',
    level: 'MUST',
    actor: 'both',
    rule: 'Completion inputs are validated, rate-limited and access-controlled against information disclosure.',
    source: '2026-07-28/server/utilities/completion.mdx § Security',
  },
];
