import { officialV1 } from './official-v1.js';
import { officialV2 } from './official-v2.js';
import type { ClientKind } from './session.js';

/** The rows of the matrix. */
export const CLIENTS: readonly ClientKind[] = [
  officialV1,
  officialV2({ name: 'v2-auto', title: 'official v2, auto', mode: 'auto', eras: ['modern', 'legacy'] }),
  officialV2({
    name: 'v2-modern',
    title: 'official v2, modern only',
    mode: { pin: '2026-07-28' },
    eras: ['modern'],
  }),
  officialV2({ name: 'v2-legacy', title: 'official v2, legacy', mode: 'legacy', eras: ['legacy'] }),
];
