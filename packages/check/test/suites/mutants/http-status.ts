import { small, smallModern } from '../../support/suites/http-bases.js';
import type { AnyMutant } from '../../support/suites/mutant.js';
import { events, methodOf, nameIn, refuse, respond, status, when } from './http-faults.js';

const modern = { base: small, options: { eras: ['modern'] } } as const;
const PROGRESS = {
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: 'isthmus-check-1', progress: 1 },
};

export const httpStatusMutants: readonly AnyMutant[] = [
  {
    ...modern,
    check: 'http-status/unknown-method',
    fault: 'sends -32601 with status 200',
    proxy: () => status(404, 200),
  },
  {
    ...modern,
    check: 'http-status/missing-capability',
    fault: 'sends -32021 with status 200',
    proxy: () => status(400, 200, (request) => nameIn(request) === 'ask'),
  },
  {
    ...modern,
    check: 'http-status/one-endpoint',
    fault: 'serves some methods elsewhere',
    options: { eras: ['modern'] },
    proxy: () =>
      when(
        (request) => methodOf(request) === 'prompts/list',
        () => respond(404, 'Not here', 'text/html'),
      ),
  },
  {
    base: small,
    check: 'http-status/json-or-events',
    fault: 'sends JSON as text/plain',
    era: 'modern',
    proxy: () => ({
      response: ({ headers }) =>
        headers['content-type'] === 'application/json'
          ? { headers: { ...headers, 'content-type': 'text/plain' } }
          : undefined,
    }),
  },
  {
    base: small,
    check: 'http-status/refusal-names-request',
    fault: 'forgets the id in errors',
    proxy: () => ({
      message: ({ id, ...rest }) => (rest['error'] ? { ...rest, id: null } : { ...rest, id }),
    }),
  },
  {
    base: small,
    check: 'http-status/notification-accepted',
    fault: 'answers notifications',
    proxy: () =>
      when(
        (request) => methodOf(request) === 'notifications/cancelled',
        () => respond(200, { jsonrpc: '2.0', id: null, result: {} }),
      ),
  },
  {
    base: small,
    check: 'http-status/malformed-notification',
    fault: 'accepts any notification',
    proxy: () =>
      when(
        (request) => methodOf(request) === 7,
        () => respond(202),
      ),
  },
  {
    ...modern,
    check: 'http-modern/no-session',
    fault: 'gives modern clients a session',
    proxy: () => ({ response: ({ headers }) => ({ headers: { ...headers, 'mcp-session-id': 'abc' } }) }),
  },
  {
    ...modern,
    check: 'http-modern/session-ignored',
    fault: 'looks for the session of a modern request',
    proxy: () =>
      when(
        ({ headers }) => headers['mcp-session-id'],
        () => refuse(404),
      ),
  },
  {
    ...modern,
    check: 'http-modern/session-ignored',
    fault: 'repeats the session id',
    proxy: () => ({
      response: ({ headers }, request) => ({
        headers: { ...headers, 'mcp-session-id': request.headers['mcp-session-id'] },
      }),
    }),
  },
  {
    ...modern,
    check: 'http-modern/last-event-id-ignored',
    fault: 'tries to resume a modern request',
    proxy: () =>
      when(
        ({ headers }) => headers['last-event-id'],
        () => refuse(400),
      ),
  },
  {
    base: smallModern,
    check: 'http-modern/get-and-delete',
    fault: 'has never heard of GET',
    proxy: () => status(405, 404),
  },
  {
    base: smallModern,
    check: 'http-modern/initialize-refused',
    fault: 'answers initialize with 200 and an error',
    proxy: () => status(400, 200, (request) => methodOf(request) === 'initialize'),
  },
  {
    base: small,
    check: 'http-streams/end-with-response',
    fault: 'leaves streams open',
    proxy: () => ({ end: ({ json }) => nameOfCall(json) !== 'count' }),
  },
  {
    base: small,
    check: 'http-streams/end-with-response',
    fault: 'goes on after the response',
    proxy: () => ({
      event: (event) =>
        event.includes('"result"') ? `${event}data: ${JSON.stringify(PROGRESS)}\n\n` : event,
    }),
  },
  {
    ...modern,
    check: 'http-streams/no-requests',
    fault: 'asks on a modern stream',
    proxy: () => ({
      event: (event) => `data: {"jsonrpc":"2.0","id":1,"method":"roots/list"}\n\n${event}`,
    }),
  },
  {
    ...modern,
    check: 'http-streams/not-buffered',
    fault: 'does not mind buffers',
    proxy: () => ({
      response: ({ headers }) => ({ headers: { ...headers, 'x-accel-buffering': undefined } }),
    }),
  },
  {
    ...modern,
    check: 'http-streams/not-resumable',
    fault: 'replays modern streams',
    proxy: () => ({
      event: (event) => `id: 1\n${event}`,
      ...when(
        ({ method, headers }) => method === 'GET' && headers['last-event-id'],
        () => events(PROGRESS),
      ),
    }),
  },
  {
    ...modern,
    check: 'http-streams/own-notifications',
    fault: 'sends all progress to all streams',
    proxy: () => ({
      message: (message) => (message['method'] === 'notifications/progress' ? [message, PROGRESS] : message),
    }),
  },
  {
    ...modern,
    check: 'http-streams/listen-has-no-progress',
    fault: 'sends progress to listeners',
    proxy: () => ({
      event: (event, { json }) =>
        json?.['method'] === 'subscriptions/listen' ? `${event}data: ${JSON.stringify(PROGRESS)}\n\n` : event,
    }),
  },
  {
    ...modern,
    check: 'http-streams/hang-up',
    fault: 'falls over when a client hangs up',
    proxy: () => {
      let hasFallen = false;
      return {
        hungUp: ({ json }) => {
          if (String(json?.['id']).startsWith('gone')) hasFallen = true;
        },
        ...when(
          () => hasFallen,
          () => respond(500),
        ),
      };
    },
  },
  {
    ...modern,
    check: 'http-streams/hang-up',
    fault: 'sends others what its own client did not receive',
    proxy: () => {
      let news = '';
      return {
        hungUp: () => {
          news = `data: ${JSON.stringify({ ...PROGRESS, params: { progressToken: 'gone', progress: 1 } })}\n\n`;
        },
        event: (event, { json }) => (json?.['id'] === 'after' ? `${news}${event}` : event),
      };
    },
  },
];

function nameOfCall(json: unknown): unknown {
  return (json as { params?: { name?: unknown } } | undefined)?.params?.name;
}
