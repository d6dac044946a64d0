import { dual, inEra, isModern } from '../behaviour/dual.js';
import { modern } from '../behaviour/modern.js';
import { cacheable, complete, ECHO, textResult } from '../behaviour/tools.js';
import type { Scenario } from '../model.js';

const BOTH = ['stdio', 'http'] as const;

/** Results that say something about themselves. */
export const RESULTS: readonly Scenario[] = [
  {
    name: 'result-unknown-type',
    title: 'A modern server whose result is of a type that nobody knows',
    over: BOTH,
    serves: [],
    open: () =>
      modern({
        on: { 'tools/call': (turn) => turn.reply({ ...complete(textResult('x')), resultType: 'tomorrow' }) },
      }),
  },
  {
    name: 'list-input-required',
    title: 'A modern server that wants input before it lists its tools, which is not allowed',
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
    title: 'A server of both eras that refuses the call with -32603',
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
    title: 'A server of both eras whose schema points to an address',
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

/** Nobody should ask for it. */
export const SCHEMA_PATH = '/schema.json';
