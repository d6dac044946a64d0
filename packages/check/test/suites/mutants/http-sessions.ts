import { small } from '../../support/suites/http-bases.js';
import type { AnyMutant, ProxyHooks } from '../../support/suites/mutant.js';
import { events, methodOf, refuse, respond, status, when, withHeaders } from './http-faults.js';

const about = { base: small, options: { eras: ['legacy'] } } as const;
const PROGRESS = {
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: 'isthmus-check', progress: 1 },
};

export const httpSessionMutants: readonly AnyMutant[] = [
  {
    ...about,
    check: 'http-session/visible-ascii',
    fault: 'has a blank in its session ids',
    proxy: () => renaming((id) => `a ${id}`),
  },
  {
    ...about,
    check: 'http-session/strong-ids',
    fault: 'counts its sessions',
    proxy: () => {
      let count = 0;
      return renaming(() => `session-of-small-server-${++count}`);
    },
  },
  {
    ...about,
    check: 'http-session/strong-ids',
    fault: 'has short session ids',
    proxy: () => renaming((id) => id.slice(0, 6)),
  },
  {
    ...about,
    check: 'http-session/required',
    fault: 'serves requests without a session id',
    proxy: () => {
      let last: string | undefined;
      return {
        request: (request) => {
          if (methodOf(request) === 'initialize') return undefined;
          last = request.headers['mcp-session-id'] ?? last;
          return withHeaders(request, { 'mcp-session-id': last });
        },
      };
    },
  },
  {
    ...about,
    check: 'http-session/unknown',
    fault: 'answers unknown sessions with 400',
    proxy: () => status(404, 400),
  },
  {
    ...about,
    check: 'http-session/ended',
    fault: 'accepts DELETE, but does not end the session',
    proxy: () =>
      when(
        ({ method }) => method === 'DELETE',
        () => respond(204),
      ),
  },
  {
    ...about,
    check: 'http-session/ended',
    fault: 'fails on DELETE',
    proxy: () =>
      when(
        ({ method }) => method === 'DELETE',
        () => respond(500),
      ),
  },
  {
    ...about,
    check: 'http-session/isolated',
    fault: 'knows requests by their ids alone',
    proxy: () => {
      const known = new Map<unknown, unknown>();
      return {
        message(message) {
          const id = message['id'];
          if (typeof id !== 'number' || id < 100) return message;
          if (!known.has(id)) known.set(id, message['result']);
          return { ...message, result: known.get(id) };
        },
      };
    },
  },
  {
    ...about,
    check: 'http-session/own-notifications',
    fault: 'sends the progress of all calls to every session',
    proxy: () =>
      when(
        ({ method }) => method === 'GET',
        () => events({ ...PROGRESS, params: { progressToken: 'isthmus-check-one', progress: 1 } }),
      ),
  },
  {
    ...about,
    check: 'http-legacy/version-invalid',
    fault: 'does not look at the version',
    proxy: () =>
      when(
        ({ headers }) => headers['mcp-protocol-version'],
        (request) => withHeaders(request, { 'mcp-protocol-version': '2025-11-25' }),
      ),
  },
  {
    ...about,
    check: 'http-legacy/version-missing',
    fault: 'insists on the version header',
    proxy: () =>
      when(
        (request) => methodOf(request) === 'ping' && request.headers['mcp-protocol-version'] === undefined,
        () => refuse(400),
      ),
  },
  {
    ...about,
    check: 'http-legacy/get',
    fault: 'has no valid answer to GET',
    proxy: () =>
      when(
        ({ method }) => method === 'GET',
        () => respond(404),
      ),
  },
  {
    ...about,
    check: 'http-legacy/get',
    fault: 'answers GET with JSON',
    proxy: () =>
      when(
        ({ method }) => method === 'GET',
        () => respond(200, {}),
      ),
  },
  {
    ...about,
    check: 'http-legacy/get-without-accept',
    fault: 'opens a stream for any Accept header',
    proxy: () =>
      when(
        ({ method }) => method === 'GET',
        (request) => withHeaders(request, { accept: 'text/event-stream' }),
      ),
  },
  {
    ...about,
    check: 'http-legacy/responses-where-asked',
    fault: 'sends responses to the standing stream, too',
    proxy: () =>
      when(
        ({ method }) => method === 'GET',
        () => events({ jsonrpc: '2.0', id: 'here-0', result: {} }),
      ),
  },
  {
    ...about,
    check: 'http-legacy/responses-where-asked',
    fault: 'answers one POST with the response of another',
    proxy: () => ({
      message: (message) => (message['id'] === 'here-3' ? { ...message, id: 'here-4' } : message),
    }),
  },
  {
    ...about,
    check: 'http-legacy/one-stream-each',
    fault: 'broadcasts',
    proxy: () => ({
      message: (message) => (JSON.stringify(message).includes('"isthmus-check"') ? PROGRESS : message),
      ...when(
        ({ method }) => method === 'GET',
        () => events(PROGRESS),
      ),
    }),
  },
  {
    ...about,
    check: 'http-legacy/standing-stream-unrelated',
    fault: 'sends progress to the standing stream',
    proxy: () =>
      when(
        ({ method }) => method === 'GET',
        () => events(PROGRESS),
      ),
  },
  {
    ...about,
    check: 'http-legacy/stray-response',
    fault: 'answers responses',
    proxy: () =>
      when(
        ({ json }) => json?.['id'] === 'isthmus-check-none',
        () => respond(200, {}),
      ),
  },
  {
    ...about,
    check: 'http-resume/unique-ids',
    fault: 'numbers the events of every stream from 1',
    proxy: () => ({ event: (event) => event.replace(/^id: .*$/m, 'id: 1') }),
  },
  {
    ...about,
    check: 'http-resume/primed',
    fault: 'begins streams with a message',
    proxy: () => ({ event: (event) => (/^data: ?$/m.test(event) ? '' : event) }),
  },
  {
    ...about,
    check: 'http-resume/retry-before-early-end',
    fault: 'ends streams without retry',
    proxy: () => ({
      event: (event) => (event.includes('"result"') ? '' : event.replace(/^retry: .*\n/m, '')),
    }),
  },
  {
    ...about,
    check: 'http-resume/own-stream-only',
    fault: 'replays what belongs to another stream',
    proxy: () =>
      when(
        ({ headers }) => headers['last-event-id'],
        () => events({ jsonrpc: '2.0', id: 'other', result: {} }),
      ),
  },
  {
    ...about,
    check: 'http-resume/answer-survives',
    fault: 'forgets calls whose stream was lost',
    proxy: () =>
      when(
        ({ headers }) => headers['last-event-id'],
        () => events(),
      ),
  },
  {
    ...about,
    check: 'http-resume/unknown-event',
    fault: 'fails on events that it does not know',
    proxy: () =>
      when(
        ({ headers }) => headers['last-event-id'],
        () => respond(500),
      ),
  },
];

/** Gives sessions other ids. */
function renaming(rename: (id: string) => string): ProxyHooks {
  const real = new Map<string, string>();
  return {
    request: (request) => {
      const id = request.headers['mcp-session-id'];
      return id === undefined ? undefined : withHeaders(request, { 'mcp-session-id': real.get(id) ?? id });
    },
    response: ({ headers }, request) => {
      const id = headers['mcp-session-id'];
      if (id === undefined || methodOf(request) !== 'initialize') return undefined;
      const name = rename(id);
      real.set(name, id);
      return { headers: { ...headers, 'mcp-session-id': name } };
    },
  };
}
