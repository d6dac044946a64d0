import type { Scenario, Step } from '../model.js';
import { resultOf, type ScriptTurn } from '../scripted/script.js';
import { dual, ECHO, echoOf, type Handler, inEra, type ModernBehaviour, textResult } from './base-servers.js';

/** Servers over pipes whose words come in odd pieces, or with others. */
export const NOISE: readonly Scenario[] = [
  onPipes('noise', 'A server that greets on stdout, and leaves blank lines', {
    script: { begin: (write) => write('Welcome to the server!\n\n[info] ready\n') },
    on: calling((turn) => {
      turn.raw('debug: somebody calls\n\n');
      return false;
    }),
  }),
  onPipes('crlf', 'A server that ends its lines as Windows does', {
    on: calling((turn) => turn.raw(`${answerTo(turn)}\r\n`)),
  }),
  onPipes('split', 'A server whose answer comes byte by byte, cut within characters', {
    on: calling((turn) => trickle(turn, Buffer.from(`${answerTo(turn, 'Grüße, 世界 ☃')}\n`))),
  }),
  onPipes('packed', 'A server that writes notifications and the answer at once', {
    on: calling((turn) => turn.raw(`${UNKNOWN}\n${UNKNOWN}\n${answerTo(turn)}\n${UNKNOWN}\n`)),
  }),
  onPipes('huge', 'A server whose answer has 4 MiB', {
    on: calling((turn) => turn.raw(`${answerTo(turn, 'x'.repeat(4 * 1024 * 1024))}\n`)),
  }),
  both('unknown-notifications', 'A server that tells of what nobody knows', (turn) => {
    turn.say(JSON.parse(UNKNOWN));
    turn.reply(inEra(turn, echoOf(turn)));
  }),
  both('unknown-id', 'A server that answers what nobody asked, before it answers', (turn) => {
    turn.say(resultOf('nobody-asked-this', inEra(turn, textResult('surprise'))));
    turn.say(resultOf(987_654, inEra(turn, textResult('surprise'))));
    turn.reply(inEra(turn, echoOf(turn)));
  }),
  onPipes('duplicate', 'A server that answers twice, and differently', {
    on: calling((turn) => {
      turn.reply(inEra(turn, echoOf(turn)));
      turn.fail(-32603, 'On second thought, no');
    }),
    steps: [{ do: 'list' }, { do: 'call', name: 'echo' }, { do: 'call', name: 'echo' }],
  }),
  onPipes(
    'wrong-id-type',
    'A server that answers an id of the wrong type with an error, then the right one',
    {
      on: calling((turn) => {
        const other = typeof turn.id === 'number' ? String(turn.id) : `${String(turn.id)} `;
        turn.say({ jsonrpc: '2.0', id: other, error: { code: -32603, message: 'Not for you' } });
        turn.reply(inEra(turn, echoOf(turn)));
      }),
    },
  ),
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
        .log('a lot to say, and no error at all\n'.repeat(12_000))
        .then(() => turn.reply(inEra(turn, echoOf(turn))));
    }),
  }),
];

const UNKNOWN = '{"jsonrpc":"2.0","method":"notifications/example/unknown","params":{"of":"nothing"}}';

function onPipes(
  name: string,
  title: string,
  { steps, ...manners }: ModernBehaviour & { steps?: readonly Step[] },
): Scenario {
  return {
    name,
    title,
    over: ['stdio'],
    serves: ['modern', 'legacy'],
    ...(steps && { steps }),
    open: () => dual(manners),
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

/** Each byte is a write of its own, in a turn of its own. */
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
        // A client that does not call both at once would wait for ever.
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
