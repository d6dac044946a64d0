import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { changing, changingResult } from '../../support/suites/altered.js';
import { inPages } from '../../support/suites/in-pages.js';
import type { AnyMutant } from '../../support/suites/mutant.js';

const MODERN = { eras: ['modern'] } as const;
const LEGACY = { eras: ['legacy'] } as const;

export const pageMutants: readonly AnyMutant[] = [
  {
    check: 'pages/bad-cursor',
    fault: 'begins at the beginning when it does not know a cursor',
    seen: /tools\/list with a made-up cursor was answered with a result/,
    options: LEGACY,
    middle: inPages({ pageOf: () => 0 }),
  },
  {
    check: 'pages/end',
    fault: 'has a list that never ends',
    seen: /does not end/,
    options: MODERN,
    middle: inPages({ next: (page, isLast) => `page ${isLast ? 1 : page + 1}` }),
  },
  {
    check: 'pages/disjoint',
    fault: 'begins each page with the last item of the one before',
    seen: /is on two pages/,
    options: LEGACY,
    middle: inPages({ items: (all, page) => all.slice(Math.max(0, page * 5 - 1), page * 5 + 5) }),
  },
  {
    check: 'pages/cursor-stable',
    fault: 'uses its cursors up',
    seen: /used again/,
    options: MODERN,
    middle: () => {
      const unused = new Map<string, number>();
      return inPages({
        next(page, isLast) {
          if (isLast) return undefined;
          const cursor = `ticket ${unused.size}, for page ${page + 1}`;
          unused.set(cursor, page + 1);
          return cursor;
        },
        pageOf(cursor) {
          const page = unused.get(cursor) ?? Number.NaN;
          unused.set(cursor, Number.NaN);
          return page;
        },
      })();
    },
  },
  {
    check: 'pages/cursor-stable',
    fault: 'ignores the cursor and returns the next page',
    seen: /another page/,
    options: MODERN,
    middle: () => {
      let turn = 0;
      return inPages({
        items: (all, page) => (page === 1 ? [{ ...all[5]!, title: `${++turn}` }] : [all[page]!]),
      })();
    },
  },
  {
    check: 'pages/cursor-anywhere',
    fault: 'keeps its cursors in the connection',
    seen: /on another connection/,
    options: MODERN,
    middle: () => {
      const given = new Set<string>();
      return inPages({
        next(page, isLast) {
          if (isLast) return undefined;
          given.add(`page ${page + 1}`);
          return `page ${page + 1}`;
        },
        pageOf: (cursor) => (given.has(cursor) ? Number(cursor.slice(5)) : Number.NaN),
      })();
    },
  },
  {
    check: 'pages/unique',
    fault: 'lists a prompt twice',
    seen: /the prompt \w+ is listed twice/,
    options: LEGACY,
    middle: changingResult('prompts/list', (result) => {
      const prompts = result['prompts'] as JsonObject[];
      return { ...result, prompts: [...prompts, prompts[0]] };
    }),
  },
];

const asking = { resultType: 'input_required', requestState: 'x', ttlMs: 1000 };

export const cacheMutants: readonly AnyMutant[] = [
  {
    check: 'cache/lifetime',
    fault: 'does not say how long a resource stays fresh',
    seen: /resources\/read .*ttlMs is absent/,
    options: MODERN,
    middle: changingResult('resources/read', ({ ttlMs: _, ...rest }) => rest),
  },
  {
    check: 'cache/lifetime',
    fault: 'has a fraction as ttlMs',
    seen: /ttlMs is 0\.5/,
    options: MODERN,
    middle: changingResult('tools/list', (result) => ({ ...result, ttlMs: 0.5 })),
  },
  {
    check: 'cache/scope',
    fault: 'has an invalid cacheScope',
    seen: /cacheScope is "shared"/,
    options: MODERN,
    middle: changingResult('prompts/list', (result) => ({ ...result, cacheScope: 'shared' })),
  },
  {
    check: 'cache/not-interim',
    fault: 'lets questions be cached',
    seen: /has ttlMs/,
    options: MODERN,
    middle: changing((answer, { method }) =>
      method === 'resources/read' ? { ...answer, result: asking } : undefined,
    ),
  },
  {
    check: 'cache/one-scope',
    fault: 'has a private page in a public list',
    seen: /public and private/,
    options: MODERN,
    middle: inPages({
      change: (result, page) => ({ ...result, cacheScope: page === 1 ? 'private' : 'public' }),
    }),
  },
];
