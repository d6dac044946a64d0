import type { Rule } from './rule.js';

/** What a modern server may remember. */
export const STATE: readonly Rule[] = [
  {
    id: 'STATE-001',
    era: 'modern',
    level: 'MUST NOT',
    actor: 'server',
    rule: 'Protocol version, capabilities and client identity are taken from the request in hand, never from earlier traffic on the connection.',
    source: '2026-07-28/basic/index.mdx § Statelessness',
  },
  {
    id: 'STATE-002',
    era: 'modern',
    level: 'SHOULD',
    actor: 'server',
    rule: 'A server copes with requests belonging to several tasks, threads or conversations at once.',
    source: '2026-07-28/basic/index.mdx § Statelessness',
  },
  {
    id: 'STATE-003',
    era: 'modern',
    level: 'SHOULD NOT',
    actor: 'server',
    rule: 'A server does not insist that related operations arrive on the same connection or process.',
    source: '2026-07-28/basic/index.mdx § Statelessness',
  },
  {
    id: 'STATE-004',
    era: 'modern',
    level: 'MUST',
    actor: 'both',
    rule: 'State spanning several requests is named by an explicit identifier that the client passes on each request.',
    source: '2026-07-28/basic/index.mdx § Statelessness',
  },
  {
    id: 'STATE-005',
    era: 'modern',
    level: 'MUST NOT',
    actor: 'server',
    rule: 'Connection or process identity is not a stand-in for a conversation or session.',
    source: '2026-07-28/basic/index.mdx § Statelessness (Note)',
  },
  {
    id: 'STATE-006',
    era: 'modern',
    level: 'MUST NOT',
    actor: 'server',
    rule: 'Possessing a state handle is not treated as authentication; a server with authorization verifies every inbound request.',
    source:
      'docs/docs/2026-07-28/tutorials/security/security_best_practices.mdx § State Handle Hijacking (outside docs/specification)',
  },
];
