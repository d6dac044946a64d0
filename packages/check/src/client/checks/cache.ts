import { CURSOR } from '../scenarios/caches.js';
import type { View } from '../view.js';
import { absent, type ClientCheck, fail, type Opinion, outcome, pass, skip, works } from './check.js';

/** How long the client believes what it was told, and whether it reads to the end. */
export const CACHE: readonly ClientCheck[] = [
  stale('cache-zero', 'Asks again for a list that is stale at once', 'CACHE-007'),
  stale('cache-missing', 'Takes a list that does not say how long it lives for stale', 'CACHE-009'),
  stale('cache-negative', 'Takes a negative ttlMs for 0', 'CACHE-009'),
  stale('cache-expired', 'Asks again for a list that has expired', 'CACHE-010'),
  {
    id: 'cache/changed',
    suite: 'cache',
    title: 'Asks again for a list that was told to have changed, though it would live on',
    level: 'SHOULD',
    rules: ['CACHE-015'],
    hint: 'notifications/tools/list_changed on a listen stream drops the cached list.',
    on: ['cache-changed'],
    judge(view) {
      if (view.named('subscriptions/listen').length === 0)
        return skip('the client did not listen for changes');
      const change = view.heard.find(
        ({ message }) => message['method'] === 'notifications/tools/list_changed',
      );
      if (!change) return skip('the client did not get to call the tool that changes the list');
      const again = view.named('tools/list').find(({ index }) => index > change.index);
      return again
        ? pass('It asked again')
        : fail('The client did not ask again', 'tools/list after the notification', change);
    },
  },
  {
    id: 'cache/no-polling',
    suite: 'cache',
    title: 'Does not ask for lists in the background',
    level: 'SHOULD',
    rules: ['CACHE-010', 'CACHE-011'],
    hint: 'Ask when somebody needs the list; a short ttlMs is no order to poll.',
    on: ['cache-expired', 'cache-zero'],
    judge(view) {
      const lists = view.named('tools/list');
      if (lists.length === 0) return skip('the client did not list the tools');
      const wanted = 2 + view.named('tools/call').length;
      return lists.length <= wanted
        ? pass(`It listed ${lists.length} times`)
        : fail(
            `The client listed the tools ${lists.length} times`,
            'Once for each time it is needed',
            lists.at(-1),
          );
    },
  },
  {
    id: 'cache/listen-params',
    suite: 'cache',
    title: 'Says what it listens for',
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
        : fail(`notifications is ${JSON.stringify(wanted)}`, 'A filter', listen);
    },
  },
  {
    id: 'cache/listen-ended',
    suite: 'cache',
    title: 'Ends a subscription as its transport wants it',
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
      // The end of the whole connection ends what is on it.
      const connectionEnded = entries.some(({ kind, life }) => kind === 'eof' && life === listen.entry.life);
      if (over === 'http')
        return closed
          ? pass('It closed the stream')
          : absent(view, 'The stream was left open', 'It is closed', listen);
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
    hint: 'Ask again with nextCursor until there is none.',
    on: ['pages'],
    judge(view, facts) {
      const lists = view.named('tools/list');
      if (lists.length === 0) return works(view, facts);
      const missing = [CURSOR, ''].find((cursor) => !lists.some(({ params }) => params['cursor'] === cursor));
      return missing === undefined
        ? pass('It asked for all three pages')
        : fail(
            `The page of the cursor ${JSON.stringify(missing)} was not asked for`,
            'Three pages',
            lists.at(-1),
          );
    },
  },
  {
    id: 'cache/empty-cursor',
    suite: 'cache',
    title: 'Takes an empty cursor for a cursor, not for the end of the list',
    level: 'MUST',
    rules: ['PAGE-004'],
    hint: 'Go on while nextCursor is there; "" is a cursor, only its absence is the end.',
    on: ['pages'],
    judge(view) {
      const lists = view.named('tools/list');
      const second = lists.find(({ params, era }) => params['cursor'] === CURSOR && era === 'modern');
      if (!second) return skip('the client did not ask for the second page in the modern era');
      return lists.some(({ params }) => params['cursor'] === '')
        ? pass('It asked for the page of the empty cursor')
        : fail('The client stopped at an empty cursor', 'tools/list with cursor ""', second);
    },
  },
  {
    id: 'cache/dead-cursor',
    suite: 'cache',
    title: 'Lists from the start when the cursor of a remembered page has died',
    level: 'SHOULD',
    rules: ['CACHE-018'],
    hint: 'On -32602 for a cursor: forget all pages, and ask once more without one.',
    on: ['dead-cursor'],
    judge(view) {
      const lists = view.named('tools/list');
      const dead = lists.filter(({ params }) => params['cursor'] === 'dead')[1];
      if (!dead) return skip('the client did not come back with the cursor of a page that it remembered');
      const again = lists.find(({ index, params }) => index > dead.index && params['cursor'] === undefined);
      return again
        ? pass('It asked again without a cursor')
        : fail(`The client did not ask again, and ${outcome(view)}`, 'tools/list without a cursor', dead);
    },
  },
  {
    id: 'cache/cursors',
    suite: 'cache',
    title: 'Gives cursors back as they were',
    level: 'MUST',
    rules: ['PAGE-003'],
    hint: 'A cursor is opaque: no trimming, decoding or counting.',
    on: ['pages'],
    judge(view) {
      const paged = view.named('tools/list').filter(({ params }) => params['cursor'] !== undefined);
      if (paged.length === 0) return skip('the client asked for the first page only');
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
    hint: 'A list is fresh for ttlMs from when it came, and not at all without it.',
    on: [scenario],
    judge: askedTwice,
  };
}

/** Only who was told to list twice, and did something in between, can be judged by it. */
function askedTwice(view: View): Opinion {
  const lists = view.named('tools/list');
  if (lists.length === 0) return skip('the client did not list the tools');
  if (lists.length > 1) return pass(`It asked ${lists.length} times`);
  if (DOES_STEPS.test(view.transcript.end.stderr)) {
    return fail('The client asked once, and took the second list from its memory', AGAIN, lists[0]);
  }
  return view.succeeded
    ? skip('the client listed once; who does the steps of MCP_STEPS says so on stderr (docs/check-client.md)')
    : fail(`The client listed once and ${outcome(view)}`, AGAIN, lists[0]);
}

const AGAIN = 'tools/list again';

/** How a client says that it does the steps: without that, one list may be all that it wanted. */
const DOES_STEPS = /^mcp-steps: done$/m;
