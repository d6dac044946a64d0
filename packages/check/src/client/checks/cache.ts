import { CURSOR } from '../scenarios/caches.js';
import type { View } from '../view.js';
import { absent, type ClientCheck, fail, type Opinion, outcome, pass, skip, works } from './check.js';

/** How long the client caches lists, and whether it reads all pages. */
export const CACHE: readonly ClientCheck[] = [
  stale('cache-zero', 'Requests a list again when its ttlMs is 0', 'CACHE-007'),
  stale('cache-missing', 'Requests a list again when it has no ttlMs', 'CACHE-009'),
  stale('cache-negative', 'Treats a negative ttlMs as 0', 'CACHE-009'),
  stale('cache-expired', 'Requests a list again when it has expired', 'CACHE-010'),
  {
    id: 'cache/changed',
    suite: 'cache',
    title: 'Requests a list again after list_changed, even if it has not expired',
    level: 'SHOULD',
    rules: ['CACHE-015'],
    hint: 'Drop the cached list on notifications/tools/list_changed.',
    on: ['cache-changed'],
    judge(view) {
      if (view.named('subscriptions/listen').length === 0)
        return skip('the client did not listen for changes');
      const change = view.heard.find(
        ({ message }) => message['method'] === 'notifications/tools/list_changed',
      );
      if (!change) return skip('the client did not call the tool that changes the list');
      const again = view.named('tools/list').find(({ index }) => index > change.index);
      return again
        ? pass('It requested the list again')
        : fail('The client did not request the list again', 'tools/list after the notification', change);
    },
  },
  {
    id: 'cache/no-polling',
    suite: 'cache',
    title: 'Does not request lists in the background',
    level: 'SHOULD',
    rules: ['CACHE-010', 'CACHE-011'],
    hint: 'Request a list only when it is needed. A short ttlMs does not mean that you should poll.',
    on: ['cache-expired', 'cache-zero'],
    judge(view) {
      const lists = view.named('tools/list');
      if (lists.length === 0) return skip('the client did not list the tools');
      const wanted = 2 + view.named('tools/call').length;
      return lists.length <= wanted
        ? pass(`It listed ${lists.length} times`)
        : fail(
            `The client listed the tools ${lists.length} times`,
            'One request each time the list is needed',
            lists.at(-1),
          );
    },
  },
  {
    id: 'cache/listen-params',
    suite: 'cache',
    title: 'Names the notifications that it listens for',
    level: 'MUST',
    rules: ['SUB-001'],
    hint: 'params.notifications is an object with toolsListChanged, promptsListChanged, resourcesListChanged or resourceSubscriptions.',
    on: 'all',
    judge(view) {
      const [listen] = view.named('subscriptions/listen');
      if (!listen) return skip('the client did not listen for changes');
      const wanted = listen.params['notifications'];
      const fine =
        typeof wanted === 'object' &&
        wanted !== null &&
        Object.entries(wanted).every(([key, value]) =>
          key === 'resourceSubscriptions'
            ? Array.isArray(value)
            : typeof value === 'boolean' || !key.endsWith('ListChanged'),
        );
      return fine
        ? pass(`It listens for ${Object.keys(wanted).join(', ') || 'nothing'}`)
        : fail(`notifications is ${JSON.stringify(wanted)}`, 'An object that selects notifications', listen);
    },
  },
  {
    id: 'cache/listen-ended',
    suite: 'cache',
    title: 'Ends a subscription in the way of its transport',
    level: 'MUST',
    rules: ['SUB-011'],
    hint: 'Over stdio send notifications/cancelled with the id of the listen; over HTTP close its stream.',
    on: ['cache-changed'],
    judge(view) {
      const [listen] = view.named('subscriptions/listen');
      if (!listen) return skip('the client did not listen for changes');
      const { entries, over } = view.transcript;
      const told = view
        .named('notifications/cancelled')
        .some(({ params }) => params['requestId'] === listen.id);
      const closed = entries.some(
        (entry) => entry.kind === 'hung-up' && entry.exchange === listen.entry.exchange,
      );
      // The end of the connection ends its subscriptions.
      const connectionEnded = entries.some(({ kind, life }) => kind === 'eof' && life === listen.entry.life);
      if (over === 'http')
        return closed
          ? pass('It closed the stream')
          : absent(view, 'The stream was left open', 'The client closes it', listen);
      return told || connectionEnded
        ? pass(told ? 'It sent notifications/cancelled' : 'It closed the connection')
        : absent(view, 'The subscription was not ended', 'notifications/cancelled', listen);
    },
  },
  {
    id: 'cache/pages',
    suite: 'cache',
    title: 'Reads a list to its last page',
    level: 'SHOULD',
    rules: ['PAGE-002', 'PAGE-005', 'CACHE-005'],
    hint: 'Repeat the request with nextCursor until a result has none.',
    on: ['pages'],
    judge(view, facts) {
      const lists = view.named('tools/list');
      if (lists.length === 0) return works(view, facts);
      const missing = [CURSOR, ''].find((cursor) => !lists.some(({ params }) => params['cursor'] === cursor));
      return missing === undefined
        ? pass('It requested all three pages')
        : fail(
            `The page with the cursor ${JSON.stringify(missing)} was not requested`,
            'Three pages',
            lists.at(-1),
          );
    },
  },
  {
    id: 'cache/empty-cursor',
    suite: 'cache',
    title: 'Treats an empty cursor as a cursor, not as the end of the list',
    level: 'MUST',
    rules: ['PAGE-004'],
    hint: 'Continue while nextCursor is present. "" is a cursor; only a missing nextCursor is the end.',
    on: ['pages'],
    judge(view) {
      const lists = view.named('tools/list');
      const second = lists.find(({ params, era }) => params['cursor'] === CURSOR && era === 'modern');
      if (!second) return skip('the client did not request the second page in the modern era');
      return lists.some(({ params }) => params['cursor'] === '')
        ? pass('It requested the page with the empty cursor')
        : fail('The client stopped at an empty cursor', 'tools/list with cursor ""', second);
    },
  },
  {
    id: 'cache/dead-cursor',
    suite: 'cache',
    title: 'Lists from the start when the cursor of a cached page is no longer valid',
    level: 'SHOULD',
    rules: ['CACHE-018'],
    hint: 'On -32602 for a cursor: drop all cached pages, and list once more without a cursor.',
    on: ['dead-cursor'],
    judge(view) {
      const lists = view.named('tools/list');
      const dead = lists.filter(({ params }) => params['cursor'] === 'dead')[1];
      if (!dead) return skip('the client did not use the cursor of a cached page');
      const again = lists.find(({ index, params }) => index > dead.index && params['cursor'] === undefined);
      return again
        ? pass('It listed again without a cursor')
        : fail(`The client did not list again, and ${outcome(view)}`, 'tools/list without a cursor', dead);
    },
  },
  {
    id: 'cache/cursors',
    suite: 'cache',
    title: 'Sends cursors back unchanged',
    level: 'MUST',
    rules: ['PAGE-003'],
    hint: 'A cursor is opaque. Do not trim, decode or count it.',
    on: ['pages'],
    judge(view) {
      const paged = view.named('tools/list').filter(({ params }) => params['cursor'] !== undefined);
      if (paged.length === 0) return skip('the client requested only the first page');
      const odd = paged.find(({ params }) => params['cursor'] !== CURSOR && params['cursor'] !== '');
      return odd
        ? fail(`The cursor came back as ${JSON.stringify(odd.params['cursor'])}`, JSON.stringify(CURSOR), odd)
        : pass(`${paged.length} cursors came back`);
    },
  },
];

function stale(scenario: string, title: string, rule: string): ClientCheck {
  return {
    id: `cache/${scenario.replace('cache-', '')}`,
    suite: 'cache',
    title,
    level: 'SHOULD',
    rules: [rule],
    hint: 'A list is fresh for ttlMs after it arrived. Without ttlMs it is never fresh.',
    on: [scenario],
    judge: askedTwice,
  };
}

/** Only a client that does the steps, which list twice, can be judged. */
function askedTwice(view: View): Opinion {
  const lists = view.named('tools/list');
  if (lists.length === 0) return skip('the client did not list the tools');
  if (lists.length > 1) return pass(`It listed ${lists.length} times`);
  if (DOES_STEPS.test(view.transcript.end.stderr)) {
    return fail('The client listed once, and took the second list from its cache', AGAIN, lists[0]);
  }
  return view.succeeded
    ? skip(
        'the client listed once; a client that does the steps of MCP_STEPS prints "mcp-steps: done" on stderr (isthmus docs check-client)',
      )
    : fail(`The client listed once and ${outcome(view)}`, AGAIN, lists[0]);
}

const AGAIN = 'tools/list again';

/** What a client prints when it has done the steps. Without it, one list may be all that the client needed. */
const DOES_STEPS = /^mcp-steps: done$/m;
