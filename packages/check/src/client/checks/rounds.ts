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

/** How the client answers `input_required`. */
export const ROUNDS: readonly ClientCheck[] = [
  {
    id: 'rounds/answered',
    suite: 'rounds',
    title: 'Answers the input requests, and repeats the call',
    level: 'MUST',
    rules: ['MRTR-016', 'ELIC-001', 'SAMP-002', 'ROOT-002'],
    hint: 'A client that declares elicitation, sampling or roots provides that input and repeats the call with inputResponses.',
    on: ['round-elicit', 'round-many', 'round-state-dropped', 'round-parallel'],
    judge(view, facts) {
      const rounds = roundsIn(view).filter(({ asked }) => asked.length > 0);
      if (rounds.length === 0) return skip(NOT_ASKED);
      for (const { asked, retry, interim } of rounds) {
        if (!retry)
          return absent(
            view,
            'The client did not repeat the call',
            `A call with ${asked.join(', ')}`,
            interim,
          );
        const missing = asked.find((key) => !(key in responsesIn(retry)));
        if (missing !== undefined) return fail(`There is no answer to ${missing}`, asked.join(', '), retry);
      }
      return works(view, facts);
    },
  },
  {
    id: 'rounds/state-echoed',
    suite: 'rounds',
    title: 'Sends requestState back byte for byte',
    level: 'MUST',
    rules: ['MRTR-018', 'MRTR-019'],
    hint: 'Keep the string unchanged. Do not trim, decode or parse it.',
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
          seen: (count) => `${count} states came back unchanged`,
        },
      ),
  },
  {
    id: 'rounds/state-not-carried-over',
    suite: 'rounds',
    title: 'Sends no requestState when the last result had none',
    level: 'MUST',
    rules: ['MRTR-020'],
    hint: 'Build each retry only from the last result.',
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
          seen: () => 'The retry had no state',
        },
      ),
  },
  {
    id: 'rounds/new-id',
    suite: 'rounds',
    title: 'Repeats the call with a new id',
    level: 'MUST',
    rules: ['MRTR-021'],
    hint: 'A retry is a new request.',
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
    title: 'Repeats the call with the same name and arguments, and the answers beside them',
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
          expected: 'Only a result of that kind',
          seen: (count) => `The answers of ${count} retries are bare results`,
        },
      ),
  },
  {
    id: 'rounds/form-fits',
    suite: 'rounds',
    title: 'Fills in a form according to its schema',
    level: 'SHOULD',
    rules: ['ELIC-023'],
    hint: 'Validate the content of an accepted form against requestedSchema before you send it.',
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
        expected: 'A string for name; for age an integer or nothing',
        seen: (count) => `${count} forms fit the schema`,
      });
    },
  },
  {
    id: 'rounds/parallel-apart',
    suite: 'rounds',
    title: 'Keeps the rounds of parallel calls separate',
    level: 'MUST',
    rules: ['MRTR-022'],
    hint: 'requestState and inputRequests belong to one call. Store them with the call, not with the connection.',
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
    title: 'Repeats the call when a result has a state and no input requests',
    level: 'SHOULD',
    rules: ['MRTR-017'],
    hint: 'Without inputRequests, repeat the call with requestState at once.',
    on: ['round-state-only'],
    judge: works,
  },
  {
    id: 'rounds/bounded',
    suite: 'rounds',
    title: 'Stops when a server never stops asking',
    level: 'SHOULD',
    rules: [],
    reason: 'A server that always asks again must not block the client forever.',
    hint: 'Limit the rounds of a call, for example to 16.',
    on: ['round-endless'],
    judge(view, facts) {
      if (!facts.modern) return skip('the client speaks the legacy era only');
      const calls = view.named('tools/call').length;
      if (calls === 0 && view.succeeded) return skip(CALLS_NOTHING);
      if (calls > 500 && !view.ended) {
        return fail(
          `The client called ${calls} times and did not stop`,
          'An error after some rounds',
          view.said.at(-1),
        );
      }
      return givesUp(view);
    },
  },
  {
    id: 'rounds/undeclared',
    suite: 'rounds',
    title: 'Does not answer input requests that it has not declared',
    level: 'SHOULD',
    rules: [],
    reason: 'MRTR-007 forbids servers to ask for it. A client that answers it should declare it.',
    hint: 'Fail the call when the server asks for a kind of input that you did not declare.',
    on: ['round-undeclared'],
    judge(view) {
      const [round] = roundsIn(view);
      if (!round) return skip('the client declares every kind of input');
      const answer = round.retry && responsesIn(round.retry)['rude'];
      // A refusal does not count as an answer.
      if (isJsonObject(answer) && ['decline', 'cancel'].includes(String(answer['action']))) {
        return pass('It declined');
      }
      return answer === undefined
        ? pass('It did not answer')
        : fail('The client answered', 'No answer, but an error', round.retry);
    },
  },
];

const NOT_ASKED = 'the client declares nothing that this server asks for, or did not repeat the call';

/** What is wrong with an answer to an input request; undefined when it is correct. */
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

/** The same for the answer to an elicitation of either era. */
export function oddElicitation(key: string, answer: JsonObject): string | undefined {
  const { action } = answer;
  if (!['accept', 'decline', 'cancel'].includes(String(action)))
    return `${key} has the action ${JSON.stringify(action)}`;
  return action !== 'accept' && 'content' in answer ? `${key} has content with ${String(action)}` : undefined;
}
