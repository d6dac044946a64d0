import { LATEST_MODERN, LEGACY_REVISIONS } from '@isthmus/sdk/internal/era/revisions.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import type { Scenario, Script } from '../model.js';
import { ENDPOINT, errorOf, resultOf, type ScriptRequest } from '../scripted/script.js';
import { dual, ECHO, echoOf, legacy, modern, SERVER_INFO } from './base-servers.js';

const BOTH = ['stdio', 'http'] as const;

/** Ordinary servers of each era. */
export const ERAS: readonly Scenario[] = [
  {
    name: 'modern-only',
    title: 'A server that speaks only 2026-07-28',
    over: BOTH,
    serves: ['modern'],
    open: () => modern(),
  },
  ...LEGACY_REVISIONS.map(
    (revision): Scenario => ({
      name: `legacy-${revision}`,
      title:
        revision === '2024-11-05'
          ? 'A server that speaks only 2024-11-05; over HTTP with the transport of that revision (HTTP+SSE)'
          : `A server that speaks only ${revision}`,
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
    title: 'A modern server whose newest version is unknown',
    over: BOTH,
    serves: ['modern'],
    open: () => modern({ supported: ['2099-01-01', LATEST_MODERN] }),
  },
  {
    name: 'discover-unknown',
    title: 'A modern server that speaks only an unknown version',
    over: BOTH,
    serves: [],
    open: () => modern({ supported: ['2099-01-01'], on: { 'tools/list': refuse, 'tools/call': refuse } }),
  },
  {
    name: 'legacy-unknown-revision',
    title: 'A legacy server that answers the handshake with a revision that does not exist',
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

/** The transport of 2024-11-05: a GET stream whose first event has the address for POSTs. All answers come on it. */
function httpAndSse(): Script {
  let stream: ScriptRequest | undefined;
  return {
    visit(visit) {
      if (visit.method !== 'GET') return false;
      stream = visit;
      visit.stream();
      visit.event(ENDPOINT, { event: 'endpoint' });
      return true;
    },
    receive(turn) {
      // Like servers of that revision, it refuses a POST to the address of the stream.
      if (!stream || turn.path !== ENDPOINT) return turn.status(405, '', { allow: 'GET' });
      turn.status(202, 'Accepted');
      if (turn.id === undefined || turn.method === '') return;
      const answers: Readonly<Record<string, object>> = {
        initialize: { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: SERVER_INFO },
        ping: {},
        'tools/list': { tools: [ECHO] },
        'tools/call': echoOf(turn),
      };
      const result = answers[turn.method];
      const answer = result
        ? resultOf(turn.id, result as Record<string, unknown>)
        : errorOf(turn.id, ErrorCode.MethodNotFound, 'Method not found');
      stream.event(JSON.stringify(answer));
    },
  };
}
