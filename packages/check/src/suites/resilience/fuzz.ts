import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../model.js';
import { harmless, line, requestOf } from './bad-input.js';
import { fuzz } from './fuzz-run.js';

const common = {
  suite: 'resilience',
  level: 'SHOULD',
  rules: [],
  over: ['command', 'socket'],
  lane: 'own',
} as const satisfies Partial<Check>;

/** Input that nobody has thought of. `--seed` makes the same again. */
export const fuzzChecks: readonly Check[] = [
  {
    ...common,
    id: 'fuzz/bytes',
    title: 'Goes on, and talks sense, after any bytes',
    reason: 'The bad input that brings a server down is the one that its author did not think of.',
    era: 'none',
    hint: 'Try the input that is shown by itself; catch what is thrown for each line, not around the whole loop.',
    run: (table) =>
      fuzz(table, {
        inputs(fc, talk) {
          const good = Buffer.from(JSON.stringify(harmless(talk, 'fuzz')));
          const change = fc.tuple(
            fc.nat({ max: good.length }),
            fc.nat({ max: 4 }),
            fc.uint8Array({ maxLength: 4 }),
          );
          const changed = fc
            .array(change, { minLength: 1, maxLength: 4 })
            .map((changes) =>
              changes.reduce<Buffer>(
                (bytes, [at, less, more]) =>
                  Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at + less)]),
                good,
              ),
            );
          const loose = fc.uint8Array({ maxLength: 300, size: 'max' }).map((bytes) => Buffer.from(bytes));
          return fc.oneof(loose, changed);
        },
        blow: (bytes) => line('it', bytes),
        show: showBytes,
      }),
  },
  {
    ...common,
    id: 'fuzz/messages',
    title: 'Goes on, and talks sense, after JSON of any shape',
    reason: 'What is JSON and no message gets past the parser, and is met by code that expects one.',
    hint: 'Try the input that is shown by itself; check the shape of a message before its members are used.',
    run: (table) =>
      fuzz(table, {
        inputs(fc) {
          const json = fc.jsonValue({ maxDepth: 3 });
          const message = fc.record(
            {
              jsonrpc: fc.oneof({ weight: 3, arbitrary: fc.constant('2.0') }, json),
              id: fc.oneof(fc.string(), fc.integer(), json),
              method: fc.oneof(fc.constantFrom(...LOOKS), fc.string(), json),
              params: fc.oneof(fc.dictionary(fc.string(), json), json),
              result: json,
              error: json,
            },
            { requiredKeys: [] },
          );
          return fc.oneof(message, json);
        },
        blow: (json) => line('it', JSON.stringify(json)),
        show: (json) => JSON.stringify(json),
      }),
  },
  {
    ...common,
    id: 'fuzz/requests',
    title: 'Answers any well-formed request, whatever its params',
    reason: 'A request without an answer is a call that hangs.',
    hint: 'Try the input that is shown by itself; turn what a handler throws into an error.',
    run(table) {
      const names = new Set(table.facts.tools.map(({ name }) => name));
      let count = 0;
      return fuzz(table, {
        inputs(fc) {
          const params = fc.dictionary(fc.constantFrom(...PARAMS), fc.jsonValue({ maxDepth: 3 }));
          // Nobody's tools are called here: only such as do not exist.
          return fc
            .tuple(fc.constantFrom(...METHODS), params)
            .filter(([method, { name }]) => method !== 'tools/call' || !names.has(name));
        },
        blow([method, params], talk) {
          const id = `fuzz-${count++}`;
          return { ...line(method, JSON.stringify(requestOf(talk, id, method, params as JsonObject))), id };
        },
        show: ([method, params], talk) => JSON.stringify(requestOf(talk, 1, method, params as JsonObject)),
      });
    },
  },
];

/** Methods that only look. */
const LOOKS = [
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'no/such/method',
] as const;
const METHODS = [...LOOKS, 'tools/call'] as const;

const PARAMS = [
  'cursor',
  'name',
  'uri',
  'arguments',
  'ref',
  'argument',
  'context',
  'other',
  '__proto__',
] as const;

function showBytes(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  const isText = Buffer.from(text).equals(bytes) && !/[\p{Cc}\u2028\u2029]/u.test(text);
  return isText ? text : `bytes in hex: ${bytes.toString('hex')}`;
}
