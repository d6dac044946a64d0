import type { Rule } from './rule.js';

/** Discovery. */
export const DISCOVER: readonly Rule[] = [
  {
    id: 'DISC-001',
    era: 'modern',
    level: 'MUST',
    actor: 'server',
    rule: 'Every modern server implements `server/discover`.',
    source:
      '2026-07-28/server/discover.mdx § Discovery (intro); 2026-07-28/basic/versioning.mdx § Protocol Version Negotiation',
  },
  {
    id: 'DISC-002',
    era: 'modern',
    level: 'MUST',
    actor: 'client',
    rule: 'Its params hold only the usual `_meta`, with the required fields.',
    source: '2026-07-28/server/discover.mdx § Request; schema/2026-07-28/schema.ts § DiscoverRequest',
  },
  {
    id: 'DISC-003',
    era: 'modern',
    level: 'MUST',
    actor: 'server',
    rule: 'The result has `supportedVersions` (string array), `capabilities`, `resultType`, `ttlMs` and `cacheScope`.',
    source: 'schema/2026-07-28/schema.ts § DiscoverResult, CacheableResult',
  },
  {
    id: 'DISC-004',
    era: 'modern',
    level: 'SHOULD',
    actor: 'server',
    rule: 'Server identity is in the result\'s `_meta["io.modelcontextprotocol/serverInfo"]`; there is no top-level serverInfo member.',
    source: '2026-07-28/server/discover.mdx § DiscoverResult',
  },
  {
    id: 'DISC-005',
    era: 'modern',
    level: 'MAY',
    actor: 'server',
    rule: '`instructions` may give natural-language guidance for the model.',
    source: '2026-07-28/server/discover.mdx § DiscoverResult',
  },
  {
    id: 'DISC-006',
    era: 'modern',
    level: 'MAY',
    actor: 'client',
    rule: 'Clients may skip discovery entirely.',
    source: '2026-07-28/server/discover.mdx § When to Call',
  },
  {
    id: 'DISC-007',
    era: 'modern',
    level: 'SHOULD',
    actor: 'client',
    rule: 'A dual-era stdio client sends it first as an era probe.',
    source: '2026-07-28/server/discover.mdx § When to Call',
  },
  {
    id: 'DISC-008',
    era: 'modern',
    level: 'MUST',
    actor: 'server',
    rule: 'Discovery itself is subject to version checking: an unsupported version in its `_meta` yields -32022, not a DiscoverResult.',
    source: '2026-07-28/basic/versioning.mdx § Protocol Version Negotiation, Compatibility Matrix',
  },
  {
    id: 'DISC-009',
    era: 'modern',
    level: 'MUST',
    actor: 'server',
    rule: 'Offered features are listed in `capabilities` (tools, prompts, resources, completions, logging, extensions).',
    source:
      '2026-07-28/architecture/index.mdx § Capability Negotiation; 2026-07-28/server/prompts.mdx § Capabilities',
  },
  {
    id: 'DISC-010',
    era: 'modern',
    level: 'SHOULD NOT',
    actor: 'client',
    rule: 'serverInfo does not change client behaviour or security decisions.',
    source: '2026-07-28/server/discover.mdx § DiscoverResult (Note)',
  },
];
