import type { ClientTranscript } from '../../../src/client/model.js';
import {
  type Breaking,
  fails,
  givesIn,
  heading,
  type Json,
  never,
  paramsOf,
  saying,
  withHeader,
  without,
} from '../../support/client/break.js';
import type { Mutant } from '../../support/client/mutant.js';

/** Something that is no POST, right at the end. */
const visiting =
  (method: string, path = '/mcp'): Breaking =>
  (transcript) => ({
    ...transcript,
    entries: [
      ...transcript.entries,
      { kind: 'head', at: transcript.end.at, life: 0, exchange: 999, method, path, headers: {} },
    ],
  });

/** When the server said how long to wait. */
const toldIn = ({ entries }: ClientTranscript) =>
  entries.find((entry) => entry.kind === 'out' && entry.text.includes('retry:'))!.at;

/** How the client is known to have spoken; the same for a whole family of headers. */
const on = (check: string, fault: string, breaking: Breaking, scenario?: string): Mutant => ({
  check,
  fault,
  breaking,
  over: 'http',
  ...(scenario !== undefined && { scenario }),
});

export const HTTP: readonly Mutant[] = [
  on('headers/accept', 'takes JSON only', withHeader('accept', 'application/json'), 'modern-only'),
  on('headers/content-type', 'sends plain text', withHeader('content-type', 'text/plain'), 'modern-only'),
  on(
    'headers/protocol-version',
    'does not say its version',
    withHeader('mcp-protocol-version', undefined),
    'modern-only',
  ),
  on(
    'headers/protocol-version-matches',
    'says another one',
    withHeader('mcp-protocol-version', '2025-11-25'),
    'modern-only',
  ),
  on('headers/mcp-method', 'always says tools/list', withHeader('mcp-method', 'tools/list'), 'modern-only'),
  on('headers/mcp-name', 'does not say the name', withHeader('mcp-name', undefined), 'modern-only'),
  on('headers/mcp-name', 'says the name in capitals', withHeader('mcp-name', 'ECHO'), 'modern-only'),
  on('headers/mcp-name-encoded', 'sends the name in Latin-1', withHeader('mcp-name', 'gr\u00f6\u00dfe')),
  on(
    'headers/mcp-name-encoded',
    'writes the marker in capitals',
    withHeader('mcp-name', '=?BASE64?Z3LDtsOfZQ==?='),
  ),
  on('headers/param-mirrored', 'mirrors nothing', withHeader('mcp-param-region', undefined)),
  on('headers/param-mirrored', 'does not look into objects', withHeader('mcp-param-zone', undefined)),
  on('headers/param-numbers', 'writes a boolean as a number', withHeader('mcp-param-dry', '0')),
  on('headers/param-encoded', 'escapes as URLs do', withHeader('mcp-param-city', 'Z%C3%BCrich')),
  on(
    'headers/param-sentinel',
    'does not encode what looks encoded',
    withHeader('mcp-param-coded', '=?base64?eA==?='),
  ),
  on('headers/param-absent', 'sends an empty header', withHeader('mcp-param-absent', '')),
  on('headers/param-absent', 'mirrors everything', withHeader('mcp-param-plain', 'not mirrored')),
  on(
    'headers/bad-annotations',
    'calls a tool that makes no sense',
    paramsOf('tools/call', (params) => ({ ...params, name: 'bad-empty' })),
  ),
  on('headers/param-unlisted', 'guesses headers', withHeader('mcp-param-region', 'us-west1')),
  on('headers/bad-annotations', 'drops all tools', givesIn),
  on('headers/mismatch-refreshed', 'gives up', fails),
  on('headers/no-modern-session', 'keeps the session', withHeader('mcp-session-id', 'a-session-of-old')),
  on('headers/no-modern-get', 'opens a GET stream', visiting('GET')),
  on('headers/legacy-version', 'says the newest it knows', withHeader('mcp-protocol-version', '2025-11-25')),
  on(
    'headers/legacy-version',
    'says nothing',
    withHeader('mcp-protocol-version', undefined),
    'legacy-2025-11-25',
  ),
  on('sessions/echoed', 'forgets its session', withHeader('mcp-session-id', undefined)),
  on(
    'sessions/echoed',
    'forgets its session on DELETE',
    heading(
      ({ method }): Record<string, undefined> => (method === 'DELETE' ? { 'mcp-session-id': undefined } : {}),
    ),
  ),
  on(
    'sessions/fresh-handshake',
    'takes the old session along',
    withHeader('mcp-session-id', 'old'),
    'session-lost',
  ),
  on('sessions/lost', 'gives up at 404', (transcript) => {
    let handshakes = 0;
    return saying((message) => (message['method'] === 'initialize' && handshakes++ > 0 ? null : undefined))(
      transcript,
    );
  }),
  on(
    'sessions/deleted',
    'leaves without a word',
    without((entry) => entry.kind === 'head' && entry.method === 'DELETE'),
  ),
  on('sessions/get-accept', 'takes anything', (transcript) => visiting('GET')(transcript), 'stream-resumed'),
  on('sessions/resumed', 'starts all over', withHeader('last-event-id', '0')),
  on('sessions/resumed', 'waits for ever', fails),
  on('sessions/retry-honoured', 'comes back at once', (transcript) => ({
    ...transcript,
    entries: transcript.entries.map((entry) =>
      entry.kind === 'head' && entry.headers['last-event-id'] !== undefined
        ? { ...entry, at: toldIn(transcript) + 50 }
        : entry,
    ),
  })),
  on('sessions/sse-endpoint', 'goes on where it began', (transcript) => ({
    ...transcript,
    entries: transcript.entries.map((entry) =>
      entry.kind === 'head'
        ? { ...entry, path: '/mcp', headers: { ...entry.headers, accept: '*/*' } }
        : entry,
    ),
  })),
  on('robustness/schema-refs', 'fetches schemas', visiting('GET', '/schema.json')),
  on(
    'messages/only-messages',
    'sends a form',
    (transcript) => ({
      ...transcript,
      entries: transcript.entries.map((entry) =>
        entry.kind === 'in' ? { ...entry, text: 'method=tools/list' } : entry,
      ),
    }),
    'dual',
  ),
  on(
    'messages/initialized',
    'forgets notifications/initialized over HTTP',
    never('notifications/initialized'),
    'legacy-2025-06-18',
  ),
  on(
    'messages/initialize-params',
    'has no capabilities',
    paramsOf('initialize', ({ capabilities, ...rest }: Json) => rest),
    'legacy-2025-06-18',
  ),
];
