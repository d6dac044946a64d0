import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Said, View } from '../view.js';
import { type ClientCheck, every, fail, pass, skip } from './check.js';

/** How a legacy session begins, and which methods the modern era no longer has. */
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
      if (!first) return skip('the client sent no request in the legacy era');
      return first.method === 'initialize'
        ? pass('initialize came first')
        : fail(`${first.method} came before initialize`, 'initialize', first);
    },
  },
  {
    id: 'messages/initialize-params',
    suite: 'messages',
    title: 'Sends version, capabilities and name in initialize',
    level: 'MUST',
    rules: ['INIT-002'],
    hint: 'params has protocolVersion (string), capabilities (object) and clientInfo with name and version.',
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
    hint: 'Send it once, after the result of initialize and before the first request.',
    on: 'all',
    judge(view) {
      const answered = view
        .named('initialize')
        .filter((each) => isAnswered(view, each) && goesOn(view, each));
      return every(answered, {
        none: 'no handshake was followed by anything',
        problem: (each) =>
          view.named('notifications/initialized').some(({ index }) => index > each.index)
            ? undefined
            : 'The client continued without notifications/initialized',
        expected: 'notifications/initialized',
        seen: (count) => `It came after ${count} handshake${count === 1 ? '' : 's'}`,
      });
    },
  },
  {
    id: 'messages/waits-for-initialize',
    suite: 'messages',
    title: 'Sends no request except ping before initialize is answered',
    level: 'SHOULD',
    rules: ['INIT-005'],
    hint: 'Wait for the result of initialize. It has the capabilities of the server.',
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
        seen: (count) => `It waited for ${count} handshake${count === 1 ? '' : 's'}`,
      });
    },
  },
  {
    id: 'messages/initialize-not-cancelled',
    suite: 'messages',
    title: 'Never cancels initialize',
    level: 'MUST',
    rules: ['INIT-014'],
    hint: 'Close the connection instead.',
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
    title: 'Uses only capabilities that the legacy server has declared',
    level: 'MUST',
    rules: ['INIT-012', 'INIT-013'],
    hint: 'Read the capabilities in the initialize result before you request prompts, resources, logs or completions.',
    on: 'all',
    judge(view) {
      // Before 2025-06-18 it was a SHOULD.
      if (/2024-11-05|2025-03-26/.test(view.scenario.name))
        return skip('this server speaks an older revision');
      const asked = view.requests.filter(({ era, method }) => era === 'legacy' && method !== 'initialize');
      return every(asked, {
        none: 'the client sent no request in the legacy era',
        problem: ({ method }) =>
          OFFERED.has(method) ? undefined : `${method} was sent to a server that has only tools`,
        expected: 'tools/list, tools/call and ping',
        seen: (count) => `${count} requests used only these`,
      });
    },
  },
  {
    id: 'messages/modern-vocabulary',
    suite: 'messages',
    title: 'Uses no method that the modern era has removed',
    level: 'MUST',
    rules: ['INIT-017', 'PING-004', 'PROG-010', 'ROOT-009'],
    hint: 'The modern era has no initialize, initialized, ping, logging/setLevel, resources/subscribe, progress or roots/list_changed.',
    on: 'all',
    judge(view) {
      const said = view.said.filter((each) => each.era === 'modern');
      return every(said, {
        none: 'the client sent nothing in the modern era',
        problem: ({ method }) => (REMOVED.has(method) ? `${method} was sent in the modern era` : undefined),
        expected: 'Methods of 2026-07-28',
        seen: (count) => `${count} messages used none`,
      });
    },
  },
  {
    id: 'messages/discover-params',
    suite: 'messages',
    title: 'Sends server/discover with _meta and nothing else',
    level: 'MUST',
    rules: ['DISC-002'],
    hint: 'params of server/discover has only _meta.',
    on: 'all',
    judge: (view) =>
      every(view.named('server/discover'), {
        none: 'the client did not send server/discover',
        problem({ params }) {
          const more = Object.keys(params).filter((key) => key !== '_meta');
          if (!isJsonObject(params['_meta'])) return 'server/discover has no _meta';
          return more.length > 0 ? `server/discover has ${more.join(', ')}` : undefined;
        },
        expected: 'Only _meta',
        seen: (count) => `${count} did`,
      }),
  },
];

const OFFERED: ReadonlySet<string> = new Set(['tools/list', 'tools/call', 'ping']);

const REMOVED: ReadonlySet<string> = new Set([
  'initialize',
  'notifications/initialized',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'notifications/progress',
  'notifications/roots/list_changed',
]);

function isAnswered(view: View, handshake: Said): boolean {
  return view.answerTo(handshake)?.message['result'] !== undefined;
}

function goesOn(view: View, { index, entry }: Said): boolean {
  return view.requests.some(
    (each) => each.index > index && each.era === 'legacy' && each.entry.life === entry.life,
  );
}
