import { answering, changing, changingResult } from '../../support/suites/altered.js';
import {
  asking,
  HASTY,
  inEra,
  objectOf,
  REFUSED,
  telling,
  withParams,
} from '../../support/suites/asking-faults.js';
import type { AnyMutant, Middle } from '../../support/suites/mutant.js';

const LISTEN = 'subscriptions/listen';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const ID = 'io.modelcontextprotocol/subscriptionId';

/** Those that make the demo tell news. */
const allow = ['touch', 'test_trigger_prompt_change', 'test_trigger_resource_change'];
const MODERN = inEra('modern', ['test_tool_with_progress']);
const NEWS = inEra('modern', [], { allow, patience: HASTY });

/** Subscriptions that begin, go on or end in a wrong way. */
export const subscriptionsMutants: readonly AnyMutant[] = [
  {
    ...MODERN,
    check: 'subscriptions/acknowledged-first',
    fault: 'tells news before it acknowledges',
    seen: /list_changed/,
    middle: telling((message, method) =>
      method === ACKNOWLEDGED ? [news(subscriptionOf(message)), message] : message,
    ),
  },
  {
    ...MODERN,
    check: 'subscriptions/acknowledged-first',
    fault: 'acknowledges nothing',
    seen: /not acknowledged/,
    options: { ...MODERN.options, patience: HASTY },
    middle: telling((message, method) => (method === ACKNOWLEDGED ? undefined : message)),
  },
  {
    ...MODERN,
    check: 'subscriptions/promises-what-it-announces',
    fault: 'promises what it does not announce',
    seen: /tools\.listChanged is not announced/,
    middle: changingResult('server/discover', (result) => ({
      ...result,
      capabilities: { ...objectOf(result['capabilities']), tools: {} },
    })),
  },
  {
    ...MODERN,
    check: 'subscriptions/promises-what-it-announces',
    fault: 'promises more than it was asked for',
    seen: /was asked for/,
    middle: telling((message, method) =>
      method === ACKNOWLEDGED
        ? withParams(message, { notifications: { toolsListChanged: true, promptsListChanged: true } })
        : message,
    ),
  },
  {
    ...MODERN,
    check: 'subscriptions/keeps-the-id',
    fault: 'makes all ids strings',
    seen: /70001 has the subscriptionId "70001"/,
    middle: telling((message) => renamed(message, String)),
  },
  {
    ...MODERN,
    check: 'subscriptions/several-at-once',
    fault: 'has room for one subscription',
    middle: () => {
      let count = 0;
      return answering(({ method }) => (method === LISTEN && count++ > 0 ? REFUSED : undefined))();
    },
  },
  {
    ...MODERN,
    check: 'subscriptions/leaves-room-for-others',
    fault: 'hears nothing else while a subscription is open',
    options: { ...MODERN.options, patience: HASTY },
    middle: () => {
      let isListening = false;
      return {
        incoming(message) {
          if (isListening) return undefined;
          isListening = message['method'] === LISTEN;
          return message;
        },
      };
    },
  },
  {
    ...MODERN,
    check: 'subscriptions/open-again-after-cancel',
    fault: 'keeps five subscriptions, be they cancelled or not',
    middle: () => {
      let count = 0;
      return answering(({ method }) => (method === LISTEN && count++ >= 5 ? REFUSED : undefined))();
    },
  },
  {
    ...MODERN,
    check: 'subscriptions/refuses-a-filter-that-is-none',
    fault: 'listens to nothing',
    middle: asking((params, method) =>
      method === LISTEN ? { ...params, notifications: objectOf(params['notifications']) } : params,
    ),
  },
  {
    ...MODERN,
    check: 'subscriptions/closing-result',
    fault: 'closes a subscription without its name',
    seen: /subscriptionId undefined/,
    middle: changingResult(LISTEN, () => ({ resultType: 'complete' })),
  },
  {
    ...MODERN,
    check: 'subscriptions/closing-result',
    fault: 'closes a subscription with a summary',
    seen: /and told/,
    middle: changingResult(LISTEN, (result) => ({ ...result, told: 3 })),
  },
  {
    ...MODERN,
    check: 'subscriptions/says-when-it-ends',
    fault: 'ends without a closing message',
    seen: /without a message/,
    middle: changing((_answer, { method }) => (method === LISTEN ? [] : undefined)),
  },
  ...(['tools', 'prompts'] as const).map((list) => ({
    ...NEWS,
    check: `subscriptions/tells-${list}`,
    fault: `does not tell that the list of ${list} has changed`,
    middle: telling((message, method) =>
      method === `notifications/${list}/list_changed` ? undefined : message,
    ),
  })),
  {
    ...NEWS,
    check: 'subscriptions/tells-resources',
    fault: 'does not tell that the list of resources has changed',
    middle: withResourceTrigger,
  },
  {
    ...NEWS,
    check: 'subscriptions/tells-updates',
    fault: 'does not tell that a resource has changed',
    middle: telling((message, method) =>
      method === 'notifications/resources/updated' ? undefined : message,
    ),
  },
  {
    ...NEWS,
    check: 'subscriptions/tells-nothing-else',
    fault: 'sends all changes to all subscriptions',
    seen: /received/,
    middle: asking((params, method) =>
      method === LISTEN
        ? { ...params, notifications: { toolsListChanged: true, resourceSubscriptions: ['demo://clock'] } }
        : params,
    ),
  },
  {
    ...NEWS,
    check: 'subscriptions/news-name-their-subscription',
    fault: 'does not say whom its news are for',
    middle: telling((message, method) =>
      method === ACKNOWLEDGED ? message : withParams(message, { _meta: {} }),
    ),
  },
  {
    ...NEWS,
    check: 'subscriptions/news-name-their-subscription',
    fault: 'notifies only one of two subscriptions',
    seen: /received nothing/,
    middle: () => {
      let first: unknown;
      return telling((message, method) => {
        if (method === ACKNOWLEDGED) {
          first ??= subscriptionOf(message);
          return message;
        }
        return subscriptionOf(message) === first ? message : undefined;
      })();
    },
  },
  {
    ...NEWS,
    check: 'subscriptions/quiet-after-cancel',
    fault: 'goes on notifying after the subscription has ended',
    seen: /after it was cancelled/,
    middle: () => ({
      incoming: (message) => (message['method'] === 'notifications/cancelled' ? undefined : message),
    }),
  },
  {
    ...NEWS,
    check: 'subscriptions/quiet-after-cancel',
    fault: 'ends all subscriptions when one is cancelled',
    seen: /nothing any more/,
    middle: () => {
      const open = new Set<unknown>();
      return {
        incoming(message) {
          if (message['method'] === LISTEN) open.add(message['id']);
          if (message['method'] !== 'notifications/cancelled') return message;
          return [...open].map((requestId) => ({ ...message, params: { requestId } }));
        },
      };
    },
  },
  {
    ...MODERN,
    check: 'subscriptions/no-progress-and-no-logs',
    fault: 'reports progress on the stream of a subscription',
    proxy: () => ({
      message: (message) =>
        message['method'] === ACKNOWLEDGED
          ? [
              message,
              { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
            ]
          : message,
    }),
  },
  {
    ...MODERN,
    check: 'subscriptions/no-news-outside',
    fault: 'tells news to those who have not subscribed',
    middle: changing((answer, { method }) =>
      method === 'resources/list'
        ? [answer, { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} }]
        : undefined,
    ),
  },
];

function news(id: unknown) {
  return { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { _meta: { [ID]: id } } };
}

function subscriptionOf(message: Readonly<Record<string, unknown>>): unknown {
  return objectOf(objectOf(message['params'])['_meta'])[ID];
}

function renamed(message: Readonly<Record<string, unknown>>, rename: (id: unknown) => unknown) {
  const id = subscriptionOf(message);
  return id === undefined ? message : withParams(message, { _meta: { [ID]: rename(id) } });
}

/** Has one more tool, that claims to change the list of resources. */
function withResourceTrigger(): Middle {
  const name = 'test_trigger_resource_change';
  const list = changingResult('tools/list', (result) => ({
    ...result,
    tools: [...(result['tools'] as unknown[]), { name, inputSchema: { type: 'object' } }],
  }))();
  const call = answering(({ params }) =>
    params['name'] === name ? { result: { resultType: 'complete', content: [] } } : undefined,
  )();
  return {
    incoming: (message, io) => {
      const passed = call.incoming!(message, io);
      return passed && list.incoming!(message, io);
    },
    outgoing: list.outgoing!,
  };
}
