import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { questionsIn, responsesIn, retriesIn, roundsIn, stateIn } from '../view.js';
import { absent, CALLS_NOTHING, type ClientCheck, every, fail, givesUp, pass, skip, works } from './check.js';

const ASKING = [
  'round-elicit',
  'round-many',
  'round-state-dropped',
  'round-parallel',
  'round-state-only',
] as const;

/** What the client does with `input_required`. */
export const ROUNDS: readonly ClientCheck[] = [
  {
    id: 'rounds/answered',
    suite: 'rounds',
    title: 'Answers what it was asked, and calls again',
    level: 'MUST',
    rules: ['MRTR-016', 'ELIC-001', 'SAMP-002', 'ROOT-002'],
    hint: 'Who declares elicitation, sampling or roots produces those inputs and repeats the call with inputResponses.',
    on: ['round-elicit', 'round-many', 'round-state-dropped', 'round-parallel'],
    judge(view, facts) {
      const rounds = roundsIn(view).filter(({ asked }) => asked.length > 0);
      if (rounds.length === 0) return skip(NOT_ASKED);
      for (const { asked, retry, interim } of rounds) {
        if (!retry)
          return absent(view, 'The client did not call again', `A call with ${asked.join(', ')}`, interim);
        const missing = asked.find((key) => !(key in responsesIn(retry)));
        if (missing !== undefined) return fail(`There is no answer to ${missing}`, asked.join(', '), retry);
      }
      return works(view, facts);
    },
  },
  {
    id: 'rounds/state-echoed',
    suite: 'rounds',
    title: 'Gives requestState back byte for byte',
    level: 'MUST',
    rules: ['MRTR-018', 'MRTR-019'],
    hint: 'Keep the string as it is: no trimming, no decoding, no parsing.',
    on: ASKING,
    judge: (view) =>
      every(
        retriesIn(view).filter(({ interim }) => stateIn(interim) !== undefined),
        {
          none: NOT_ASKED,
          problem: ({ interim, retry }) =>
            retry.params['requestState'] === stateIn(interim)
              ? undefined
              : `${JSON.stringify(stateIn(interim))} came back as ${JSON.stringify(retry.params['requestState'])}`,
          expected: 'The same string in params.requestState',
          seen: (count) => `${count} states came back as they were`,
        },
      ),
  },
  {
    id: 'rounds/state-not-carried-over',
    suite: 'rounds',
    title: 'Sends no requestState when the last result had none',
    level: 'MUST',
    rules: ['MRTR-020'],
    hint: 'Build each retry from the last result alone.',
    on: ['round-state-dropped'],
    judge: (view) =>
      every(
        retriesIn(view).filter(({ interim }) => stateIn(interim) === undefined),
        {
          none: NOT_ASKED,
          problem: ({ retry }) =>
            'requestState' in retry.params
              ? `The retry had ${JSON.stringify(retry.params['requestState'])}`
              : undefined,
          expected: 'No requestState',
          seen: () => 'The state of the round before was gone',
        },
      ),
  },
  {
    id: 'rounds/new-id',
    suite: 'rounds',
    title: 'Calls again with a new id',
    level: 'MUST',
    rules: ['MRTR-021'],
    hint: 'A retry is a request of its own.',
    on: ASKING,
    judge: (view) =>
      every(retriesIn(view), {
        none: NOT_ASKED,
        problem: ({ request, retry }) =>
          retry.id === request.id
            ? `The retry has the id ${JSON.stringify(retry.id)} of the call`
            : undefined,
        expected: 'Another id',
        seen: (count) => `${count} retries had new ids`,
      }),
  },
  {
    id: 'rounds/same-params',
    suite: 'rounds',
    title: 'Calls again with the same name and arguments, and the answers beside them',
    level: 'MUST',
    rules: ['MRTR-023'],
    hint: 'inputResponses and requestState are members of params, not of arguments or _meta.',
    on: ASKING,
    judge: (view) =>
      every(retriesIn(view), {
        none: NOT_ASKED,
        problem({ request, retry }) {
          const changed = ['name', 'arguments'].find(
            (key) => !isDeepStrictEqual(request.params[key], retry.params[key]),
          );
          if (changed !== undefined) return `${changed} of the retry differs from the call`;
          return isJsonObject(retry.params['_meta']) ? undefined : 'The retry has no _meta';
        },
        expected: 'The params of the call',
        seen: (count) => `${count} retries had them`,
      }),
  },
  {
    id: 'rounds/bare-answers',
    suite: 'rounds',
    title: 'Sends bare results as answers',
    level: 'MUST',
    rules: ['MRTR-024', 'ELIC-008', 'SAMP-012'],
    hint: 'A value of inputResponses is an ElicitResult, a CreateMessageResult or a ListRootsResult, without id or resultType.',
    on: ['round-elicit', 'round-many', 'round-state-dropped', 'round-parallel'],
    judge: (view) =>
      every(
        retriesIn(view).filter(({ asked }) => asked.length > 0),
        {
          none: NOT_ASKED,
          problem: ({ interim, retry, asked }) =>
            asked
              .map((key) => oddAnswer(key, questionsIn(interim)[key], responsesIn(retry)[key]))
              .find((problem) => problem !== undefined),
          expected: 'A result of that kind and nothing more',
          seen: (count) => `The answers of ${count} retries are`,
        },
      ),
  },
  {
    id: 'rounds/form-fits',
    suite: 'rounds',
    title: 'Fills in a form as its schema wants it',
    level: 'SHOULD',
    rules: ['ELIC-023'],
    hint: 'Hold the content of an accepted form to requestedSchema before it leaves.',
    on: ['round-elicit', 'round-many'],
    judge(view) {
      const forms = retriesIn(view).flatMap(({ interim, retry, asked }) =>
        asked
          .filter((key) => (questionsIn(interim)[key] as JsonObject)['method'] === 'elicitation/create')
          .map((key) => ({ index: retry.index, answer: responsesIn(retry)[key] })),
      );
      const accepted = forms.filter(({ answer }) => isJsonObject(answer) && answer['action'] === 'accept');
      return every(accepted, {
        none: forms.length === 0 ? NOT_ASKED : 'the client accepted no form',
        problem({ answer }) {
          const { name, age } = ((answer as JsonObject)['content'] ?? {}) as JsonObject;
          if (typeof name !== 'string') return `name is ${JSON.stringify(name)}`;
          return age === undefined || Number.isInteger(age) ? undefined : `age is ${JSON.stringify(age)}`;
        },
        expected: 'A string for name; an integer for age, if anything',
        seen: (count) => `${count} forms were filled in properly`,
      });
    },
  },
  {
    id: 'rounds/parallel-apart',
    suite: 'rounds',
    title: 'Keeps the rounds of parallel calls apart',
    level: 'MUST',
    rules: ['MRTR-022'],
    hint: 'State and questions belong to one call; keep them with it, not with the connection.',
    on: ['round-parallel'],
    judge: (view) =>
      every(
        view
          .named('tools/call')
          .filter(({ params }) => 'requestState' in params || 'inputResponses' in params),
        {
          none: NOT_ASKED,
          problem(retry) {
            const name = String(retry.params['name']);
            const state = retry.params['requestState'];
            if (state !== `state-${name}`) return `The call of ${name} had ${JSON.stringify(state)}`;
            const foreign = Object.keys(responsesIn(retry)).find((key) => key !== `key-${name}`);
            return foreign === undefined ? undefined : `The call of ${name} answered ${foreign}`;
          },
          expected: 'The state and the keys of that call',
          seen: (count) => `${count} retries had their own`,
        },
      ),
  },
  {
    id: 'rounds/state-only',
    suite: 'rounds',
    title: 'Calls again when a result has a state and asks for nothing',
    level: 'SHOULD',
    rules: ['MRTR-017'],
    hint: 'Without inputRequests there is nothing to wait for: repeat the call with requestState.',
    on: ['round-state-only'],
    judge: works,
  },
  {
    id: 'rounds/bounded',
    suite: 'rounds',
    title: 'Stops when a server never stops asking',
    level: 'SHOULD',
    rules: [],
    reason: 'A server that always wants another round must not keep the client for ever.',
    hint: 'Count the rounds of a call and fail it after some (16, say).',
    on: ['round-endless'],
    judge(view, facts) {
      if (!facts.modern) return skip('the client speaks the legacy era only');
      const calls = view.named('tools/call').length;
      if (calls === 0 && view.succeeded) return skip(CALLS_NOTHING);
      if (calls > 500 && !view.ended) {
        return fail(`The client called ${calls} times and was still at it`, 'An end', view.said.at(-1));
      }
      return givesUp(view);
    },
  },
  {
    id: 'rounds/undeclared',
    suite: 'rounds',
    title: 'Does not answer what it has not declared',
    level: 'SHOULD',
    rules: [],
    reason: 'MRTR-007 forbids servers to ask for it; who answers all the same has declared too little.',
    hint: 'Fail the call when a kind of input is asked for that you did not declare.',
    on: ['round-undeclared'],
    judge(view) {
      const [round] = roundsIn(view);
      if (!round) return skip('the client declares all there is, so nothing is too much');
      const answer = round.retry && responsesIn(round.retry)['rude'];
      // A refusal is no answer.
      if (isJsonObject(answer) && ['decline', 'cancel'].includes(String(answer['action']))) {
        return pass('It declined');
      }
      return answer === undefined
        ? pass('It did not answer')
        : fail('The client answered', 'No answer, and an error', round.retry);
    },
  },
];

const NOT_ASKED = 'the client declares nothing that this server could ask for, or did not call again';

/** What is wrong with an answer to a question of a modern server; nothing when it is in order. */
function oddAnswer(key: string, question: unknown, answer: unknown): string | undefined {
  if (!isJsonObject(answer)) return `${key} was answered with ${JSON.stringify(answer)}`;
  const extra = ['resultType', 'jsonrpc', 'id', 'result'].find((member) => member in answer);
  if (extra !== undefined) return `The answer to ${key} has a member ${extra}`;
  const method = isJsonObject(question) ? question['method'] : undefined;
  if (method === 'roots/list') return Array.isArray(answer['roots']) ? undefined : `${key} has no roots`;
  if (method === 'sampling/createMessage') {
    const whole = ['role', 'content', 'model'].every((member) => member in answer);
    return whole ? undefined : `${key} lacks role, content or model`;
  }
  return oddElicitation(key, answer);
}

/** The same for an elicitation of either era. */
export function oddElicitation(key: string, answer: JsonObject): string | undefined {
  const { action } = answer;
  if (!['accept', 'decline', 'cancel'].includes(String(action)))
    return `${key} has the action ${JSON.stringify(action)}`;
  return action !== 'accept' && 'content' in answer ? `${key} has content with ${String(action)}` : undefined;
}
