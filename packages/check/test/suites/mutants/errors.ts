import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { answering, changing, changingResult } from '../../support/suites/altered.js';
import type { AnyMutant } from '../../support/suites/mutant.js';

const MODERN = { eras: ['modern'] } as const;
const LEGACY = { eras: ['legacy'] } as const;

/** The walkthrough reads all resources that are listed: one of them fails in its own way. */
const failing = (error: unknown) =>
  answering(({ method, params }) =>
    method === 'resources/read' && params['uri'] === 'demo://clock' ? { error } : undefined,
  );

const coded = (check: string, code: number, more: Partial<AnyMutant> = {}): AnyMutant =>
  ({
    check,
    fault: `sends error ${code}`,
    seen: new RegExp(String(code)),
    options: MODERN,
    middle: failing({ code, message: 'No' }),
    ...more,
  }) as AnyMutant;

const serving = (check: string, asked: string): AnyMutant => ({
  check,
  fault: `serves ${asked} in the modern era`,
  seen: /result/,
  options: MODERN,
  middle: answering(({ method }) => (method === asked ? { result: { resultType: 'complete' } } : undefined)),
});

export const errorMutants: readonly AnyMutant[] = [
  {
    check: 'errors/unknown-method',
    fault: 'answers an unknown method with -32600',
    seen: /-32600/,
    options: MODERN,
    middle: answering(({ method }) =>
      method.startsWith('isthmus_check/') ? { error: { code: -32600, message: 'What?' } } : undefined,
    ),
  },
  {
    check: 'errors/legacy-unknown-method',
    fault: 'has a result for anything',
    seen: /an empty result/,
    options: LEGACY,
    middle: answering(({ method }) => (method.startsWith('isthmus_check/') ? { result: {} } : undefined)),
  },
  serving('errors/no-ping', 'ping'),
  serving('errors/no-set-level', 'logging/setLevel'),
  serving('errors/no-subscribe', 'resources/subscribe'),
  serving('errors/no-tasks-list', 'tasks/list'),
  {
    check: 'errors/shape',
    fault: 'uses strings as error codes',
    seen: /error\.code: expected an integer, got "NOT_FOUND"/,
    middle: failing({ code: 'NOT_FOUND', message: 'No' }),
  },
  {
    check: 'errors/shape',
    fault: 'sends errors without a message',
    seen: /error\.message: expected a string, got nothing/,
    options: LEGACY,
    middle: failing({ code: -32603 }),
  },
  {
    check: 'errors/shape',
    fault: 'does not name the required capabilities',
    seen: /requiredCapabilities/,
    options: MODERN,
    middle: failing({ code: -32021, message: 'More', data: {} }),
  },
  {
    check: 'errors/message-short',
    fault: 'shows its stack',
    seen: /has 2 lines/,
    options: LEGACY,
    middle: failing({ code: -32603, message: 'Error: no\n    at read (server.js:1:1)' }),
  },
  {
    check: 'errors/message-short',
    fault: 'sends very long error messages',
    seen: /has 500 characters/,
    options: MODERN,
    middle: failing({ code: -32603, message: 'x'.repeat(500) }),
  },
  coded('errors/reserved-codes', -32050),
  coded('errors/reserved-codes', -32042),
  coded('errors/old-resource-code', -32002),
  coded('errors/own-codes', -32001),
  coded('errors/own-codes', -32500),
  coded('errors/codes-mean-it', -32020),
  coded('errors/codes-mean-it', -32022),
];

/** Changes every result. */
const everywhere = (change: (result: JsonObject, method: string) => JsonObject) =>
  changing((answer, { method }) =>
    isJsonObject(answer['result']) ? { ...answer, result: change(answer['result'], method) } : undefined,
  );

const withMeta = (key: string) => (result: JsonObject) => ({
  ...result,
  _meta: { ...(result['_meta'] as JsonObject | undefined), [key]: 1 },
});

export const resultMutants: readonly AnyMutant[] = [
  {
    check: 'results/type',
    fault: 'leaves out resultType in results of tools',
    seen: /absent in the result of tools\/call/,
    options: MODERN,
    middle: changingResult('tools/call', ({ resultType: _, ...rest }) => rest),
  },
  {
    check: 'results/type-known',
    fault: 'answers with a task that was not requested',
    seen: /"task"/,
    options: MODERN,
    middle: changingResult('tools/call', (result) => ({ ...result, resultType: 'task' })),
  },
  {
    check: 'results/type-true',
    fault: 'marks a question as complete',
    seen: /"complete", but it has inputRequests/,
    options: MODERN,
    middle: changingResult('tools/call', (result) => ({ ...result, resultType: 'complete' })),
  },
  {
    check: 'results/type-true',
    fault: 'sends input_required without a question',
    seen: /there is no question/,
    options: MODERN,
    middle: changingResult('prompts/get', (result) => ({ ...result, resultType: 'input_required' })),
  },
  {
    check: 'results/server-info',
    fault: 'identifies itself only in server/discover',
    seen: /absent in the result of tools\/list/,
    options: MODERN,
    middle: everywhere(({ _meta, ...rest }, method) =>
      method === 'server/discover' ? { _meta, ...rest } : rest,
    ),
  },
  {
    check: 'results/server-info',
    fault: 'has no version',
    seen: /"name":"demo"/,
    options: MODERN,
    middle: changingResult('prompts/list', (result) => ({
      ...result,
      _meta: { [META.serverInfo]: { name: 'demo' } },
    })),
  },
  {
    check: 'results/meta-keys',
    fault: 'begins a key with an underscore',
    seen: /"_mine"/,
    options: MODERN,
    middle: changingResult('tools/list', withMeta('_mine')),
  },
  {
    check: 'results/meta-keys',
    fault: 'has a prefix with an empty label',
    seen: /"com\.\.example\/mine"/,
    options: LEGACY,
    middle: changingResult('prompts/list', withMeta('com..example/mine')),
  },
  {
    check: 'results/meta-keys',
    fault: 'has a bad key in a notification',
    seen: /"-mine"/,
    options: LEGACY,
    middle: () => ({
      outgoing: (message) =>
        message['method'] === 'notifications/progress'
          ? { ...message, params: withMeta('-mine')(message['params'] as JsonObject) }
          : message,
    }),
  },
  {
    check: 'results/meta-reserved',
    fault: 'moves in with MCP',
    seen: /com\.mcp\.tools\/mine/,
    options: MODERN,
    middle: changingResult('tools/list', withMeta('com.mcp.tools/mine')),
  },
  {
    check: 'results/meta-reserved',
    fault: 'moves in with MCP in its notifications',
    seen: /dev\.mcp\/mine/,
    options: LEGACY,
    middle: () => ({
      outgoing: (message) =>
        message['method'] === 'notifications/progress'
          ? { ...message, params: withMeta('dev.mcp/mine')(message['params'] as JsonObject) }
          : message,
    }),
  },
  {
    check: 'results/trace-context',
    fault: 'has an invalid traceparent',
    seen: /traceparent is 1/,
    options: MODERN,
    middle: changingResult('tools/list', withMeta('traceparent')),
  },
];
