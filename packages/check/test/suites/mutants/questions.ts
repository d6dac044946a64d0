import { changing } from '../../support/suites/altered.js';
import {
  ASKING_LEGACY,
  ASKING_MODERN,
  asking,
  changingQuestions,
  HASTY,
  objectOf,
} from '../../support/suites/asking-faults.js';
import type { AnyMutant, Middle } from '../../support/suites/mutant.js';

interface Wording {
  readonly check: string;
  readonly fault: string;
  readonly method: string;
  readonly change: (params: Readonly<Record<string, unknown>>) => Record<string, unknown>;
}

/** Questions that are not well put, in either era. */
const WORDINGS: readonly Wording[] = [
  {
    check: 'questions/elicitation-has-a-message',
    fault: 'does not say what it asks for',
    method: 'elicitation/create',
    change: ({ message: _message, ...rest }) => rest,
  },
  {
    check: 'questions/form-is-flat',
    fault: 'asks for a form within a form',
    method: 'elicitation/create',
    change: (params) =>
      params['mode'] === 'url'
        ? params
        : { ...params, requestedSchema: { type: 'object', properties: { address: { type: 'object' } } } },
  },
  {
    check: 'questions/url-is-one',
    fault: 'sends users to no URL at all',
    method: 'elicitation/create',
    change: (params) => (params['mode'] === 'url' ? { ...params, url: 'sign in here' } : params),
  },
  {
    check: 'questions/sampling-has-messages',
    fault: 'does not say how long the answer may be',
    method: 'sampling/createMessage',
    change: ({ maxTokens: _most, ...rest }) => rest,
  },
  {
    check: 'questions/sampling-answers-tool-uses',
    fault: 'leaves a tool use without its result',
    method: 'sampling/createMessage',
    change: (params) => ({
      ...params,
      messages: [
        { role: 'assistant', content: { type: 'tool_use', id: 'use 1', name: 'add', input: {} } },
        { role: 'user', content: { type: 'text', text: 'Well?' } },
      ],
    }),
  },
  {
    check: 'questions/no-foreign-context',
    fault: 'wants to read along with all servers',
    method: 'sampling/createMessage',
    change: (params) => ({ ...params, includeContext: 'allServers' }),
  },
  {
    check: 'questions/no-secrets-in-forms',
    fault: 'asks for a password',
    method: 'elicitation/create',
    change: (params) =>
      params['mode'] === 'url'
        ? params
        : { ...params, requestedSchema: { type: 'object', properties: { password: { type: 'string' } } } },
  },
  {
    check: 'questions/no-secrets-in-urls',
    fault: 'puts credentials into the URL of an elicitation',
    method: 'elicitation/create',
    change: (params) =>
      params['mode'] === 'url' ? { ...params, url: 'https://example.com/?access_token=1' } : params,
  },
  {
    check: 'questions/url-is-https',
    fault: 'sends users to a page without HTTPS',
    method: 'elicitation/create',
    change: (params) => (params['mode'] === 'url' ? { ...params, url: 'http://example.com/' } : params),
  },
  {
    check: 'questions/no-links-in-forms',
    fault: 'has a link in a form',
    method: 'elicitation/create',
    change: (params) =>
      params['mode'] === 'url'
        ? params
        : {
            ...params,
            requestedSchema: {
              type: 'object',
              properties: { code: { type: 'string', description: 'from https://example.com/' } },
            },
          },
  },
  {
    check: 'questions/sampling-tools-only-if-declared',
    fault: 'gives tools to models that take none',
    method: 'sampling/createMessage',
    change: (params) => ({ ...params, tools: [] }),
  },
];

export const questionsMutants: readonly AnyMutant[] = [
  ...WORDINGS.flatMap(({ check, fault, method, change }) => [
    { ...ASKING_MODERN, check, fault, middle: changingQuestions(method, change) },
    { ...ASKING_LEGACY, check, fault, middle: changingQuestions(method, change) },
  ]),
  {
    ...ASKING_LEGACY,
    check: 'questions/url-is-one',
    fault: 'gives no elicitationId',
    seen: /elicitationId/,
    middle: changingQuestions('elicitation/create', ({ elicitationId: _id, ...rest }) => rest),
  },
  {
    ...ASKING_MODERN,
    check: 'questions/nothing-of-2025',
    fault: 'gives an elicitationId',
    seen: /elicitationId/,
    middle: changingQuestions('elicitation/create', (params) => ({ ...params, elicitationId: 'e1' })),
  },
  ...[ASKING_MODERN, ASKING_LEGACY].map((era) => ({
    ...era,
    check: 'questions/only-declared-modes',
    fault: 'uses mode url without elicitation.url',
    middle: takingAllModes,
  })),
  {
    ...ASKING_MODERN,
    check: 'rounds/names-the-missing-capability',
    fault: 'uses another error code for missing capabilities',
    seen: /-32603/,
    middle: changing((answer) =>
      objectOf(answer['error'])['code'] === -32021
        ? { ...answer, error: { code: -32603, message: 'no' } }
        : undefined,
    ),
  },
  {
    ...ASKING_MODERN,
    check: 'rounds/names-the-missing-capability',
    fault: 'does not say which capability is missing',
    seen: /without data/,
    middle: changing((answer) =>
      objectOf(answer['error'])['code'] === -32021
        ? { ...answer, error: { code: -32021, message: 'no' } }
        : undefined,
    ),
  },
  {
    ...ASKING_LEGACY,
    check: 'questions/ids-are-never-reused',
    fault: 'gives all its requests the same id',
    middle: () => {
      let real: unknown;
      return {
        outgoing(message) {
          if (message['id'] === undefined || message['method'] === undefined) return message;
          real = message['id'];
          return { ...message, id: 'the one' };
        },
        incoming: (message) => (message['id'] === 'the one' ? { ...message, id: real } : message),
      };
    },
  },
  {
    ...ASKING_LEGACY,
    check: 'questions/of-its-revision',
    fault: 'wants to list the tools of the client',
    seen: /tools\/list/,
    middle: () => ({
      outgoing: (message) =>
        objectOf(message['result'])['tools'] === undefined
          ? message
          : [message, { jsonrpc: '2.0', id: 'mine', method: 'tools/list' }],
      incoming: (message) => (message['id'] === 'mine' ? undefined : message),
    }),
  },
  {
    ...ASKING_LEGACY,
    check: 'questions/answers-lead-to-a-result',
    fault: 'never reads the answer',
    options: { ...ASKING_LEGACY.options, patience: HASTY },
    middle: () => ({
      incoming: (message) => (objectOf(message['result'])['action'] === 'accept' ? undefined : message),
    }),
  },
  {
    ...ASKING_LEGACY,
    check: 'questions/bears-refusal',
    fault: 'waits on for an answer that was refused',
    options: { ...ASKING_LEGACY.options, patience: HASTY },
    middle: () => ({ incoming: (message) => (message['error'] === undefined ? message : undefined) }),
  },
];

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

function takingAllModes(): Middle {
  const all = (capabilities: Readonly<Record<string, unknown>>) =>
    capabilities['elicitation'] === undefined
      ? capabilities
      : { ...capabilities, elicitation: { form: {}, url: {} } };
  return asking((params, method) => {
    if (method === 'initialize') return { ...params, capabilities: all(objectOf(params['capabilities'])) };
    const meta = objectOf(params['_meta']);
    return { ...params, _meta: { ...meta, [CAPABILITIES]: all(objectOf(meta[CAPABILITIES])) } };
  })();
}
