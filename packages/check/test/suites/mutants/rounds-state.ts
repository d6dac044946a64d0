import {
  ASKING_LEGACY,
  ASKING_MODERN,
  afterTheWalkthrough,
  answeringRetries,
  asking,
  BROKEN,
  DONE,
  HASTY,
  isRound,
  objectOf,
  REFUSED,
} from '../../support/suites/asking-faults.js';
import type { AnyMutant, Middle } from '../../support/suites/mutant.js';

/** Users who do not answer, and states that were tampered with. */
export const roundsStateMutants: readonly AnyMutant[] = [
  {
    ...ASKING_MODERN,
    check: 'rounds/bears-decline',
    fault: 'breaks when the user declines',
    seen: /decline/,
    middle: answeringRetries((answers) => (actions(answers).includes('decline') ? BROKEN : undefined)),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/bears-cancel',
    fault: 'does not answer when the user cancels',
    seen: /no answer/,
    options: { ...ASKING_MODERN.options, patience: HASTY },
    middle: swallowing(({ params }) =>
      actions(objectOf(objectOf(params)['inputResponses'])).includes('cancel'),
    ),
  },
  ...(['decline', 'cancel'] as const).map((action) => ({
    ...ASKING_LEGACY,
    check: `questions/bears-${action}`,
    fault: `waits on when the user answers with ${action}`,
    options: { ...ASKING_LEGACY.options, patience: HASTY },
    middle: afterTheWalkthrough(swallowing(({ result }) => objectOf(result)['action'] === action)),
  })),
  {
    ...ASKING_MODERN,
    check: 'rounds/bears-no-answer',
    fault: 'stops when eight questions were not answered',
    options: { ...ASKING_MODERN.options, patience: HASTY },
    middle: () => {
      let open = 0;
      return {
        incoming(message) {
          if (objectOf(message['params'])['inputResponses'] !== undefined) open--;
          return open >= 8 ? undefined : message;
        },
        outgoing(message) {
          if (isRound(message['result'])) open++;
          return message;
        },
      };
    },
  },
  {
    ...ASKING_MODERN,
    check: 'questions/judges-the-form',
    fault: 'accepts any form',
    middle: answeringRetries(() => DONE),
  },
  {
    ...ASKING_LEGACY,
    check: 'questions/judges-the-form',
    fault: 'accepts any form',
    middle: () => ({
      incoming: (message) =>
        message['result'] === undefined
          ? message
          : { ...message, result: { action: 'accept', content: { name: 'Ada' } } },
    }),
  },
  ...[
    'rounds/refuses-changed-state',
    'rounds/state-belongs-to-its-request',
    'rounds/state-belongs-to-its-arguments',
  ].map((check) => ({
    ...ASKING_MODERN,
    check,
    fault: 'accepts any state',
    seen: /complete result/,
    middle: answeringRetries((answers) => (Object.keys(answers).length > 0 ? DONE : undefined)),
  })),
  {
    ...ASKING_MODERN,
    check: 'rounds/bears-any-state',
    fault: 'does not answer a state that is not a string',
    seen: /no answer/,
    options: { ...ASKING_MODERN.options, patience: HASTY },
    middle: swallowing(({ params }) => typeof (objectOf(params)['requestState'] ?? '') !== 'string'),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/bears-any-state',
    fault: 'stops answering after a long state',
    options: { ...ASKING_MODERN.options, patience: HASTY },
    middle: () => {
      let isHurt = false;
      return {
        incoming(message) {
          if (String(objectOf(message['params'])['requestState'] ?? '').length > 50_000) isHurt = true;
          return isHurt && message['method'] === 'server/discover' ? undefined : message;
        },
      };
    },
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/answers-a-replay',
    fault: 'does not answer a state that was used before',
    options: { ...ASKING_MODERN.options, patience: HASTY },
    middle: () => {
      const used = new Set<unknown>();
      return {
        incoming(message) {
          const state = objectOf(message['params'])['requestState'];
          if (state !== undefined && used.has(state)) return undefined;
          used.add(state);
          return message;
        },
      };
    },
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/keeps-parallel-rounds-apart',
    fault: 'knows only one round at a time',
    middle: () => {
      let isOpen = false;
      return {
        incoming(message, io) {
          if (objectOf(message['params'])['inputResponses'] === undefined) return message;
          if (isOpen) {
            isOpen = false;
            return message;
          }
          io.reply({ jsonrpc: '2.0', id: message['id'], ...REFUSED });
          return undefined;
        },
        outgoing(message) {
          if (isRound(message['result'])) isOpen = true;
          return message;
        },
      };
    },
  },
  ...['questions/none-to-a-client-without-capabilities', 'questions/only-declared-kinds'].flatMap((check) => [
    { ...ASKING_MODERN, check, fault: 'asks clients without the capability', middle: askingAnybody },
    { ...ASKING_LEGACY, check, fault: 'asks clients without the capability', middle: askingAnybody },
  ]),
  {
    ...ASKING_LEGACY,
    check: 'questions/none-undeclared-in-old-revisions',
    fault: 'asks clients without the capability',
    middle: askingAnybody,
  },
];

const EVERYTHING = { roots: {}, sampling: { tools: {} }, elicitation: { form: {}, url: {} } };
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** Every client can do everything, it thinks. */
function askingAnybody(): Middle {
  return asking((params, method) =>
    method === 'initialize'
      ? { ...params, capabilities: EVERYTHING }
      : { ...params, _meta: withCapabilities(objectOf(params['_meta'])) },
  )();
}

function withCapabilities(meta: Readonly<Record<string, unknown>>) {
  return meta[CAPABILITIES] === undefined ? meta : { ...meta, [CAPABILITIES]: EVERYTHING };
}

function swallowing(which: (message: Readonly<Record<string, unknown>>) => boolean): () => Middle {
  return () => ({ incoming: (message) => (which(message) ? undefined : message) });
}

function actions(answers: Readonly<Record<string, unknown>>): unknown[] {
  return Object.values(answers).map((answer) => objectOf(answer)['action']);
}
