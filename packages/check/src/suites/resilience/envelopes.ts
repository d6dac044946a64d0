import { aliveMethod } from '../../conversation/conversation.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { causeInFrame } from '../../run/failure-cause.js';
import { type Frame, membersOf } from '../../wire/transcript.js';
import {
  answers,
  codeOf,
  harmless,
  inShort,
  isLooseError,
  line,
  newId,
  sendAndExpectAlive,
} from './bad-input.js';

const common = {
  suite: 'resilience',
  over: ['command', 'socket'],
  lane: 'abuse',
} as const satisfies Partial<Check>;

/** JSON that is not a valid message, and request ids. */
export const envelopeChecks: readonly Check[] = [
  {
    ...common,
    id: 'envelope/invalid-request',
    title: 'Answers JSON that is not a message with -32600',
    level: 'SHOULD',
    rules: ['ERR-018'],
    hint: 'Check jsonrpc, method and id of each message before you dispatch it. If they are wrong, answer -32600, with the id if it can be read.',
    async run(context) {
      const conversation = await context.abuseConversation();
      const id = newId(conversation);
      const inputs: readonly (readonly [string, unknown])[] = [
        ['an object without method', { jsonrpc: '2.0' }],
        ['a method that is a number', { ...harmless(conversation, id), method: 1 }],
        ['a string', 'ping'],
        ['a number', 42],
        ['null', null],
      ];
      for (const [what, json] of inputs) {
        const said = await sendAndExpectAlive(context, conversation, line(what, JSON.stringify(json)), {
          until: ({ kind }) => kind === 'error',
        });
        const error = said.find(({ kind }) => kind === 'error');
        if (!error) context.fail(`${what} was not answered: ${JSON.stringify(json)}`, 'an error -32600');
        if (codeOf(error!) !== -32600)
          context.fail(`${what} got ${inShort(error!)}`, 'code -32600', causeInFrame(error));
      }
      return 'each of five got -32600';
    },
  },
  {
    ...common,
    id: 'envelope/error-has-id',
    title: 'Returns the id of a refused request, if it can be read',
    level: 'MUST',
    rules: ['JRPC-009'],
    hint: 'Put the id of the request into the error, even if the rest of the request is wrong.',
    async run(context) {
      const conversation = await context.abuseConversation();
      const id = newId(conversation);
      const json = { ...harmless(conversation, id), method: 1 };
      const said = await sendAndExpectAlive(
        context,
        conversation,
        line('a method that is a number', JSON.stringify(json)),
        {
          until: ({ kind }) => kind === 'error',
        },
      );
      const error = said.find(({ kind }) => kind === 'error');
      if (!error) return context.skip('it does not answer a request whose method is a number');
      if (error.id === id) return `the error has the id ${id}`;
      return context.fail(
        `a request with the id ${id} got ${inShort(error)}`,
        `an error with the id ${id}`,
        causeInFrame(error),
      );
    },
  },
  {
    ...common,
    id: 'envelope/wrong-version',
    title: 'Refuses a message that is not JSON-RPC 2.0',
    level: 'SHOULD',
    rules: ['JRPC-001', 'ERR-018'],
    hint: 'Answer -32600 to a message without "jsonrpc":"2.0".',
    run: (context) =>
      refusesAll(context, 'jsonrpc', (good) => [
        ['jsonrpc "1.0"', { ...good, jsonrpc: '1.0' }],
        ['jsonrpc as a number', { ...good, jsonrpc: 2 }],
        ['no jsonrpc', { ...good, jsonrpc: undefined }],
      ]),
  },
  {
    ...common,
    id: 'envelope/id-null',
    title: 'Refuses a request whose id is null',
    level: 'MUST',
    rules: ['JRPC-003'],
    hint: 'Refuse a request with "id":null with -32600. Unlike JSON-RPC, MCP does not allow it.',
    run: (context) => refusesAll(context, 'id', (good) => [['the id null', { ...good, id: null }]]),
  },
  {
    ...common,
    id: 'envelope/id-type',
    title: 'Refuses a request whose id is not a string or an integer',
    level: 'MUST',
    rules: ['JRPC-002'],
    hint: 'Answer -32600 to ids that are fractions, booleans, arrays or objects.',
    run: (context) =>
      refusesAll(context, 'id', (good) => [
        ['the id 1.5', { ...good, id: 1.5 }],
        ['the id true', { ...good, id: true }],
        ['an object for an id', { ...good, id: { a: 1 } }],
        ['an array for an id', { ...good, id: [1] }],
      ]),
  },
  {
    ...common,
    id: 'envelope/params-type',
    title: 'Refuses a request whose params are not an object',
    level: 'SHOULD',
    rules: ['ERR-018'],
    hint: 'Refuse params that are an array, a string or a number with -32600 or -32602.',
    run: (context) =>
      refusesAll(context, 'params', (good) => [
        ['params that are an array', { ...good, params: [1, 2] }],
        ['params that are a string', { ...good, params: 'all' }],
        ['params that are a number', { ...good, params: 7 }],
      ]),
  },
  {
    ...common,
    id: 'envelope/odd-ids',
    title: 'Returns every allowed id unchanged',
    level: 'MUST',
    rules: ['JRPC-006'],
    hint: 'Keep the parsed id and write it back. Do not use it as a key of a plain object, and do not convert it.',
    async run(context) {
      const conversation = await context.abuseConversation();
      for (const id of [0, -7, Number.MAX_SAFE_INTEGER, '', '0', '__proto__', 'constructor', 'a b\n"c"']) {
        const isAnswer = sameId(id);
        const said = await sendAndExpectAlive(
          context,
          conversation,
          line(`the id ${JSON.stringify(id)}`, JSON.stringify(harmless(conversation, id))),
          { until: isAnswer },
        );
        if (said.some(isAnswer)) continue;
        const got = said[0] ? `was answered with ${inShort(said[0])}` : 'was not answered';
        context.fail(
          `a request with the id ${JSON.stringify(id)} ${got}`,
          'an answer with the same id',
          causeInFrame(said[0]),
        );
      }
      return 'eight ids came back unchanged';
    },
  },
  {
    ...common,
    id: 'envelope/id-again',
    title: 'Accepts an id that was used before and answered',
    level: 'SHOULD',
    rules: ['JRPC-004'],
    era: 'modern',
    hint: 'Forget an id when its request is answered.',
    async run(context) {
      const conversation = await context.abuseConversation();
      const id = newId(conversation);
      for (const time of ['first', 'second', 'third']) {
        const said = await sendAndExpectAlive(
          context,
          conversation,
          line('an id again', JSON.stringify(harmless(conversation, id))),
          {
            until: answers(id),
          },
        );
        if (said.some((frame) => answers(id)(frame) && frame.kind === 'result')) continue;
        const got = said[0] ? `got ${inShort(said[0])}` : 'was not answered';
        context.fail(
          `the ${time} request with the id ${id} ${got}`,
          'a result each time',
          causeInFrame(said[0]),
        );
      }
      return 'the same id was served three times';
    },
  },
];

/** Fails if one of the inputs gets a result. An error is expected, and no answer is accepted. */
async function refusesAll(
  context: CheckContext,
  member: string,
  inputsOf: (good: Readonly<Record<string, unknown>>) => readonly (readonly [string, object])[],
): Promise<string> {
  const conversation = await context.abuseConversation();
  const outcomes: string[] = [];
  for (const [what, json] of inputsOf(harmless(conversation, newId(conversation)))) {
    const said = await sendAndExpectAlive(context, conversation, line(what, JSON.stringify(json)), {
      until: (frame) => frame.kind === 'error' || isResultFor(frame, json),
    });
    const result = said.find((frame) => isResultFor(frame, json));
    if (result) {
      context.fail(
        `${aliveMethod(conversation)} with ${what} was answered with ${inShort(result)}`,
        `a request with a wrong ${member} is refused`,
      );
    }
    const error = said.find(({ kind }) => kind === 'error');
    outcomes.push(`${what}: ${error ? codeOf(error) : 'no answer'}`);
  }
  return outcomes.join('; ');
}

/** A result with the id of the request, or without an id. */
function isResultFor(frame: Frame, json: object): boolean {
  if (frame.kind !== 'result') return false;
  const id = membersOf(frame)['id'];
  return (
    id === undefined || id === null || JSON.stringify(id) === JSON.stringify((json as { id?: unknown }).id)
  );
}

function sameId(id: string | number): (frame: Frame) => boolean {
  return (frame) => !isLooseError(frame) && membersOf(frame)['id'] === id;
}
