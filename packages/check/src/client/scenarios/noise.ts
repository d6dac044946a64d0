import type { Scenario, Step } from '../model.js';
import { resultOf, type ScriptTurn } from '../scripted/script.js';
import { dual, ECHO, echoOf, type Handler, inEra, type ModernBehaviour, textResult } from './base-servers.js';

/** Servers whose messages come in unusual chunks, or together with other output. */
export const NOISE: readonly Scenario[] = [
  onPipes('noise', 'A server that prints a banner and blank lines on stdout', {
    script: { begin: (write) => write('Welcome to the server!\n\n[info] ready\n') },
    on: calling((turn) => {
      turn.raw('debug: tools/call\n\n');
      return false;
    }),
  }),
  onPipes('crlf', 'A server that ends its lines with CR LF', {
    on: calling((turn) => turn.raw(`${answerTo(turn)}\r\n`)),
  }),
  onPipes('split', 'A server whose answer comes byte by byte, also within characters', {
    on: calling((turn) => trickle(turn, Buffer.from(`${answerTo(turn, 'Grüße, 世界 ☃')}\n`))),
  }),
  onPipes('packed', 'A server that writes notifications and the answer in one chunk', {
    on: calling((turn) => turn.raw(`${UNKNOWN}\n${UNKNOWN}\n${answerTo(turn)}\n${UNKNOWN}\n`)),
  }),
  onPipes('huge', 'A server whose answer has 4 MiB', {
    on: calling((turn) => turn.raw(`${answerTo(turn, 'x'.repeat(4 * 1024 * 1024))}\n`)),
  }),
  both('unknown-notifications', 'A server that sends an unknown notification', (turn) => {
    turn.say(JSON.parse(UNKNOWN));
    turn.reply(inEra(turn, echoOf(turn)));
  }),
  both('unknown-id', 'A server that sends answers with unknown ids before the real one', (turn) => {
    turn.say(resultOf('unknown-id', inEra(turn, textResult('surprise'))));
    turn.say(resultOf(987_654, inEra(turn, textResult('surprise'))));
    turn.reply(inEra(turn, echoOf(turn)));
  }),
  onPipes('duplicate', 'A server that answers twice, with different answers', {
    on: calling((turn) => {
      turn.reply(inEra(turn, echoOf(turn)));
      turn.fail(-32603, 'A second answer');
    }),
    steps: [{ do: 'list' }, { do: 'call', name: 'echo' }, { do: 'call', name: 'echo' }],
  }),
  onPipes('wrong-id-type', 'A server that sends an error for the id in the wrong type, then the answer', {
    on: calling((turn) => {
      const other = typeof turn.id === 'number' ? String(turn.id) : `${String(turn.id)} `;
      turn.say({ jsonrpc: '2.0', id: other, error: { code: -32603, message: 'Not for you' } });
      turn.reply(inEra(turn, echoOf(turn)));
    }),
  }),
  {
    name: 'out-of-order',
    title: 'A server that answers the later of two calls first',
    over: ['stdio', 'http'],
    serves: ['modern', 'legacy'],
    steps: [
      { do: 'list' },
      {
        do: 'together',
        calls: [
          { name: 'echo', arguments: { text: 'one' } },
          { name: 'echo', arguments: { text: 'two' } },
        ],
      },
    ],
    open: reversing,
  },
  onPipes('stderr-flood', 'A server that writes 400 KB to stderr before it answers', {
    on: calling((turn) => {
      void turn
        .log('some text that is not an error...\n'.repeat(12_000))
        .then(() => turn.reply(inEra(turn, echoOf(turn))));
    }),
  }),
];

const UNKNOWN = '{"jsonrpc":"2.0","method":"notifications/example/unknown","params":{"of":"nothing"}}';

function onPipes(
  name: string,
  title: string,
  { steps, ...behaviour }: ModernBehaviour & { steps?: readonly Step[] },
): Scenario {
  return {
    name,
    title,
    over: ['stdio'],
    serves: ['modern', 'legacy'],
    ...(steps && { steps }),
    open: () => dual(behaviour),
  };
}

function both(name: string, title: string, call: Handler): Scenario {
  return { ...onPipes(name, title, { on: calling(call) }), over: ['stdio', 'http'] };
}

function calling(call: Handler): Readonly<Record<string, Handler>> {
  return { 'tools/call': call };
}

function answerTo(turn: ScriptTurn, text = 'hello'): string {
  return JSON.stringify(resultOf(turn.id, inEra(turn, textResult(text))));
}

/** Writes each byte separately, in its own turn of the event loop. */
function trickle(turn: ScriptTurn, bytes: Buffer): void {
  let at = 0;
  const next = () => {
    if (at >= bytes.length) return;
    turn.raw(bytes.subarray(at, at + 1));
    at += 1;
    setImmediate(next);
  };
  next();
}

function reversing() {
  let first: ScriptTurn | undefined;
  return dual({
    tools: [ECHO],
    on: {
      'tools/call'(turn) {
        // A client that does not call in parallel would wait forever.
        if (first === undefined && textIn(turn) === 'one') {
          first = turn;
          setTimeout(flush, 1500);
          return;
        }
        turn.reply(inEra(turn, echoOf(turn)));
        flush();
      },
    },
  });
  function flush() {
    const waiting = first;
    first = undefined;
    waiting?.reply(inEra(waiting, echoOf(waiting)));
  }
}

function textIn({ params }: ScriptTurn): unknown {
  return (params['arguments'] as { text?: unknown } | undefined)?.text;
}
