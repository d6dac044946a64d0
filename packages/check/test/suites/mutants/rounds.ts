import { changing, changingResult } from '../../support/suites/altered.js';
import {
  ASKING_MODERN,
  answeringRetries,
  asking,
  BROKEN,
  changingRounds,
  DONE,
  isRound,
  objectOf,
  REFUSED,
} from '../../support/suites/asking-faults.js';
import type { AnyMutant } from '../../support/suites/mutant.js';

/** Rounds that are not what they should be, and answers that lead nowhere. */
export const roundsMutants: readonly AnyMutant[] = [
  {
    ...ASKING_MODERN,
    check: 'rounds/asks-or-carries-state',
    fault: 'asks back without questions and without state',
    middle: changingRounds(({ inputRequests: _asked, requestState: _state, ...rest }) => rest),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/questions-are-requests-without-envelope',
    fault: 'gives its questions ids',
    seen: /id is/,
    middle: changingRounds((result) => ({
      ...result,
      inputRequests: mapValues(result['inputRequests'], (question) => ({ ...question, id: 1 })),
    })),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/questions-are-requests-without-envelope',
    fault: 'asks with a method of its own',
    middle: changingRounds((result) => ({
      ...result,
      inputRequests: mapValues(result['inputRequests'], (question) => ({ ...question, method: 'ask' })),
    })),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/keys-are-unique',
    fault: 'has the same key twice',
    seen: /twice/,
    middle: () => ({
      outgoing(message, io) {
        const result = message['result'];
        const [first] = Object.entries(objectOf(isRound(result) ? result['inputRequests'] : {}));
        if (!first) return message;
        const again = `${JSON.stringify(first[0])}:${JSON.stringify(first[1])}`;
        io.raw(
          `${JSON.stringify(message).replace('"inputRequests":{', () => `"inputRequests":{${again},`)}\n`,
        );
        return undefined;
      },
    }),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/state-is-text',
    fault: 'makes its state an object',
    middle: changingRounds((result) => ({ ...result, requestState: { round: 1 } })),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/not-cacheable',
    fault: 'says how long its questions stay fresh',
    seen: /ttlMs/,
    middle: changingRounds((result) => ({ ...result, ttlMs: 1000 })),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/only-where-they-may-be',
    fault: 'asks back when its prompts are listed',
    seen: /prompts\/list/,
    middle: changingResult('prompts/list', () => ({ resultType: 'input_required', requestState: 'x' })),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/type-tells-what-it-is',
    fault: 'calls its questions complete',
    middle: changingRounds((result) => ({ ...result, resultType: 'complete' })),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/type-tells-what-it-is',
    fault: 'asks and answers in one',
    seen: /content/,
    middle: changingRounds((result) => ({ ...result, content: [] })),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/no-requests-from-the-server',
    fault: 'asks for roots by a request',
    seen: /roots\/list/,
    middle: changing((answer, { method }) =>
      method === 'tools/list' ? [{ jsonrpc: '2.0', id: 'q1', method: 'roots/list' }, answer] : undefined,
    ),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/answers-lead-to-a-result',
    fault: 'breaks when the answers come',
    seen: /-32603/,
    middle: answeringRetries(() => BROKEN),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/answers-lead-to-a-result',
    fault: 'asks the same again for ever',
    seen: /still asks/,
    middle: asking(({ inputResponses: _answers, requestState: _state, ...rest }) => rest),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/asks-again-for-what-is-missing',
    fault: 'fails when the answers are missing',
    middle: answeringRetries((answers) => (Object.keys(answers).length === 0 ? REFUSED : undefined)),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/asks-for-the-rest',
    fault: 'wants all answers at once',
    middle: answeringRetries((answers, { params }) =>
      /multiple/.test(String(params['name'])) && Object.keys(answers).length < 3 ? REFUSED : undefined,
    ),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/ignores-surplus-answers',
    fault: 'refuses answers that it did not ask for',
    middle: () => {
      const asked = new Set<string>();
      return {
        incoming(message, io) {
          const answers = Object.keys(objectOf(objectOf(message['params'])['inputResponses']));
          if (answers.every((key) => asked.has(key))) return message;
          io.reply({ jsonrpc: '2.0', id: message['id'], ...REFUSED });
          return undefined;
        },
        outgoing(message) {
          const result = message['result'];
          if (isRound(result))
            for (const key of Object.keys(objectOf(result['inputRequests']))) asked.add(key);
          return message;
        },
      };
    },
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/refuses-answers-of-no-shape',
    fault: 'takes anything for no answers',
    middle: asking((params) =>
      params['inputResponses'] === undefined
        ? params
        : { ...params, inputResponses: objectOf(params['inputResponses']) },
    ),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/takes-no-wrong-answer-for-one',
    fault: 'takes any answer for yes',
    middle: answeringRetries((answers) => (Object.keys(answers).length > 0 ? DONE : undefined)),
  },
];

function mapValues(record: unknown, change: (value: Record<string, unknown>) => unknown) {
  return Object.fromEntries(
    Object.entries(objectOf(record)).map(([key, value]) => [key, change({ ...objectOf(value) })]),
  );
}
