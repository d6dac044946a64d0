import { changing } from '../../support/suites/altered.js';
import { HASTY, inEra, objectOf } from '../../support/suites/asking-faults.js';
import type { AnyMutant, Middle } from '../../support/suites/mutant.js';

const CANCELLED = 'notifications/cancelled';
const MODERN = inEra('modern', []);
const MODERN_HASTY = inEra('modern', [], { patience: HASTY });
const LEGACY = inEra('legacy', []);

/** Servers that cancel too much, too little or something else. */
export const cancellationMutants: readonly AnyMutant[] = [
  ...[MODERN_HASTY, LEGACY].flatMap((era) => [
    {
      ...era,
      check: 'cancellation/no-answer-after',
      fault: 'ignores cancellations',
      middle: onCancelled(() => undefined),
    },
    {
      ...era,
      check: 'cancellation/no-progress-after',
      fault: 'ignores cancellations',
      middle: onCancelled(() => undefined),
    },
  ]),
  {
    ...MODERN_HASTY,
    check: 'cancellation/no-progress-after',
    fault: 'reports progress once more when it is cancelled',
    seen: /each time/,
    middle: () => {
      const tokens = new Map<unknown, unknown>();
      const last: Record<string, unknown>[] = [];
      return {
        incoming(message) {
          const params = objectOf(message['params']);
          if (message['method'] === 'tools/call')
            tokens.set(message['id'], objectOf(params['_meta'])['progressToken']);
          const progressToken = tokens.get(params['requestId']);
          if (message['method'] === CANCELLED && progressToken !== undefined)
            last.push({
              jsonrpc: '2.0',
              method: 'notifications/progress',
              params: { progressToken, progress: 9_000_000 },
            });
          return message;
        },
        // After the answer to what was asked before the cancellation.
        outgoing: (message) => [message, ...(message['result'] === undefined ? [] : last.splice(0))],
      };
    },
  },
  {
    ...MODERN_HASTY,
    check: 'cancellation/others-go-on',
    fault: 'cancels everything',
    middle: () => {
      const open: unknown[] = [];
      return {
        incoming(message) {
          if (message['method'] === 'tools/call') open.push(message['id']);
          if (message['method'] !== CANCELLED) return message;
          return open.map((requestId) => ({ ...message, params: { requestId } }));
        },
      };
    },
  },
  ...[MODERN_HASTY, LEGACY].map((era) => ({
    ...era,
    check: 'cancellation/keeps-types-apart',
    fault: 'converts a string to a number',
    options: { ...era.options, patience: HASTY },
    middle: onCancelled((message) => ({
      ...message,
      params: { requestId: Number(objectOf(message['params'])['requestId']) },
    })),
  })),
  {
    ...MODERN,
    check: 'cancellation/unknown-ignored',
    fault: 'answers the cancellation of a request that never was',
    seen: /answered/,
    middle: replying(({ requestId }) => ({ id: requestId, error: { code: -32602, message: 'unknown' } })),
  },
  {
    ...LEGACY,
    check: 'cancellation/malformed-ignored',
    fault: 'answers a cancellation without an id',
    seen: /answered/,
    middle: replying(({ requestId }) =>
      requestId === undefined ? { error: { code: -32600, message: 'requestId is missing' } } : undefined,
    ),
  },
  {
    ...MODERN,
    check: 'cancellation/malformed-ignored',
    fault: 'stops reading after a cancellation without an id',
    options: { ...MODERN.options, patience: HASTY },
    middle: () => {
      let isHurt = false;
      return {
        incoming(message) {
          isHurt ||= message['method'] === CANCELLED && objectOf(message['params'])['requestId'] === null;
          return isHurt ? undefined : message;
        },
      };
    },
  },
  {
    ...MODERN,
    check: 'cancellation/finished-ignored',
    fault: 'confirms the cancellation of what was answered',
    middle: replying(({ requestId }) => ({ id: requestId, error: { code: -32800, message: 'cancelled' } })),
  },
  {
    ...MODERN,
    check: 'cancellation/race-survived',
    fault: 'answers what was cancelled twice',
    seen: /twice/,
    middle: changing((answer, { method }) => (method === 'server/discover' ? [answer, answer] : undefined)),
  },
  {
    ...LEGACY,
    check: 'cancellation/race-survived',
    fault: 'crashes after ten cancellations',
    middle: () => {
      let count = 0;
      return {
        incoming(message, io) {
          if (message['method'] === CANCELLED && ++count === 10) io.destroy();
          return message;
        },
      };
    },
  },
  {
    ...MODERN,
    check: 'cancellation/disconnect-survived',
    fault: 'is not available after five clients have gone away',
    proxy: () => {
      let slow = 0;
      return {
        request({ json }) {
          const args = objectOf(objectOf(json?.['params'])['arguments']);
          if (Number(args['ms']) > 400) slow++;
          return slow >= 5 && args['ms'] === undefined ? { respond: { status: 503 } } : undefined;
        },
      };
    },
  },
  ...[MODERN, LEGACY].map((era) => ({
    ...era,
    check: 'cancellation/server-cancels-only-its-own',
    fault: 'cancels a request of the client',
    middle: changing((answer, { method, id }) =>
      method === 'tools/list'
        ? [{ jsonrpc: '2.0', method: CANCELLED, params: { requestId: id } }, answer]
        : undefined,
    ),
  })),
];

function onCancelled(
  change: (message: Readonly<Record<string, unknown>>) => Record<string, unknown> | undefined,
): () => Middle {
  return () => ({ incoming: (message) => (message['method'] === CANCELLED ? change(message) : message) });
}

/** Says something to a cancellation. */
function replying(
  answer: (params: Readonly<Record<string, unknown>>) => Record<string, unknown> | undefined,
): () => Middle {
  return () => ({
    incoming(message, io) {
      const own = message['method'] === CANCELLED ? answer(objectOf(message['params'])) : undefined;
      if (own) io.reply({ jsonrpc: '2.0', ...own });
      return message;
    },
  });
}
