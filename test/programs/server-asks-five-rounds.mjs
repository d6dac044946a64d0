// Its vice: it asks and asks. Modern; the tool `ask` needs five rounds of input, with a `requestState` in rounds
// 1, 3 and 5 and without one in 2 and 4. The final result reports what it saw, as text and structured:
//   { rounds, ids, answers, problems }   `problems` is empty when the client did everything right:
// a new id in every round, the same name and arguments, the state back byte by byte, no state where the last
// round had none, an answer to the question that was asked. Calls may run side by side.
// node server-asks-five-rounds.mjs [questions|silent]
//   silent   round 3 has a requestState only and asks nothing
import { capabilitiesOf, choice, serveLines, WireError } from './support/line-server.mjs';

const ROUNDS = 5;
const silent = choice(0, ['questions', 'silent']) === 'silent';
// All that escaping, trimming, re-encoding or normalising would change.
const NASTY = ' "quotes" \\ back\\u0041slash \t é e\u0301 \u{1F30D} \u2028 \u0000 %2B+%20 =? <&> \r\n ';
const calls = new Map();
let callCount = 0;

serveLines({ name: 'asks-five-rounds', eras: 'modern', tools: { ask } });

function ask(args, message) {
  const { inputResponses, requestState } = message.params;
  if (!capabilitiesOf(message).elicitation) {
    throw new WireError(-32021, 'I have to ask', { requiredCapabilities: { elicitation: {} } });
  }
  const call = inputResponses || requestState !== undefined ? find(message.params) : begin(args, message);
  if (!call) throw new WireError(-32602, 'a retry of no call that I know');
  if (call.round > 0) check(call, args, message);
  call.ids.push(message.id);
  call.round += 1;
  return call.round > ROUNDS ? finish(call) : question(call);
}

function begin(args) {
  callCount += 1;
  const call = {
    key: `call${callCount}`,
    args: JSON.stringify(args),
    round: 0,
    ids: [],
    answers: [],
    problems: [],
  };
  calls.set(call.key, call);
  return call;
}

/** A retry names its call in the keys of its answers, or, after a silent round, in its state. */
function find({ inputResponses = {}, requestState = '' }) {
  const named = [...Object.keys(inputResponses), String(requestState)].map((text) => text.split('.')[0]);
  return named.map((key) => calls.get(key)).find(Boolean);
}

function question(call) {
  call.state = call.round % 2 === 1 ? `${call.key}.state${call.round}${NASTY}` : undefined;
  call.asked = silent && call.round === 3 ? undefined : `${call.key}.${call.round}`;
  const requestedSchema = {
    type: 'object',
    properties: { answer: { type: 'string' } },
    required: ['answer'],
  };
  const params = { mode: 'form', message: `Question ${call.round}?`, requestedSchema };
  return {
    resultType: 'input_required',
    ...(call.asked && { inputRequests: { [call.asked]: { method: 'elicitation/create', params } } }),
    ...(call.state !== undefined && { requestState: call.state }),
  };
}

function check(call, args, { id, params }) {
  const problem = (what) => call.problems.push(`round ${call.round}: ${what}`);
  if (call.ids.includes(id)) problem(`the id ${JSON.stringify(id)} came again`);
  if (JSON.stringify(args) !== call.args) problem(`the arguments became ${JSON.stringify(args)}`);
  if (params.requestState !== call.state) {
    const had = call.state === undefined ? 'no state' : JSON.stringify(call.state);
    problem(`the state was ${JSON.stringify(params.requestState)} and should be ${had}`);
  }
  const keys = Object.keys(params.inputResponses ?? {});
  if (keys.join() !== (call.asked ?? ''))
    problem(`answers to ${JSON.stringify(keys)}, asked was ${call.asked}`);
  call.answers.push(call.asked ? (params.inputResponses?.[call.asked] ?? null) : 'not asked');
}

function finish({ key, ids, answers, problems }) {
  calls.delete(key);
  const report = { rounds: ROUNDS, ids, answers, problems };
  return { content: [{ type: 'text', text: JSON.stringify(report) }], structuredContent: report };
}
