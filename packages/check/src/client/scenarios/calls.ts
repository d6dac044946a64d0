import type { Scenario, Step } from '../model.js';
import type { ScriptTurn } from '../scripted/script.js';
import {
  cacheable,
  complete,
  dual,
  ECHO,
  echoOf,
  inEra,
  isModern,
  legacy,
  type ModernBehaviour,
  modern,
  SLOW,
  textResult,
} from './base-servers.js';

const BOTH = ['stdio', 'http'] as const;

/** Servers with unusual or broken results. */
export const RESULTS: readonly Scenario[] = [
  {
    name: 'result-unknown-type',
    title: 'A modern server whose result has an unknown type',
    over: BOTH,
    serves: [],
    open: () =>
      modern({
        on: { 'tools/call': (turn) => turn.reply({ ...complete(textResult('x')), resultType: 'tomorrow' }) },
      }),
  },
  {
    name: 'list-input-required',
    title: 'A modern server that answers tools/list with input_required, which is not allowed',
    over: BOTH,
    serves: [],
    open: () =>
      modern({
        on: {
          'tools/list': (turn) =>
            turn.reply({ ...cacheable({}), resultType: 'input_required', requestState: 'no' }),
        },
      }),
  },
  {
    name: 'call-error',
    title: 'A server of both eras that answers the call with -32603',
    over: BOTH,
    serves: [],
    open: () => dual({ on: { 'tools/call': (turn) => turn.fail(-32603, 'It broke') } }),
  },
  {
    name: 'call-nonsense',
    title: 'A server of both eras whose result is a number',
    over: BOTH,
    serves: [],
    open: () => dual({ on: { 'tools/call': (turn) => turn.reply(42 as never) } }),
  },
  {
    name: 'output-mismatch',
    title: 'A server of both eras whose structured result does not fit its own schema',
    over: BOTH,
    serves: [],
    open: () =>
      dual({
        tools: [{ ...ECHO, outputSchema: COUNTED }],
        on: {
          'tools/call': (turn) =>
            turn.reply(inEra(turn, { ...textResult('many'), structuredContent: { count: 'many' } })),
        },
      }),
  },
  {
    name: 'schema-ref',
    title: 'A server of both eras whose schema refers to a URL',
    over: ['http'],
    serves: ['modern', 'legacy'],
    open: () =>
      dual({
        on: {
          'tools/list'(turn) {
            if (!isModern(turn) && turn.headers['mcp-session-id'] === undefined) return false;
            const $ref = `http://${turn.headers['host'] ?? ''}${SCHEMA_PATH}`;
            const inputSchema = { type: 'object', properties: { text: { $ref } } };
            const tools = { tools: [{ ...ECHO, inputSchema }] };
            turn.reply(isModern(turn) ? cacheable(tools) : tools);
          },
        },
      }),
  },
];

const COUNTED = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] };

/** No client should request it. */
export const SCHEMA_PATH = '/schema.json';

const STEPS: readonly Step[] = [
  { do: 'list' },
  { do: 'cancel', name: 'slow', afterMs: 300 },
  { do: 'call', name: 'echo' },
];

/** Servers with a slow tool whose call is cancelled. Where possible it answers after that. */
export const CANCELS: readonly Scenario[] = [
  cancelling('cancel-modern', 'A modern server with a slow tool', ['modern'], modern),
  cancelling('cancel-legacy', 'A legacy server with a slow tool', ['legacy'], legacy),
  {
    ...cancelling(
      'cancel-late',
      'A server whose answer comes after the cancellation',
      ['modern', 'legacy'],
      dual,
    ),
    over: ['stdio'],
  },
];

const PAUSE_MS = 400;

function cancelling(
  name: string,
  title: string,
  serves: Scenario['serves'],
  server: typeof modern | typeof legacy,
): Scenario {
  return {
    name,
    title,
    over: ['stdio', 'http'],
    serves,
    steps: STEPS,
    open() {
      let slow: ScriptTurn | undefined;
      const behaviour: ModernBehaviour = {
        tools: [ECHO, SLOW],
        on: {
          'tools/call'(turn) {
            if (turn.params['name'] === 'slow') {
              slow = turn;
              return;
            }
            if (slow && turn.over === 'http') {
              // This delay shows whether the client closed the other response first.
              setTimeout(() => turn.reply(inEra(turn, echoOf(turn))), PAUSE_MS);
              return;
            }
            // Only over stdio: an HTTP response ended with its connection.
            if (slow && name === 'cancel-late') slow.reply(inEra(slow, textResult('too late')));
            slow = undefined;
            return false;
          },
        },
      };
      return server(behaviour);
    },
  };
}
