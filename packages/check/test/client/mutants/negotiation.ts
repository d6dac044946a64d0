import type { In } from '../../../src/client/view.js';
import {
  adding,
  ending,
  fails,
  givesIn,
  hangs,
  like,
  looksFine,
  metaOf,
  never,
  paramsOf,
  saying,
} from '../../support/client/break.js';
import type { Mutant } from '../../support/client/mutant.js';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'again',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
};
const handshake = (said: In) => [like(said, INITIALIZE)];

export const NEGOTIATION: readonly Mutant[] = [
  ...[
    'modern-only',
    'legacy-2025-03-26',
    'legacy-2025-06-18',
    'legacy-2025-11-25',
    'dual',
    'probe-silence',
    'probe-dies',
    'probe-32601',
    'probe-32602',
    'probe-32600',
    'probe-32603',
    'probe-32000',
    'probe-null-id',
    'probe-garbage',
    'probe-late',
    'http-400-empty',
    'http-400-page',
    'http-200-error',
  ].map((scenario) => ({
    check: `negotiation/${scenario}`,
    fault: `does not get along with ${scenario}`,
    breaking: givesIn,
  })),
  { check: 'negotiation/legacy-2024-11-05', fault: 'goes on and fails', breaking: fails, over: 'stdio' },
  { check: 'negotiation/newer-server', fault: 'takes the first of supportedVersions', breaking: givesIn },
  { check: 'negotiation/gives-up', fault: 'says that all is well', breaking: looksFine },
  { check: 'negotiation/gives-up', fault: 'waits for ever', breaking: hangs, scenario: 'discover-unknown' },
  {
    check: 'negotiation/era-not-spoken',
    fault: 'waits for ever for a server of the other era',
    first: ending({ code: 1 }),
    breaking: hangs,
    facts: { modern: false },
  },
  { check: 'negotiation/probe-first', fault: 'does not probe', breaking: never('server/discover') },
  {
    check: 'negotiation/modern-error-is-modern',
    fault: 'falls back on -32021',
    scenario: 'modern-32021',
    over: 'http',
    breaking: adding('server/discover', handshake, 'answered'),
  },
  {
    check: 'negotiation/version-retry',
    fault: 'does nothing after -32022',
    breaking: (transcript) => {
      const asked = transcript.entries.findIndex(({ kind }) => kind === 'in');
      const refused = transcript.entries.findIndex(({ kind }, at) => at > asked && kind === 'out');
      return hangs({ ...transcript, entries: transcript.entries.slice(0, refused + 1) });
    },
  },
  {
    check: 'negotiation/supported-version',
    fault: 'insists on its own version',
    breaking: metaOf((meta) => ({ ...meta, 'io.modelcontextprotocol/protocolVersion': '2026-01-01' })),
  },
  {
    check: 'negotiation/handshake-version',
    fault: 'offers 2026-07-28 in initialize',
    scenario: 'legacy-2025-11-25',
    breaking: paramsOf('initialize', (params) => ({ ...params, protocolVersion: '2026-07-28' })),
  },
  {
    check: 'negotiation/unknown-revision',
    fault: 'goes on with a revision that never was',
    breaking: adding(
      'initialize',
      (said) => [like(said, { jsonrpc: '2.0', id: 9, method: 'tools/list' })],
      'answered',
    ),
  },
  {
    check: 'negotiation/remembers',
    fault: 'probes before every request',
    breaking: adding('tools/list', (said) => [
      like(said, { jsonrpc: '2.0', id: 99, method: 'server/discover', params: {} }),
    ]),
  },
  {
    check: 'negotiation/one-era',
    fault: 'shakes hands after it was told that the server is modern',
    breaking: adding('server/discover', handshake, 'answered'),
  },
  ...[401, 429, 503].map((status) => ({
    check: `negotiation/http-${status}-is-no-era`,
    fault: `falls back on ${status}`,
    breaking: adding('server/discover', handshake),
  })),
  {
    check: 'negotiation/http-503-is-no-era',
    fault: 'says nothing at all',
    breaking: saying(() => null),
  },
];
