import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Said, View } from '../view.js';
import { type ClientCheck, every, fail, pass, skip } from './check.js';

/** How a legacy session begins, and what the modern era has no more. */
export const HANDSHAKE: readonly ClientCheck[] = [
  {
    id: 'messages/initialize-first',
    suite: 'messages',
    title: 'Begins a legacy session with initialize',
    level: 'MUST',
    rules: ['INIT-001'],
    hint: 'Send initialize before any other legacy request.',
    on: 'all',
    judge(view) {
      const [first] = view.requests.filter(({ era, method }) => era === 'legacy' && method !== 'ping');
      if (!first) return skip('the client asked nothing in the legacy era');
      return first.method === 'initialize'
        ? pass('initialize came first')
        : fail(`${first.method} came before initialize`, 'initialize', first);
    },
  },
  {
    id: 'messages/initialize-params',
    suite: 'messages',
    title: 'Says version, capabilities and name in initialize',
    level: 'MUST',
    rules: ['INIT-002'],
    hint: 'params hold protocolVersion (string), capabilities (object) and clientInfo with name and version.',
    on: 'all',
    judge: (view) =>
      every(view.named('initialize'), {
        none: 'the client sent no initialize',
        problem: ({ params }) => {
          const { clientInfo, capabilities, protocolVersion } = params;
          if (typeof protocolVersion !== 'string') return 'initialize has no protocolVersion';
          if (!isJsonObject(capabilities)) return 'initialize has no capabilities';
          const named = isJsonObject(clientInfo) && typeof clientInfo['name'] === 'string';
          return named && typeof clientInfo['version'] === 'string'
            ? undefined
            : 'initialize has no clientInfo with name and version';
        },
        expected: 'protocolVersion, capabilities and clientInfo',
        seen: (count) => `${count} initialize had all three`,
      }),
  },
  {
    id: 'messages/initialized',
    suite: 'messages',
    title: 'Sends notifications/initialized after the handshake',
    level: 'MUST',
    rules: ['INIT-004'],
    hint: 'Send it once, when the result of initialize is there and before the first request.',
    on: 'all',
    judge(view) {
      const welcomed = view
        .named('initialize')
        .filter((each) => isWelcomed(view, each) && goesOn(view, each));
      return every(welcomed, {
        none: 'no handshake was followed by anything',
        problem: (each) =>
          view.named('notifications/initialized').some(({ index }) => index > each.index)
            ? undefined
            : 'The client went on without notifications/initialized',
        expected: 'notifications/initialized',
        seen: (count) => `It came after ${count} handshake${count === 1 ? '' : 's'}`,
      });
    },
  },
  {
    id: 'messages/waits-for-initialize',
    suite: 'messages',
    title: 'Asks nothing but ping before initialize is answered',
    level: 'SHOULD',
    rules: ['INIT-005'],
    hint: 'Wait for the result of initialize: it says what the server can do.',
    on: 'all',
    judge(view) {
      return every(view.named('initialize'), {
        none: 'the client sent no initialize',
        problem(each) {
          const answer = view.answerTo(each)?.index ?? Number.POSITIVE_INFINITY;
          const early = view.requests.find(
            ({ index, method, entry }) =>
              index > each.index &&
              index < answer &&
              entry.life === each.entry.life &&
              !['ping', 'initialize', 'server/discover'].includes(method),
          );
          return early && `${early.method} was sent before the answer to initialize`;
        },
        expected: 'No request before the answer',
        seen: (count) => `${count} handshake${count === 1 ? ' was' : 's were'} waited for`,
      });
    },
  },
  {
    id: 'messages/initialize-not-cancelled',
    suite: 'messages',
    title: 'Never cancels initialize',
    level: 'MUST',
    rules: ['INIT-014'],
    hint: 'Close the connection when you no longer want to wait for it.',
    on: 'all',
    judge(view) {
      const handshakes = view.named('initialize');
      return every(handshakes, {
        none: 'the client sent no initialize',
        problem: ({ id, entry }) =>
          view
            .named('notifications/cancelled')
            .some(
              (each) =>
                each.params['requestId'] === id && each.entry.life === entry.life && each.era === 'legacy',
            )
            ? 'The client cancelled initialize'
            : undefined,
        expected: 'No notifications/cancelled for it',
        seen: (count) => `${count} handshakes were not cancelled`,
      });
    },
  },
  {
    id: 'messages/negotiated-only',
    suite: 'messages',
    title: 'Uses only what the legacy server has declared',
    level: 'MUST',
    rules: ['INIT-012', 'INIT-013'],
    hint: 'Look at the capabilities of the initialize result before you ask for prompts, resources, logs or completions.',
    on: 'all',
    judge(view) {
      // Before 2025-06-18 it was a SHOULD.
      if (/2024-11-05|2025-03-26/.test(view.scenario.name))
        return skip('this server speaks an older revision');
      const asked = view.requests.filter(({ era, method }) => era === 'legacy' && method !== 'initialize');
      return every(asked, {
        none: 'the client asked nothing in the legacy era',
        problem: ({ method }) =>
          OFFERED.has(method) ? undefined : `${method} was sent to a server that only has tools`,
        expected: 'tools/list, tools/call and ping',
        seen: (count) => `${count} requests did`,
      });
    },
  },
  {
    id: 'messages/modern-vocabulary',
    suite: 'messages',
    title: 'Uses none of the methods that the modern era has given up',
    level: 'MUST',
    rules: ['INIT-017', 'PING-004', 'PROG-010', 'ROOT-009'],
    hint: 'No initialize, initialized, ping, logging/setLevel, resources/subscribe, progress or roots/list_changed there.',
    on: 'all',
    judge(view) {
      const said = view.said.filter((each) => each.era === 'modern');
      return every(said, {
        none: 'the client said nothing in the modern era',
        problem: ({ method }) => (GIVEN_UP.has(method) ? `${method} was sent in the modern era` : undefined),
        expected: 'Methods of 2026-07-28',
        seen: (count) => `${count} messages did not`,
      });
    },
  },
  {
    id: 'messages/discover-params',
    suite: 'messages',
    title: 'Sends server/discover with _meta and nothing else',
    level: 'MUST',
    rules: ['DISC-002'],
    hint: 'params of server/discover hold _meta alone.',
    on: 'all',
    judge: (view) =>
      every(view.named('server/discover'), {
        none: 'the client never asked server/discover',
        problem({ params }) {
          const more = Object.keys(params).filter((key) => key !== '_meta');
          if (!isJsonObject(params['_meta'])) return 'server/discover has no _meta';
          return more.length > 0 ? `server/discover has ${more.join(', ')}` : undefined;
        },
        expected: '_meta alone',
        seen: (count) => `${count} did`,
      }),
  },
];

const OFFERED: ReadonlySet<string> = new Set(['tools/list', 'tools/call', 'ping']);

const GIVEN_UP: ReadonlySet<string> = new Set([
  'initialize',
  'notifications/initialized',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'notifications/progress',
  'notifications/roots/list_changed',
]);

function isWelcomed(view: View, handshake: Said): boolean {
  return view.answerTo(handshake)?.message['result'] !== undefined;
}

function goesOn(view: View, { index, entry }: Said): boolean {
  return view.requests.some(
    (each) => each.index > index && each.era === 'legacy' && each.entry.life === entry.life,
  );
}
