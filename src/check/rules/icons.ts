import type { Rule } from './rule.js';

/** Pictures for a user interface. */
export const ICONS: readonly Rule[] = [
  {
    id: 'ICON-001',
    era: 'both',
    versions: ['2025-11-25', '2026-07-28'],
    level: 'MUST',
    actor: 'client',
    rule: 'A client that renders icons handles image/png and image/jpeg.',
    source: '2026-07-28/basic/index.mdx § icons',
  },
  {
    id: 'ICON-002',
    era: 'both',
    versions: ['2025-11-25', '2026-07-28'],
    level: 'SHOULD',
    actor: 'client',
    rule: 'A client that renders icons also handles image/svg+xml and image/webp.',
    source: '2026-07-28/basic/index.mdx § icons',
  },
  {
    id: 'ICON-003',
    era: 'both',
    versions: ['2025-11-25', '2026-07-28'],
    level: 'MUST',
    actor: 'client',
    rule: 'Icon URIs using unsafe schemes (javascript, file, ftp, ws, app schemes) or unsafe redirects are rejected; only https and data are acceptable.',
    source: '2026-07-28/basic/index.mdx § icons (Security considerations)',
  },
  {
    id: 'ICON-004',
    era: 'both',
    versions: ['2025-11-25', '2026-07-28'],
    level: 'MUST',
    actor: 'client',
    rule: 'Icon data is handled as untrusted input: fetched without credentials, same-origin checked, type-sniffed and size-bounded.',
    source: '2026-07-28/basic/index.mdx § icons (Security considerations)',
  },
];
