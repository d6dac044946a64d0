import { LATEST_MODERN } from '@isthmus/sdk/internal/era/revisions.js';
import type { Scenario } from '../model.js';
import type { ScriptTurn } from '../scripted/script.js';
import { type Handler, legacy, modern } from './base-servers.js';

/** How servers answer `server/discover`: legacy servers in many ways, modern servers with modern errors. */
export const PROBES: readonly Scenario[] = [
  onStdio('probe-silence', 'A legacy server that does not answer unknown methods', () => {}),
  onStdio('probe-dies', 'A legacy server that exits on an unknown method', (turn) => turn.cut()),
  ...([-32601, -32602, -32600, -32603, -32000] as const).map((code) =>
    onStdio(`probe${code}`, `A legacy server that answers the probe with ${code}`, (turn) =>
      turn.fail(code, 'No'),
    ),
  ),
  onStdio('probe-null-id', 'A legacy server that answers the probe with an error whose id is null', (turn) =>
    turn.raw('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}\n'),
  ),
  onStdio('probe-garbage', 'A legacy server that answers the probe with plain text', (turn) =>
    turn.raw('error: unknown command\n'),
  ),
  {
    name: 'probe-late',
    title: 'A legacy server that answers the probe after the handshake',
    over: ['stdio'],
    serves: ['legacy'],
    open() {
      let probe: ScriptTurn | undefined;
      return legacy({
        on: {
          'server/discover'(turn) {
            probe = turn;
          },
          'tools/list'() {
            probe?.fail(-32601, 'Method not found');
            return false;
          },
        },
      });
    },
  },
  onHttp(
    'http-400-empty',
    'A legacy server that answers everything before the handshake with 400 and no body',
    (turn) => turn.status(400),
  ),
  onHttp(
    'http-400-page',
    'A legacy server behind a proxy that answers the probe with 400 and an HTML page',
    (turn) => turn.status(400, '<h1>Bad Request</h1>', { 'content-type': 'text/html' }),
  ),
  onHttp('http-200-error', 'A legacy server that answers the probe with -32601 and 200', (turn) =>
    turn.fail(-32601, 'Method not found'),
  ),
  once('modern-32022', 'A modern server that refuses the first request with -32022', (turn) =>
    turn.fail(-32022, 'Unsupported protocol version', { supported: [LATEST_MODERN], requested: 'x' }, 400),
  ),
  once('modern-32021', 'A modern server that refuses the first request with -32021', (turn) =>
    turn.fail(
      -32021,
      'Missing required client capability',
      { requiredCapabilities: { elicitation: {} } },
      400,
    ),
  ),
  {
    ...once('modern-32020', 'A modern server that refuses the first request with -32020', (turn) =>
      turn.fail(-32020, 'Header mismatch', undefined, 400),
    ),
    over: ['http'],
  },
  {
    name: 'no-common-version',
    title: 'A modern server that refuses every version with -32022',
    over: ['stdio', 'http'],
    serves: [],
    open() {
      const refuse: Handler = (turn) =>
        turn.fail(-32022, 'Unsupported protocol version', { supported: ['2099-01-01'], requested: 'x' }, 400);
      return modern({ on: { 'server/discover': refuse, 'tools/list': refuse, 'tools/call': refuse } });
    },
  },
  ...([401, 429, 503] as const).map(
    (status): Scenario => ({
      name: `http-${status}`,
      title: `A server that answers everything with ${status}`,
      over: ['http'],
      serves: [],
      open: () => ({
        receive: (turn) => turn.status(status, '', status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      }),
    }),
  ),
];

/** A legacy server with a special answer to the probe. */
function onStdio(name: string, title: string, probed: Handler): Scenario {
  return {
    name,
    title,
    over: ['stdio'],
    serves: ['legacy'],
    open: () => legacy({ on: { 'server/discover': probed } }),
  };
}

function onHttp(name: string, title: string, probed: Handler): Scenario {
  const refuses: Handler = (turn) => (turn.headers['mcp-session-id'] === undefined ? probed(turn) : false);
  return {
    name,
    title,
    over: ['http'],
    serves: ['legacy'],
    open: () => legacy({ on: { 'server/discover': refuses, 'tools/list': refuses, 'tools/call': refuses } }),
  };
}

/**
 * A modern server that refuses one request and accepts the next. Over stdio it refuses only the probe: a client that probes
 * one process and works with another has got the refusal.
 */
function once(name: string, title: string, refuse: Handler): Scenario {
  return {
    name,
    title,
    over: ['stdio', 'http'],
    serves: ['modern'],
    open(over) {
      let refused = false;
      const first: Handler = (turn) => {
        if (refused || turn.method === 'initialize') return false;
        refused = true;
        return refuse(turn);
      };
      const later = over === 'http' && { 'tools/list': first, 'tools/call': first };
      return modern({ on: { 'server/discover': first, ...later } });
    },
  };
}
