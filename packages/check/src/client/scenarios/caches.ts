import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Scenario, Step } from '../model.js';
import type { ScriptTurn } from '../scripted/script.js';
import {
  cacheable,
  complete,
  dual,
  ECHO,
  type Handler,
  inEra,
  isModern,
  legacy,
  modern,
  textResult,
} from './base-servers.js';

const TWICE: readonly Step[] = [{ do: 'list' }, { do: 'list' }, { do: 'call', name: 'echo' }];

/** Servers whose lists have a ttlMs, or pages. */
export const CACHES: readonly Scenario[] = [
  listing('cache-zero', 'A modern server whose list is never fresh (ttlMs 0)', TWICE, { ttlMs: 0 }),
  {
    name: 'cache-missing',
    title: 'A legacy server, whose list has no ttlMs',
    over: ['stdio', 'http'],
    serves: ['legacy'],
    steps: TWICE,
    open: () => legacy(),
  },
  listing('cache-negative', 'A modern server whose list has a negative ttlMs (-1)', TWICE, {
    ttlMs: -1,
  }),
  listing(
    'cache-expired',
    'A modern server whose list is fresh for 100 ms',
    [{ do: 'list' }, { do: 'wait', ms: 300 }, { do: 'list' }, { do: 'call', name: 'echo' }],
    { ttlMs: 100 },
  ),
  {
    name: 'cache-changed',
    title: 'A modern server whose list is fresh for a minute, but changes earlier',
    over: ['stdio', 'http'],
    serves: ['modern'],
    steps: [
      { do: 'listen' },
      { do: 'list' },
      { do: 'call', name: 'echo' },
      { do: 'wait', ms: 300 },
      { do: 'list' },
    ],
    open: changing,
  },
  {
    name: 'pages',
    title: 'A server of both eras that lists its tools on three pages, one with an empty cursor',
    over: ['stdio', 'http'],
    serves: ['modern', 'legacy'],
    steps: [{ do: 'list' }, { do: 'call', name: 'echo' }],
    open: () => dual({ on: { 'tools/list': page } }),
  },
  {
    name: 'dead-cursor',
    title: 'A modern server whose first page is fresh for a minute, but whose cursor works only once',
    over: ['stdio', 'http'],
    serves: ['modern'],
    steps: TWICE,
    open: dying,
  },
];

function listing(name: string, title: string, steps: readonly Step[], life: JsonObject): Scenario {
  const list: Handler = (turn) => {
    const { ttlMs: _, ...rest } = cacheable({ tools: [ECHO] });
    turn.reply({ ...rest, ...life });
  };
  return {
    name,
    title,
    over: ['stdio', 'http'],
    serves: ['modern'],
    steps,
    open: () => modern({ on: { 'tools/list': list } }),
  };
}

function changing() {
  let listen: ScriptTurn | undefined;
  return modern({
    on: {
      'subscriptions/listen'(turn) {
        listen = turn;
        return false;
      },
      'tools/list': (turn) => turn.reply({ ...cacheable({ tools: [ECHO] }, 60_000), cacheScope: 'public' }),
      'tools/call'(turn) {
        listen?.say({
          jsonrpc: '2.0',
          method: 'notifications/tools/list_changed',
          params: { _meta: { [META.subscriptionId]: listen.id } },
        });
        turn.reply(complete(textResult('it changed')));
      },
    },
  });
}

/** The cursor of the second page looks like base64. The cursor of the third page is empty. */
export const CURSOR = 'eyJvZmZzZXQiOjF9 +/=';

const PAGES: ReadonlyMap<unknown, { readonly tool: string; readonly next?: string }> = new Map([
  [undefined, { tool: 'first', next: CURSOR }],
  [CURSOR, { tool: 'second', next: '' }],
  ['', { tool: 'echo' }],
]);

function page(turn: ScriptTurn): void | false {
  // A legacy request needs a session.
  if (turn.over === 'http' && !isModern(turn) && turn.headers['mcp-session-id'] === undefined) return false;
  const found = PAGES.get(turn.params['cursor']);
  if (!found) return turn.fail(-32602, 'Unknown cursor');
  const tools = {
    tools: [{ ...ECHO, name: found.tool }],
    ...(found.next !== undefined && { nextCursor: found.next }),
  };
  turn.reply(isModern(turn) ? cacheable(tools) : inEra(turn, tools));
}

/** The cursor of the cached first page is no longer valid the second time. A new first page has another cursor. */
function dying() {
  let used = false;
  return modern({
    on: {
      'tools/list'(turn) {
        const { cursor } = turn.params;
        if (cursor === undefined) {
          const page = { tools: [ECHO], nextCursor: used ? 'alive' : 'dead' };
          return turn.reply({ ...cacheable(page, 60_000), cacheScope: 'public' });
        }
        if (cursor === 'dead' && used) return turn.fail(-32602, 'This cursor is no longer valid');
        used = true;
        turn.reply({ ...cacheable({ tools: [{ ...ECHO, name: 'second' }] }), cacheScope: 'public' });
      },
    },
  });
}
