import { answering, changing } from '../../support/suites/altered.js';
import { HASTY, inEra, objectOf, telling } from '../../support/suites/asking-faults.js';
import type { AnyMutant } from '../../support/suites/mutant.js';

const LEGACY = inEra('legacy', []);
const NEWS = inEra('legacy', ['touch'], { allow: ['touch'], patience: HASTY });
const UPDATED = 'notifications/resources/updated';
const CLOCK = { jsonrpc: '2.0', method: UPDATED, params: { uri: 'demo://clock' } };

/** News of the legacy era that do not come, or come unasked. */
export const subscriptionsLegacyMutants: readonly AnyMutant[] = [
  {
    ...LEGACY,
    check: 'subscriptions/subscribe-and-unsubscribe',
    fault: 'has a result for a subscription',
    seen: /subscribed/,
    middle: changing((answer, { method }) =>
      method === 'resources/subscribe' ? { ...answer, result: { subscribed: true } } : undefined,
    ),
  },
  {
    ...LEGACY,
    check: 'subscriptions/subscribe-and-unsubscribe',
    fault: 'cannot unsubscribe',
    seen: /-32601/,
    middle: answering(({ method }) =>
      method === 'resources/unsubscribe' ? { error: { code: -32601, message: 'no' } } : undefined,
    ),
  },
  {
    ...NEWS,
    check: 'subscriptions/updates-after-subscribe',
    fault: 'never tells that a resource has changed',
    seen: /no update/,
    middle: telling((message, method) => (method === UPDATED ? undefined : message)),
  },
  {
    ...NEWS,
    check: 'subscriptions/updates-after-subscribe',
    fault: 'sends updates without a subscription',
    seen: /before resources\/subscribe/,
    middle: changing((answer, { params }) => (params['name'] === 'touch' ? [CLOCK, answer] : undefined)),
  },
  {
    ...NEWS,
    check: 'subscriptions/updates-after-subscribe',
    fault: 'tells updates to those who have unsubscribed',
    seen: /after resources\/unsubscribe/,
    middle: answering(({ method }) => (method === 'resources/unsubscribe' ? { result: {} } : undefined)),
  },
  {
    ...NEWS,
    check: 'subscriptions/tells-list-changes',
    fault: 'does not tell that the list of tools has changed',
    middle: telling((message, method) => (method.endsWith('list_changed') ? undefined : message)),
  },
  {
    ...NEWS,
    check: 'subscriptions/list-changed-only-if-announced',
    fault: 'tells changes that it does not announce',
    middle: changing((answer, { method }) =>
      method === 'initialize'
        ? {
            ...answer,
            result: {
              ...objectOf(answer['result']),
              capabilities: { tools: {}, resources: {}, prompts: {} },
            },
          }
        : undefined,
    ),
  },
];
