import { LEGACY_REVISIONS } from '@isthmus/sdk/internal/era/revisions.js';
import { ENDPOINT } from '../scripted/script.js';
import { type ClientCheck, connects, givesUp, skip } from './check.js';

/** Whether the client works with servers of each era. */
export const NEGOTIATION: readonly ClientCheck[] = [
  {
    id: 'negotiation/modern-only',
    suite: 'negotiation',
    title: 'Works with a server that speaks only the modern era',
    level: 'SHOULD',
    rules: ['VER-016'],
    hint: 'Send server/discover (or any request with the modern _meta), and continue with a version that the server supports.',
    on: ['modern-only'],
    judge: connects,
  },
  ...LEGACY_REVISIONS.map(
    (revision): ClientCheck => ({
      id: `negotiation/legacy-${revision}`,
      suite: 'negotiation',
      title: `Works with a server that speaks only ${revision}, or reports that it does not`,
      level: revision === '2025-11-25' ? 'MUST' : 'SHOULD',
      rules: revision === '2025-11-25' ? ['INIT-001', 'INIT-008'] : ['INIT-008', 'INIT-011'],
      hint: 'Accept the revision in the result of initialize if you know it. Otherwise disconnect with an error.',
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
          ? { kind: 'pass', seen: `It disconnected from a server of ${revision} with an error` }
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
    reason: 'Such a server serves clients of either era, so a failure is the fault of the client.',
    hint: 'Use the first era that the server answers in, and keep to it.',
    on: ['dual'],
    judge: connects,
  },
  {
    id: 'negotiation/newer-server',
    suite: 'negotiation',
    title: 'Picks a version that it knows from supportedVersions when the server also has newer ones',
    level: 'SHOULD',
    rules: ['VER-016'],
    hint: 'Use the newest version in supportedVersions that you implement. Ignore versions that you do not know.',
    on: ['discover-newer'],
    judge: connects,
  },
  fallback('probe-silence', 'Falls back to initialize when the probe is not answered', 'MUST', ['VER-015']),
  fallback('probe-dies', 'Restarts the server, and falls back, when the probe makes it exit', 'SHOULD', []),
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
    'Falls back when the probe is answered with something that is not a message',
    'MUST',
    ['VER-015'],
  ),
  fallback('probe-late', 'Ignores an answer to the probe that comes after the handshake', 'SHOULD', [
    'CANC-009',
  ]),
  fallback('http-400-empty', 'Falls back to initialize on 400 without a body', 'SHOULD', ['VER-019']),
  fallback('http-400-page', 'Falls back to initialize on 400 with an HTML page', 'SHOULD', [
    'VER-018',
    'VER-019',
  ]),
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
    hint: 'Stop, report the versions of both sides, and exit with a code other than 0.',
    on: ['no-common-version', 'discover-unknown', 'legacy-unknown-revision'],
    judge: givesUp,
  },
  {
    id: 'negotiation/era-not-spoken',
    suite: 'negotiation',
    title: 'Ends with an error, and does not hang, when the server does not speak its era',
    level: 'SHOULD',
    rules: ['VER-013'],
    hint: 'A client of one era should report what the server answered, instead of waiting forever.',
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
      reason: 'Such servers exist, and a client that cannot use them looks broken to its user.',
    }),
    hint: 'Send initialize when the answer is not a modern one, and when there is no answer.',
    on: [scenario],
    judge(view, facts) {
      if (!facts.modern && scenario.startsWith('probe')) return skip('the client does not probe');
      if (!view.requests.some(({ era }) => era === 'modern'))
        return skip('the client does not try the modern era here');
      return connects(view, facts);
    },
  };
}
