import {
  allOf,
  type Breaking,
  ending,
  fails,
  type Json,
  never,
  paramsOf,
  saying,
  without,
} from '../../support/client/break.js';
import type { Mutant } from '../../support/client/mutant.js';

/** The second and every later list is left out. */
const listsOnce: Breaking = (transcript) => {
  let lists = 0;
  return saying((message) => (message['method'] === 'tools/list' && lists++ > 0 ? null : undefined))(
    transcript,
  );
};

/** The client goes on listening until it is gone. */
const hangsUpLate: Breaking = (transcript) => ({
  ...transcript,
  entries: [
    ...transcript.entries.filter(({ kind }) => kind !== 'hung-up'),
    ...transcript.entries.filter(({ kind }) => kind === 'hung-up'),
  ],
});

const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } };

export const CANCEL_AND_CACHE: readonly Mutant[] = [
  ...['cancel/modern-stdio', 'cancel/legacy-stdio', 'cancel/legacy-http'].map((check) => ({
    check,
    fault: 'does not tell the server',
    breaking: never('notifications/cancelled'),
  })),
  {
    check: 'cancel/modern-http',
    fault: 'leaves the answer open',
    breaking: without(({ kind }) => kind === 'hung-up'),
  },
  { check: 'cancel/modern-http', fault: 'closes the answer when it leaves', breaking: hangsUpLate },
  {
    check: 'cancel/modern-http-silent',
    fault: 'sends notifications/cancelled',
    breaking: (transcript) => {
      const said = transcript.entries.findLast(({ kind }) => kind === 'in')!;
      const more = { ...said, exchange: 999, text: JSON.stringify(cancelled) } as typeof said;
      return { ...transcript, entries: [...transcript.entries, more] };
    },
  },
  {
    check: 'cancel/own-requests',
    fault: 'makes up a request',
    scenario: 'cancel-modern',
    over: 'stdio',
    breaking: paramsOf('notifications/cancelled', () => ({ requestId: 'never-sent' })),
  },
  {
    check: 'cancel/own-requests',
    fault: 'cancels what was answered long ago',
    scenario: 'cancel-modern',
    over: 'stdio',
    breaking: (transcript) => {
      const list = transcript.entries.find(
        (entry) => 'text' in entry && entry.text.includes('"tools/list"'),
      )!;
      const { id } = JSON.parse('text' in list ? list.text : '{}') as Json;
      const late = paramsOf('notifications/cancelled', () => ({ requestId: id }))(transcript);
      const entries = late.entries.map((entry) =>
        entry.kind === 'in' && entry.text.includes('cancelled') ? { ...entry, at: entry.at + 5000 } : entry,
      );
      return { ...late, entries };
    },
  },
  { check: 'cancel/late-answer', fault: 'breaks at the late answer', breaking: fails },
  ...['zero', 'missing', 'negative', 'expired'].map((name) => ({
    check: `cache/${name}`,
    fault: 'believes its first list for ever',
    breaking: listsOnce,
  })),
  {
    check: 'cache/negative',
    fault: 'refuses the list',
    breaking: allOf(listsOnce, ending({ code: 1, stderr: 'ttlMs: too small' })),
  },
  { check: 'cache/changed', fault: 'does not heed the news', breaking: listsOnce },
  {
    check: 'cache/no-polling',
    fault: 'lists the tools all the time',
    breaking: (transcript) => ({
      ...transcript,
      entries: transcript.entries.flatMap((entry) =>
        entry.kind === 'in' && entry.text.includes('"tools/list"') ? [entry, entry, entry, entry] : [entry],
      ),
    }),
  },
  {
    check: 'cache/listen-params',
    fault: 'does not say what it listens for',
    scenario: 'cache-changed',
    breaking: paramsOf('subscriptions/listen', ({ notifications, ...rest }) => rest),
  },
  {
    check: 'cache/listen-ended',
    fault: 'never ends its subscription',
    over: 'http',
    breaking: without(({ kind }) => kind === 'hung-up'),
  },
  {
    check: 'cache/listen-ended',
    fault: 'never ends its subscription over stdio',
    over: 'stdio',
    breaking: allOf(
      never('notifications/cancelled'),
      without(({ kind }) => kind === 'eof'),
    ),
  },
  {
    check: 'cache/pages',
    fault: 'reads the first page only',
    breaking: listsOnce,
  },
  {
    check: 'cache/empty-cursor',
    fault: 'takes an empty cursor for the end',
    breaking: saying((message) =>
      (message['params'] as Json | undefined)?.['cursor'] === '' ? null : undefined,
    ),
  },
  {
    check: 'cache/dead-cursor',
    fault: 'gives up at a dead cursor',
    breaking: (transcript) => {
      let uses = 0;
      return saying((message) => {
        if (uses > 1) return null;
        if ((message['params'] as Json | undefined)?.['cursor'] === 'dead') uses += 1;
        return undefined;
      })(transcript);
    },
  },
  {
    check: 'cache/cursors',
    fault: 'counts instead of repeating',
    breaking: paramsOf('tools/list', (params) => ('cursor' in params ? { ...params, cursor: '2' } : params)),
  },
];
