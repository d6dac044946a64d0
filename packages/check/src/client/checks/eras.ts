import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isLegacyRevision, LEGACY_REVISIONS } from '@isthmus/sdk/internal/era/revisions.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Said, View } from '../view.js';
import { type ClientCheck, every, fail, pass, skip } from './check.js';

/** What the client concludes from the answers of a server. */
export const ERA_RULES: readonly ClientCheck[] = [
  {
    id: 'negotiation/probe-first',
    suite: 'negotiation',
    title: 'Over stdio, sends server/discover before anything else',
    level: 'SHOULD',
    rules: ['VER-013', 'VER-014', 'DISC-007'],
    hint: 'Send server/discover with your preferred version first. A legacy server might run a call without a handshake.',
    on: ['modern-only', 'dual', 'legacy-2025-11-25'],
    over: ['stdio'],
    judge(view, facts) {
      if (!facts.modern) return skip('the client speaks the legacy era only');
      const [first] = view.said;
      if (!first) return fail('The client sent nothing', 'server/discover comes first');
      return first.method === 'server/discover'
        ? pass('server/discover came first')
        : fail(`${first.method} came first`, 'server/discover comes first', first);
    },
  },
  {
    id: 'negotiation/modern-error-is-modern',
    suite: 'negotiation',
    title: 'Stays modern when a server refuses it with -32020, -32021 or -32022',
    level: 'MUST',
    rules: ['VER-010', 'VER-018'],
    hint: 'These codes exist only in the modern era. Correct the request or give up, but do not send initialize.',
    on: ['modern-32020', 'modern-32021', 'modern-32022', 'no-common-version'],
    judge(view, facts) {
      if (!facts.modern) return skip('the client speaks the legacy era only');
      const refusal = view.heard.find(({ message }) => isModernError(message['error']));
      if (!refusal) return skip('the client did not get the refusal');
      const handshake = view.named('initialize').find(({ index }) => index > refusal.index);
      return handshake
        ? fail(
            'The client sent initialize to a server that had answered with a modern error',
            'No initialize',
            handshake,
          )
        : pass('No initialize followed');
    },
  },
  {
    id: 'negotiation/version-retry',
    suite: 'negotiation',
    title: 'Takes a version from data.supported after -32022, or reports that there is no common one',
    level: 'SHOULD',
    rules: ['VER-002'],
    hint: 'Read data.supported of the error, and repeat the request with a version that you implement.',
    on: ['modern-32022'],
    judge(view, facts) {
      if (!facts.modern) return skip('the client speaks the legacy era only');
      const refusal = view.heard.find(({ message }) => isModernError(message['error']));
      if (!refusal) return skip('the client did not get the refusal');
      const again = view.requests.find(({ index, era }) => index > refusal.index && era === 'modern');
      if (again) return pass(`It repeated the request with ${String(versionIn(again))}`);
      return view.ended && !view.succeeded
        ? pass('It reported the refusal')
        : fail(
            'The client neither repeated the request nor failed',
            'A request with a supported version, or an error',
            refusal,
          );
    },
  },
  {
    id: 'negotiation/supported-version',
    suite: 'negotiation',
    title: 'Sends only versions that the server supports, once it knows them',
    level: 'SHOULD',
    rules: ['VER-016', 'VER-002'],
    hint: 'After server/discover use one of supportedVersions on every request.',
    on: ['discover-newer', 'discover-unknown', 'modern-only', 'no-common-version'],
    judge(view) {
      const told = view.heard.find(({ message }) => supportedIn(message) !== undefined);
      const supported = told && supportedIn(told.message);
      if (!told || !supported) return skip('the client never learned which versions the server supports');
      const later = view.requests.filter(
        // server/discover is allowed with any version.
        ({ index, era, method }) => index > told.index && era === 'modern' && method !== 'server/discover',
      );
      const wrong = later.find((each) => !supported.includes(versionIn(each)));
      if (wrong) {
        return fail(
          `${wrong.method} was sent with ${String(versionIn(wrong))} to a server of ${supported.join(', ')}`,
          'A version from the list, or no request',
          wrong,
        );
      }
      return pass(
        later.length === 0 ? 'It sent no further request' : `All ${later.length} later requests did`,
      );
    },
  },
  {
    id: 'negotiation/handshake-version',
    suite: 'negotiation',
    title: 'Never offers a modern version in initialize',
    level: 'MUST',
    rules: ['VER-008', 'INIT-008'],
    hint: `initialize is for ${LEGACY_REVISIONS.join(', ')}. Later versions have no handshake.`,
    on: 'all',
    judge: (view) =>
      every(view.named('initialize'), {
        none: 'the client sent no initialize',
        problem: ({ params }) =>
          isLegacyRevision(params['protocolVersion'])
            ? undefined
            : `initialize offered ${JSON.stringify(params['protocolVersion'])}`,
        expected: `One of ${LEGACY_REVISIONS.join(', ')}`,
        seen: (count) => `${count} initialize offered a legacy revision`,
      }),
  },
  {
    id: 'negotiation/unknown-revision',
    suite: 'negotiation',
    title: 'Disconnects when initialize is answered with a revision that it does not know',
    level: 'SHOULD',
    rules: ['INIT-011'],
    hint: 'Compare the protocolVersion of the result with the revisions that you implement before you continue.',
    on: ['legacy-unknown-revision'],
    judge(view) {
      const greeted = view.named('initialize').find((each) => view.answerTo(each)?.message['result']);
      if (!greeted) return skip('there was no answered handshake');
      const wentOn = view.requests.find(({ index, era }) => index > greeted.index && era === 'legacy');
      return wentOn
        ? fail(`The client continued with ${wentOn.method}`, 'No request after the answer', wentOn)
        : pass('It sent no further request');
    },
  },
  {
    id: 'negotiation/remembers',
    suite: 'negotiation',
    title: 'Determines the era once for a process or an address',
    level: 'SHOULD',
    rules: ['VER-011'],
    hint: 'Store the era with the connection. Send no second probe and no second initialize on it.',
    on: ['modern-only', 'dual', 'legacy-2025-11-25', 'legacy-2025-06-18'],
    judge(view) {
      const lives = new Set(view.said.map(({ entry }) => entry.life));
      if (lives.size === 0) return skip('the client sent nothing');
      for (const life of lives) {
        const twice = ['server/discover', 'initialize']
          .map((method) => view.named(method).filter(({ entry }) => entry.life === life))
          .find((sent) => sent.length > 1);
        if (twice) return fail(`${twice[1]?.method} was sent ${twice.length} times`, 'Once', twice[1]);
      }
      return pass('No probe or handshake was repeated');
    },
  },
  {
    id: 'negotiation/one-era',
    suite: 'negotiation',
    title: 'Keeps to the modern era once it is found',
    level: 'MUST',
    rules: ['INIT-017', 'VER-011'],
    hint: 'Send no initialize after a DiscoverResult.',
    on: ['modern-only', 'dual', 'discover-newer'],
    judge(view) {
      const found = view.requests.find((each) => isOpening(each) && view.answerTo(each)?.message['result']);
      if (!found) return skip('the client found no era');
      // A probe after a handshake breaks a SHOULD NOT: negotiation/remembers.
      if (found.era === 'legacy') return skip('the client found the legacy era');
      const strayed = view.requests.find(
        ({ index, era, entry }) =>
          index > found.index && era !== found.era && entry.life === found.entry.life,
      );
      return strayed
        ? fail(
            `${strayed.method} is of another era than ${found.method}, which was answered`,
            `Requests of the ${found.era} era`,
            strayed,
          )
        : pass(`All that followed was ${found.era}`);
    },
  },
  ...([401, 429, 503] as const).map(
    (status): ClientCheck => ({
      id: `negotiation/http-${status}-is-no-era`,
      suite: 'negotiation',
      title: `Does not treat HTTP ${status} as a sign of the legacy era`,
      level: 'SHOULD',
      rules: [],
      reason:
        'A server that asks for a token, is busy or is broken does not show its era. A fallback would use the wrong era with a modern server.',
      hint: `Report ${status}, or authorize, or wait and repeat the same request. Do not send initialize because of it.`,
      on: [`http-${status}`],
      judge(view, facts) {
        if (!facts.modern) return skip('the client speaks the legacy era only');
        const [first] = view.said;
        if (!first) return fail('The client sent nothing', 'A request');
        const tried = view.requests.find(({ era }) => era === 'modern');
        if (!tried) return skip('the client did not start in the modern era');
        const handshake = view.named('initialize').find(({ index }) => index > tried.index);
        return handshake
          ? fail(`After ${status} the client sent initialize`, 'No initialize', handshake)
          : pass(`No initialize followed the ${status}`);
      },
    }),
  ),
];

function versionIn({ params }: Said): unknown {
  return isJsonObject(params['_meta']) ? params['_meta'][META.protocolVersion] : undefined;
}

function isOpening({ method }: Said): boolean {
  return method === 'server/discover' || method === 'initialize';
}

function isModernError(error: unknown): boolean {
  return isJsonObject(error) && [-32020, -32021, -32022].includes(error['code'] as number);
}

function supportedIn(message: View['heard'][number]['message']): unknown[] | undefined {
  const { result, error } = message as {
    result?: { supportedVersions?: unknown };
    error?: { data?: unknown };
  };
  const data = error?.data as { supported?: unknown } | undefined;
  const list = result?.supportedVersions ?? data?.supported;
  return Array.isArray(list) ? list : undefined;
}
