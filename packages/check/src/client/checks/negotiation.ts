import { LEGACY_REVISIONS } from '@isthmus/sdk/internal/era/revisions.js';
import { ENDPOINT } from '../scripted/script.js';
import { type ClientCheck, connects, givesUp, skip } from './check.js';

/** Whether the client gets along with servers of each era. */
export const NEGOTIATION: readonly ClientCheck[] = [
  {
    id: 'negotiation/modern-only',
    suite: 'negotiation',
    title: 'Works with a server that speaks only the modern era',
    level: 'SHOULD',
    rules: ['VER-016'],
    hint: 'Ask server/discover (or any request with the modern _meta) and go on with a version it supports.',
    on: ['modern-only'],
    judge: connects,
  },
  ...LEGACY_REVISIONS.map(
    (revision): ClientCheck => ({
      id: `negotiation/legacy-${revision}`,
      suite: 'negotiation',
      title: `Works with a server that speaks only ${revision}, or says that it does not speak it`,
      level: revision === '2025-11-25' ? 'MUST' : 'SHOULD',
      rules: revision === '2025-11-25' ? ['INIT-001', 'INIT-008'] : ['INIT-008', 'INIT-011'],
      hint: 'Accept the revision that the server answers initialize with when you know it, else disconnect with an error.',
      on: [`legacy-${revision}`],
      judge(view, facts) {
        const opinion = connects(view, facts);
        if (opinion.kind === 'pass' || opinion.kind === 'skip') return opinion;
        if (
          revision === '2024-11-05' &&
          view.transcript.over === 'http' &&
          !view.heads.some(({ path }) => path === ENDPOINT)
        ) {
          return skip('the client does not speak the HTTP+SSE transport of 2024-11-05');
        }
        const greeted = view.named('initialize').find((each) => view.answerTo(each)?.message['result']);
        const wentOn = greeted && view.requests.some(({ index }) => index > greeted.index);
        return greeted && !wentOn && view.ended && !view.succeeded && revision !== '2025-11-25'
          ? { kind: 'pass', seen: `It disconnected from a server of ${revision} and said so` }
          : opinion;
      },
    }),
  ),
  {
    id: 'negotiation/dual',
    suite: 'negotiation',
    title: 'Works with a server of both eras',
    level: 'SHOULD',
    rules: [],
    reason: 'A server of both eras serves clients of either; nothing can go wrong there but the client.',
    hint: 'Use the first era that the server answers in, and stay in it.',
    on: ['dual'],
    judge: connects,
  },
  {
    id: 'negotiation/newer-server',
    suite: 'negotiation',
    title: 'Picks a version that it knows from supportedVersions, though the server has newer ones',
    level: 'SHOULD',
    rules: ['VER-016'],
    hint: 'Look for the newest version in supportedVersions that you implement; ignore those you do not know.',
    on: ['discover-newer'],
    judge: connects,
  },
  fallback('probe-silence', 'Falls back to initialize when the probe is not answered', 'MUST', ['VER-015']),
  fallback('probe-dies', 'Starts the server again, and falls back, when it dies of the probe', 'SHOULD', []),
  ...['-32601', '-32602', '-32600', '-32603', '-32000'].map((code) =>
    fallback(`probe${code}`, `Falls back to initialize when the probe is answered with ${code}`, 'MUST', [
      'VER-015',
    ]),
  ),
  fallback('probe-null-id', 'Falls back when the probe is answered with an error without id', 'MUST', [
    'VER-015',
  ]),
  fallback(
    'probe-garbage',
    'Falls back when the probe is answered with something that is no message',
    'MUST',
    ['VER-015'],
  ),
  fallback('probe-late', 'Ignores an answer to the probe that comes when the handshake is over', 'SHOULD', [
    'CANC-009',
  ]),
  fallback('http-400-empty', 'Falls back to initialize on 400 without a body', 'SHOULD', ['VER-019']),
  fallback('http-400-page', 'Falls back to initialize on 400 with a page', 'SHOULD', ['VER-018', 'VER-019']),
  fallback(
    'http-200-error',
    'Falls back when a legacy server answers the probe with 200 and -32601',
    'SHOULD',
    [],
  ),
  {
    id: 'negotiation/gives-up',
    suite: 'negotiation',
    title: 'Ends with an error when there is no common version',
    level: 'SHOULD',
    rules: ['VER-002', 'INIT-011'],
    hint: 'When no version is common, stop and say which versions each side speaks; exit with another code than 0.',
    on: ['no-common-version', 'discover-unknown', 'legacy-unknown-revision'],
    judge: givesUp,
  },
  {
    id: 'negotiation/era-not-spoken',
    suite: 'negotiation',
    title: 'Ends with an error, and does not hang, when the server does not speak its era',
    level: 'SHOULD',
    rules: ['VER-013'],
    hint: 'A client of one era should say what the server answered, instead of waiting for ever.',
    on: ['modern-only', 'legacy-2025-11-25'],
    judge: (view, facts) =>
      facts.modern && facts.legacy ? skip('the client speaks both eras') : eraNotSpoken(view, facts),
  },
];

function eraNotSpoken(...[view, facts]: Parameters<ClientCheck['judge']>) {
  const served = view.scenario.serves.some((era) => facts[era]);
  return served ? skip('the client speaks the era of this server') : givesUp(view);
}

function fallback(
  scenario: string,
  title: string,
  level: ClientCheck['level'],
  rules: readonly string[],
): ClientCheck {
  return {
    id: `negotiation/${scenario}`,
    suite: 'negotiation',
    title,
    level,
    rules,
    ...(rules.length === 0 && {
      reason: 'Servers that do this exist, and a client that cannot use them looks broken to its user.',
    }),
    hint: 'Treat anything that is no modern answer, and silence, as a legacy server: send initialize.',
    on: [scenario],
    judge(view, facts) {
      if (!facts.modern && scenario.startsWith('probe')) return skip('the client does not probe');
      if (!view.requests.some(({ era }) => era === 'modern'))
        return skip('the client does not try the modern era here');
      return connects(view, facts);
    },
  };
}
