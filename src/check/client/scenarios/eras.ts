import { LATEST_MODERN, LEGACY_REVISIONS } from '../../../era/revisions.js';
import { dual } from '../manners/dual.js';
import { httpAndSse } from '../manners/http-and-sse.js';
import { legacy } from '../manners/legacy.js';
import { modern } from '../manners/modern.js';
import type { Scenario } from '../model.js';

const BOTH = ['stdio', 'http'] as const;

/** Ordinary servers of each era. */
export const ERAS: readonly Scenario[] = [
  {
    name: 'modern-only',
    title: 'A server that speaks 2026-07-28 and nothing else',
    over: BOTH,
    serves: ['modern'],
    open: () => modern(),
  },
  ...LEGACY_REVISIONS.map(
    (revision): Scenario => ({
      name: `legacy-${revision}`,
      title:
        revision === '2024-11-05'
          ? 'A server that speaks 2024-11-05 and nothing else; over HTTP with its transport of that time (HTTP+SSE)'
          : `A server that speaks ${revision} and nothing else`,
      over: BOTH,
      serves: ['legacy'],
      open: (over) => (over === 'http' && revision === '2024-11-05' ? httpAndSse() : legacy({ revision })),
    }),
  ),
  {
    name: 'dual',
    title: 'A server of both eras',
    over: BOTH,
    serves: ['modern', 'legacy'],
    open: () => dual(),
  },
  {
    name: 'discover-newer',
    title: 'A modern server whose newest version nobody knows yet',
    over: BOTH,
    serves: ['modern'],
    open: () => modern({ supported: ['2099-01-01', LATEST_MODERN] }),
  },
  {
    name: 'discover-unknown',
    title: 'A modern server that speaks only a version nobody knows yet',
    over: BOTH,
    serves: [],
    open: () => modern({ supported: ['2099-01-01'], on: { 'tools/list': refuse, 'tools/call': refuse } }),
  },
  {
    name: 'legacy-unknown-revision',
    title: 'A legacy server that answers the handshake with a revision that never was',
    over: BOTH,
    serves: [],
    open: () => legacy({ revision: '1999-01-01' }),
  },
];

function refuse(turn: Parameters<ReturnType<typeof modern>['receive']>[0]): void {
  turn.fail(
    -32022,
    'Unsupported protocol version',
    { supported: ['2099-01-01'], requested: LATEST_MODERN },
    400,
  );
}
