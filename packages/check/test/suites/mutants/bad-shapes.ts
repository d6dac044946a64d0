import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { AnyMutant } from '../../support/suites/mutant.js';
import { answersItself, deaf, dies, errorFor, isJson, metaIn, paramsIn, parse, resultFor } from './faults.js';

/** JSON that is no message, or an odd one. */
export const badShapesMutants: readonly AnyMutant[] = [
  {
    check: 'envelope/invalid-request',
    fault: 'does not answer JSON that is not a message',
    seen: /an object without method was not answered/,
    middle: deaf((line) => line === '{"jsonrpc":"2.0"}'),
  },
  {
    check: 'envelope/invalid-request',
    fault: 'answers a method that is a number with -32601',
    seen: /-32601/,
    middle: answersItself(
      ({ method }) => typeof method === 'number',
      (message) => errorFor(message, -32601),
    ),
  },
  {
    check: 'envelope/error-has-id',
    fault: 'leaves the id out of a refusal',
    middle: () => ({ outgoing: ({ id, ...rest }) => ('error' in rest ? rest : { id, ...rest }) }),
  },
  {
    check: 'envelope/wrong-version',
    fault: 'does not look at jsonrpc',
    seen: /jsonrpc "1.0" was answered/,
    middle: () => ({ incoming: (message) => ({ ...message, jsonrpc: '2.0' }) }),
  },
  {
    check: 'envelope/id-null',
    fault: 'serves a request whose id is null',
    middle: answersItself(
      ({ id }) => id === null,
      (message) => resultFor(message),
    ),
  },
  {
    check: 'envelope/id-type',
    fault: 'serves a request whose id is true',
    seen: /the id true/,
    middle: answersItself(
      ({ id }) => id === true,
      (message) => resultFor(message),
    ),
  },
  {
    check: 'envelope/params-type',
    fault: 'ignores params that are not an object',
    era: 'legacy',
    middle: () => ({
      incoming: ({ params, ...rest }) => (isJsonObject(params) ? { ...rest, params } : rest),
    }),
  },
  {
    check: 'envelope/odd-ids',
    fault: 'converts ids to numbers',
    seen: /"0"/,
    middle: () => ({
      outgoing: (message) => (message['id'] === '0' ? { ...message, id: 0 } : message),
    }),
  },
  {
    check: 'envelope/id-again',
    fault: 'refuses an id that was used before',
    seen: /the second request/,
    middle: () => {
      const known = new Set<unknown>();
      return {
        incoming(message, io) {
          if (message['id'] === undefined || !known.has(message['id'])) {
            known.add(message['id']);
            return message;
          }
          io.reply(errorFor(message, -32600));
          return undefined;
        },
      };
    },
  },
  {
    check: 'batch/not-processed',
    fault: 'takes an array apart',
    middle: () => ({
      incomingLine(line) {
        const json = parse(line);
        return Array.isArray(json) ? json.map((each) => JSON.stringify(each)) : line;
      },
    }),
  },
  {
    check: 'batch/empty',
    fault: 'answers an empty array with an empty array',
    middle: () => ({
      incomingLine(line, io) {
        if (line !== '[]') return line;
        io.reply([]);
        return undefined;
      },
    }),
  },
  {
    check: 'batch/2025-03-26',
    fault: 'does not know batches',
    seen: /2 of 2 requests/,
    middle: deaf((line) => line.startsWith('[')),
  },
  {
    check: 'batch/2025-03-26',
    fault: 'does not know batches',
    seen: /2 of 2 requests/,
    proxy: () => ({
      request: ({ body }) =>
        body[0] === 0x5b ? { respond: { status: 400, body: '{"error":"no batches"}' } } : undefined,
    }),
  },
  {
    check: 'members/unknown-meta',
    fault: 'refuses unknown keys in _meta',
    middle: answersItself(
      (message) => 'com.example/mark' in metaIn(message),
      (message) => errorFor(message, -32602),
    ),
  },
  {
    check: 'members/unknown-params',
    fault: 'refuses unknown params',
    middle: answersItself(
      (message) => 'unheardOf' in paramsIn(message),
      (message) => errorFor(message, -32602),
    ),
  },
  {
    check: 'members/duplicate-keys',
    fault: 'serves both ids of one request',
    seen: /2 answers/,
    middle: () => ({
      incomingLine(line) {
        const ids = [...line.matchAll(/"id":("[^"]*")/g)].map(([, id]) => id!);
        if (ids.length < 2 || !isJson(line)) return line;
        return ids.map((id) => JSON.stringify({ ...(parse(line) as object), id: JSON.parse(id) }));
      },
    }),
  },
  {
    check: 'members/inherited-names',
    fault: 'finds a method called constructor',
    seen: /the method "constructor"/,
    middle: answersItself(
      ({ method }) => method === 'constructor',
      (message) => resultFor(message),
    ),
  },
  {
    check: 'members/inherited-names',
    fault: 'finds a tool called toString',
    seen: /the tool toString/,
    middle: answersItself(
      (message) => paramsIn(message)['name'] === 'toString',
      (message) => resultFor(message, { content: [], resultType: 'complete' }),
    ),
  },
  {
    check: 'members/prototype-keys',
    fault: 'takes over what is in __proto__',
    middle: () => {
      let polluted = false;
      return {
        incomingLine(line) {
          polluted ||= line.includes('"__proto__"');
          return line;
        },
        outgoing: (message) =>
          polluted && isJsonObject(message['result'])
            ? { ...message, result: { ...message['result'], polluted: true } }
            : message,
      };
    },
  },
  dies('members/survives-deep-nesting', 'deep nesting', (line) => line.includes('{"a":'.repeat(9000))),
  dies('members/survives-numbers', 'a number beyond all bounds', (line) => line.includes(':1e400')),
  dies('members/survives-huge-ids', 'an id of 65 bits', (line) => line.includes('18446744073709551616')),
  dies('members/survives-long-method', 'a long name', (line) => line.length > 1_000_000),
  {
    check: 'noise/notifications',
    fault: 'answers a notification that it does not know',
    middle: answersItself(
      ({ id, method }) => id === undefined && method === 'no/such/method',
      () => ({ jsonrpc: '2.0', id: null, error: { code: -32601, message: 'no' } }),
    ),
  },
  {
    check: 'noise/responses',
    fault: 'answers an answer',
    seen: /an error for an unknown id was answered/,
    middle: answersItself(
      ({ id, error }) => typeof id === 'string' && error !== undefined,
      (message) => errorFor(message, -32600),
    ),
  },
  dies('noise/result-and-error', 'both at once', (line) => /"result":.*"error":/.test(line)),
];
