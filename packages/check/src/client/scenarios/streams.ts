import { dual, inEra } from '../behaviour/dual.js';
import { legacy } from '../behaviour/legacy.js';
import { echoOf, type Handler } from '../behaviour/modern.js';
import { ECHO, SLOW, textResult } from '../behaviour/tools.js';
import type { Scenario } from '../model.js';
import { resultOf, type ScriptTurn } from '../scripted/script-turn.js';

/** Servers whose answers come as events, or do not come at all. */
export const STREAMS: readonly Scenario[] = [
  overHttp('sse-answer', 'A server that answers calls with an event stream', (turn) => {
    turn.say({ jsonrpc: '2.0', method: 'notifications/example/unknown' });
    turn.reply(inEra(turn, echoOf(turn)));
  }),
  overHttp('sse-odd', 'A server whose event stream has comments, odd fields and pieces', (turn) => {
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
    ...overHttp('stream-cut', 'A server whose event stream breaks before the answer', (turn) => {
      turn.raw(': working\n\n');
      setTimeout(() => turn.cut(), 50);
    }),
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
    title: 'A server that dies of the call',
    over: ['stdio'],
    serves: [],
    open: () => dual({ on: { 'tools/call': (turn) => turn.cut() } }),
  },
  {
    name: 'crash-and-go-on',
    title: 'A server that dies of one call, and would answer the next when it is started again',
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
          // Who calls one after the other gets a batch of one.
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
