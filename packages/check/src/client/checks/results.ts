import type { View } from '../read/view.js';
import { SCHEMA_PATH } from '../scenarios/results.js';
import { type ClientCheck, fail, givesUp, pass, skip, works } from './check.js';

/** What the client makes of a result. Those that are none should not look like success. */
export const RESULTS: readonly ClientCheck[] = [
  {
    id: 'rounds/unknown-result-type',
    suite: 'rounds',
    title: 'Takes a result of an unknown type for an error',
    level: 'MUST',
    rules: ['RTYPE-003', 'RTYPE-005'],
    hint: 'Only complete and input_required are results of the core protocol; fail the call for any other.',
    on: ['result-unknown-type'],
    judge: (view) => (called(view) ? givesUp(view) : skip(NOT_CALLED)),
  },
  {
    id: 'rounds/missing-result-type',
    suite: 'rounds',
    title: 'Takes a result without a type, as legacy servers send it, for complete',
    level: 'MUST',
    rules: ['RTYPE-004'],
    hint: 'An absent resultType means complete.',
    on: ['legacy-2025-06-18', 'legacy-2025-11-25', 'legacy-asks'],
    judge: works,
  },
  {
    id: 'rounds/not-on-lists',
    suite: 'rounds',
    title: 'Takes input_required for an error where it is not allowed',
    level: 'SHOULD',
    rules: [],
    reason: 'MRTR-003 allows it for tools/call, prompts/get and resources/read only; a list is not there.',
    hint: 'Fail other requests whose result is input_required.',
    on: ['list-input-required'],
    judge: (view, facts) => (facts.modern ? givesUp(view) : skip('the client speaks the legacy era only')),
  },
  {
    id: 'robustness/call-error',
    suite: 'robustness',
    title: 'Tells an error of the server from a result',
    level: 'MUST',
    rules: ['JRPC-009'],
    hint: 'A response with `error` fails the request.',
    on: ['call-error'],
    judge: (view) => (called(view) ? givesUp(view) : skip(NOT_CALLED)),
  },
  {
    id: 'robustness/call-nonsense',
    suite: 'robustness',
    title: 'Takes a result that is no object for an error, and does not hang',
    level: 'SHOULD',
    rules: ['JRPC-007'],
    hint: 'Check the shape of a response, and fail the request it names when it is wrong.',
    on: ['call-nonsense'],
    judge: (view) => (called(view) ? givesUp(view) : skip(NOT_CALLED)),
  },
  {
    id: 'robustness/output-schema',
    suite: 'robustness',
    title: 'Holds structured content to the output schema of the tool',
    level: 'SHOULD',
    rules: ['TOOL-013'],
    hint: 'Validate structuredContent against outputSchema of the last tools/list.',
    on: ['output-mismatch'],
    judge: (view) => (called(view) ? givesUp(view) : skip(NOT_CALLED)),
  },
  {
    id: 'robustness/schema-refs',
    suite: 'robustness',
    title: 'Fetches nothing because a schema points to it',
    level: 'MUST',
    rules: ['JSCH-006', 'JSCH-007'],
    hint: 'Resolve $ref within the schema only.',
    on: ['schema-ref'],
    judge(view) {
      const listed = view
        .named('tools/list')
        .some((each) => each.era === 'modern' && view.answerTo(each)?.message['result']);
      if (!listed) return skip('the client did not list the tools in the modern era');
      const at = view.asides.find(({ path }) => path.startsWith(SCHEMA_PATH));
      return at
        ? fail(`The client asked for ${at.path}`, 'No request for it', {
            index: view.transcript.entries.indexOf(at),
          })
        : pass('Nobody asked for it');
    },
  },
];

const NOT_CALLED = 'the client did not get to call the tool';

function called(view: View): boolean {
  return view.named('tools/call').length > 0;
}
