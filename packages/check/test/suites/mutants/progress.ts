import { changing } from '../../support/suites/altered.js';
import { asking, inEra, objectOf, telling, withParams } from '../../support/suites/asking-faults.js';
import type { AnyMutant, Middle } from '../../support/suites/mutant.js';

const PROGRESS = 'notifications/progress';
const REPORTING = ['sleep', 'test_tool_with_progress'];

/** Progress that goes wrong, in either era. */
export const progressMutants: readonly AnyMutant[] = [
  inEra('modern', REPORTING),
  inEra('legacy', REPORTING),
].flatMap((era) => [
  {
    ...era,
    check: 'progress/increases',
    fault: 'reports the same progress again and again',
    seen: /from 1 to 1/,
    middle: reporting(() => ({ progress: 1 })),
  },
  {
    ...era,
    check: 'progress/of-running-requests',
    fault: 'reports progress after the answer',
    seen: /after the answer/,
    middle: changing((answer, { params }) => {
      const progressToken = objectOf(params['_meta'])['progressToken'];
      if (progressToken === undefined) return undefined;
      return [answer, { jsonrpc: '2.0', method: PROGRESS, params: { progressToken, progress: 1000 } }];
    }),
  },
  {
    ...era,
    check: 'progress/of-running-requests',
    fault: 'reports progress with an unknown token',
    seen: /no request had/,
    middle: reporting(() => ({ progressToken: 'nobody' })),
  },
  {
    ...era,
    check: 'progress/keeps-the-token',
    fault: 'converts strings of digits to numbers',
    seen: /"7001" came back as 7001/,
    middle: reporting(({ progressToken }) =>
      /^\d+$/.test(String(progressToken)) ? { progressToken: Number(progressToken) } : {},
    ),
  },
  {
    ...era,
    check: 'progress/none-without-token',
    fault: 'reports progress to those who did not ask',
    middle: asking((params, method) => {
      const meta = objectOf(params['_meta']);
      const isMute = method === 'tools/call' && meta['progressToken'] === undefined;
      return isMute ? { ...params, _meta: { ...meta, progressToken: 1 } } : params;
    }),
  },
  {
    ...era,
    check: 'progress/two-at-once',
    fault: 'remembers one token for all',
    middle: () => {
      let last: unknown;
      return {
        incoming(message) {
          last = objectOf(objectOf(message['params'])['_meta'])['progressToken'] ?? last;
          return message;
        },
        outgoing: (message) =>
          message['method'] === PROGRESS ? withParams(message, { progressToken: last }) : message,
      };
    },
  },
  {
    ...era,
    check: 'progress/within-its-total',
    fault: 'is done more than wholly',
    seen: /of 1/,
    middle: reporting(() => ({ total: 1 })),
  },
  {
    ...era,
    check: 'progress/says-something',
    fault: 'has an empty progress message',
    middle: reporting(() => ({ message: ' ' })),
  },
  {
    ...era,
    check: 'progress/not-a-flood',
    fault: 'reports every little thing',
    middle: telling((message, method) =>
      method === PROGRESS
        ? Array.from({ length: 250 }, (_, at) =>
            withParams(message, { progress: Number(objectOf(message['params'])['progress']) + at / 1000 }),
          )
        : message,
    ),
  },
]);

/** The progress of the demo, with other params. */
function reporting(
  change: (params: Readonly<Record<string, unknown>>) => Record<string, unknown>,
): () => Middle {
  return telling((message, method) =>
    method === PROGRESS ? withParams(message, change(objectOf(message['params']))) : message,
  );
}
