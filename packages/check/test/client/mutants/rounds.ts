import { fails, hangs, type Json, looksFine, saying } from '../../support/client/break.js';
import type { Mutant } from '../../support/client/mutant.js';

const retrying = (change: (params: Json, message: Json) => Json) =>
  saying((message) => {
    const params = message['params'] as Json | undefined;
    const isRetry = params && ('requestState' in params || 'inputResponses' in params);
    return isRetry ? { ...message, params: change(params, message) } : undefined;
  });
const responding = (change: (answer: Json) => unknown) =>
  retrying((params) => ({
    ...params,
    inputResponses: Object.fromEntries(
      Object.entries((params['inputResponses'] ?? {}) as Json).map(([key, value]) => [
        key,
        change(value as Json),
      ]),
    ),
  }));

export const ROUNDS: readonly Mutant[] = [
  {
    check: 'rounds/answered',
    fault: 'does not call again',
    breaking: saying((message) => ('requestState' in ((message['params'] ?? {}) as Json) ? null : undefined)),
  },
  {
    check: 'rounds/answered',
    fault: 'answers only the first of several',
    scenario: 'round-many',
    breaking: retrying((params) => {
      const [first] = Object.entries((params['inputResponses'] ?? {}) as Json);
      return { ...params, inputResponses: Object.fromEntries(first ? [first] : []) };
    }),
  },
  {
    check: 'rounds/state-echoed',
    fault: 'trims the state',
    breaking: retrying((params) => ({ ...params, requestState: String(params['requestState']).trim() })),
  },
  {
    check: 'rounds/state-not-carried-over',
    fault: 'remembers the state of the round before',
    breaking: retrying((params) => ({ ...params, requestState: 'only-here' })),
  },
  {
    check: 'rounds/new-id',
    fault: 'calls again with the same id',
    breaking: (transcript) => {
      const ids: unknown[] = [];
      return saying((message) => {
        if (message['method'] !== 'tools/call') return undefined;
        ids.push(message['id']);
        return { ...message, id: ids[0] };
      })(transcript);
    },
  },
  {
    check: 'rounds/same-params',
    fault: 'forgets the arguments',
    breaking: retrying(({ arguments: _, ...rest }) => rest),
  },
  {
    check: 'rounds/same-params',
    fault: 'puts the answers into the arguments',
    breaking: retrying(({ inputResponses, ...rest }) => ({
      ...rest,
      arguments: { ...(rest['arguments'] as Json), inputResponses },
    })),
  },
  {
    check: 'rounds/bare-answers',
    fault: 'wraps its answers as responses',
    breaking: responding((answer) => ({ jsonrpc: '2.0', id: 1, result: answer })),
  },
  {
    check: 'rounds/bare-answers',
    fault: 'answers roots with a form',
    scenario: 'round-many',
    breaking: responding(() => ({ action: 'accept', content: {} })),
  },
  {
    check: 'rounds/form-fits',
    fault: 'has a number for a name',
    breaking: responding(() => ({ action: 'accept', content: { name: 5 } })),
  },
  {
    check: 'rounds/parallel-apart',
    fault: 'has one state for the whole connection',
    breaking: retrying((params) => ({ ...params, requestState: 'state-other' })),
  },
  { check: 'rounds/state-only', fault: 'takes it for the end', breaking: fails },
  { check: 'rounds/bounded', fault: 'goes on for ever', breaking: hangs },
  {
    check: 'rounds/undeclared',
    fault: 'answers all the same',
    breaking: (transcript) => {
      const call = transcript.entries.findLast(
        (entry) => entry.kind === 'in' && entry.text.includes('"tools/call"'),
      )!;
      if (call.kind !== 'in') return transcript;
      const message = JSON.parse(call.text) as Json;
      const params = { ...(message['params'] as Json), inputResponses: { rude: { action: 'accept' } } };
      const again = { ...call, text: JSON.stringify({ ...message, id: 'again', params }) };
      return { ...transcript, entries: [...transcript.entries, again] };
    },
  },
  { check: 'rounds/unknown-result-type', fault: 'takes any result', breaking: looksFine },
  { check: 'rounds/missing-result-type', fault: 'wants a type from everybody', breaking: fails },
  { check: 'rounds/not-on-lists', fault: 'takes it for an empty list', breaking: looksFine },
];
