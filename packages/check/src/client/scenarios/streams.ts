import type { Scenario, Script } from '../model.js';
import { resultOf, type ScriptTurn } from '../scripted/script.js';
import {
  createSession,
  dual,
  ECHO,
  echoOf,
  type Handler,
  inEra,
  legacy,
  SLOW,
  textResult,
} from './base-servers.js';

/** Legacy servers over HTTP whose sessions and streams end. */
export const SESSIONS: readonly Scenario[] = [
  {
    name: 'session-lost',
    title: 'A legacy server that forgets its session after the tools were listed',
    over: ['http'],
    serves: ['legacy'],
    open: forgetful,
  },
  {
    name: 'stream-resumed',
    title: 'A legacy server that ends the stream of a response before the answer, for the client to resume',
    over: ['http'],
    serves: ['legacy'],
    open: polling,
  },
];

function forgetful(): Script {
  const session = createSession();
  let forgot = false;
  return legacy({
    session,
    on: {
      'tools/call'() {
        if (!forgot) session.id = undefined;
        forgot = true;
        return false;
      },
    },
  });
}

/** The time in `retry`. */
export const RETRY_MS = 400;
export const EVENT_ID = 'stream-1/event-0';

/** Polling of 2025-11-25: an event with an id, the end of the stream, and the answer on a GET. */
function polling(): Script {
  const session = createSession();
  let waiting: ScriptTurn | undefined;
  return legacy({
    session,
    on: {
      'tools/call'(turn) {
        if (turn.headers['mcp-session-id'] !== session.id) return false;
        waiting = turn;
        turn.raw(`id: ${EVENT_ID}\nretry: ${RETRY_MS}\ndata: \n\n`);
        turn.end();
      },
    },
    script: {
      visit(visit) {
        if (visit.method !== 'GET' || visit.headers['last-event-id'] === undefined || !waiting) return false;
        visit.stream();
        visit.event(JSON.stringify(resultOf(waiting.id, echoOf(waiting))), { id: 'stream-1/event-1' });
        visit.end();
        return true;
      },
    },
  });
}

/** Servers whose answers come as events, or not at all. */
export const STREAMS: readonly Scenario[] = [
  overHttp('sse-answer', 'A server that answers calls with an event stream', (turn) => {
    turn.say({ jsonrpc: '2.0', method: 'notifications/example/unknown' });
    turn.reply(inEra(turn, echoOf(turn)));
  }),
  overHttp('sse-odd', 'A server whose event stream has comments, unknown fields and small chunks', (turn) => {
    const text = JSON.stringify(resultOf(turn.id, inEra(turn, textResult('Grüße ☃'))));
    const bytes = Buffer.from(
      `: keep-alive\n\n:\n\nretry: 10\n\nfoo: bar\n\nevent:message\r\ndata:${text}\r\n\r\n`,
    );
    inPieces(turn, bytes);
  }),
  overHttp('sse-two-lines', 'A server whose event has its data on two lines', (turn) => {
    const text = JSON.stringify(resultOf(turn.id, inEra(turn, echoOf(turn))));
    const at = text.indexOf(',') + 1;
    turn.raw(`data: ${text.slice(0, at)}\ndata: ${text.slice(at)}\n\n`);
    turn.end();
  }),
  {
    ...overHttp(
      'stream-cut',
      'A server that cuts the connection of an event stream before the answer',
      (turn) => {
        turn.raw(': working\n\n');
        setTimeout(() => turn.cut(), 50);
      },
    ),
    serves: [],
  },
  {
    ...overHttp('stream-ended', 'A server whose event stream ends without the answer', (turn) => {
      turn.raw(': working\n\n');
      setTimeout(() => turn.end(), 50);
    }),
    serves: [],
  },
  {
    name: 'crash',
    title: 'A server that exits during the call',
    over: ['stdio'],
    serves: [],
    open: () => dual({ on: { 'tools/call': (turn) => turn.cut() } }),
  },
  {
    name: 'crash-and-go-on',
    title: 'A server that exits during one call, and answers the next one after a restart',
    over: ['stdio'],
    serves: ['modern', 'legacy'],
    steps: [
      { do: 'listen' },
      { do: 'list' },
      { do: 'cancel', name: 'slow', afterMs: 3000 },
      { do: 'call', name: 'echo' },
      { do: 'wait', ms: 200 },
    ],
    open: () =>
      dual({
        tools: [ECHO, SLOW],
        on: { 'tools/call': (turn) => (turn.params['name'] === 'slow' ? turn.cut() : false) },
      }),
  },
  {
    name: 'batch-answer',
    title: 'A server of 2025-03-26 that answers two calls with a batch',
    over: ['stdio'],
    serves: ['legacy'],
    steps: [{ do: 'list' }, { do: 'together', calls: [{ name: 'echo' }, { name: 'echo' }] }],
    open: batching,
  },
];

function overHttp(name: string, title: string, call: Handler): Scenario {
  return {
    name,
    title,
    over: ['http'],
    serves: ['modern', 'legacy'],
    open: () => dual({ on: { 'tools/call': call } }),
  };
}

function inPieces(turn: ScriptTurn, bytes: Buffer): void {
  let at = 0;
  const next = () => {
    if (at >= bytes.length) return turn.end();
    turn.raw(bytes.subarray(at, at + 7));
    at += 7;
    setImmediate(next);
  };
  next();
}

function batching() {
  let first: ScriptTurn | undefined;
  return legacy({
    revision: '2025-03-26',
    on: {
      'tools/call'(turn) {
        if (!first) {
          first = turn;
          // A client that does not call in parallel gets a batch of one.
          setTimeout(() => flush([]), 1500);
          return;
        }
        flush([turn]);
      },
    },
  });
  function flush(more: readonly ScriptTurn[]) {
    if (!first) return;
    const turns = [first, ...more];
    first = undefined;
    const answers = turns.map((each) => resultOf(each.id, echoOf(each)));
    turns[0]?.raw(`${JSON.stringify(answers)}\n`);
  }
}

/** How long the server `slow-exit` takes to exit after the end of its input. */
export const LEAVES_MS = 500;

/** Servers that do not exit at once. */
export const ENDS: readonly Scenario[] = [
  {
    name: 'slow-exit',
    title: 'A server that takes half a second to exit',
    over: ['stdio'],
    serves: ['modern', 'legacy'],
    open: () => dual({ script: { atEnd: { afterMs: LEAVES_MS } } }),
  },
  {
    name: 'stubborn',
    title: 'A server that exits neither at the end of its input nor on SIGTERM',
    over: ['stdio'],
    serves: ['modern', 'legacy'],
    open: () => dual({ script: { atEnd: 'stays' } }),
  },
];
