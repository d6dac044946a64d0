import { small, smallGuarded, smallWithSse } from '../../support/suites/http-bases.js';
import type { AnyMutant, ProxyHooks } from '../../support/suites/mutant.js';
import { events, methodOf, refuse, respond, status, when, withHeaders } from './http-faults.js';

const modern = { base: small, options: { eras: ['modern'] } } as const;
const guarded = { base: smallGuarded, options: { eras: ['modern'] } } as const;
const TOKEN = 'Bearer sesame-7';
/** Clients then look at the well-known address. */
const BARE_CHALLENGE: ProxyHooks = {
  response: ({ headers }) => ({
    headers: { ...headers, ...(headers['www-authenticate'] && { 'www-authenticate': 'Bearer' }) },
  }),
};
const isMetadata = ({ url }: { readonly url: string }) => url.startsWith('/.well-known/');

export const httpClientMutants: readonly AnyMutant[] = [
  {
    base: small,
    check: 'http-clients/concurrent',
    fault: 'mixes up who asked what',
    proxy: () => ({
      message: (message) => (message['id'] === 'at-once-3' ? { ...message, id: 'at-once-4' } : message),
    }),
  },
  {
    base: small,
    check: 'http-clients/eras-apart',
    fault: 'looks for the session of a modern request',
    proxy: () =>
      when(
        (request) => methodOf(request) === 'server/discover' && request.headers['mcp-session-id'],
        () => refuse(404),
      ),
  },
  {
    base: small,
    check: 'http-clients/eras-apart',
    fault: 'answers a legacy session in the shape of the modern era',
    seen: /resultType/,
    proxy: () => ({
      message: (message, request) =>
        methodOf(request) === 'ping' ? { ...message, result: { resultType: 'complete' } } : message,
    }),
  },
  {
    ...modern,
    check: 'http-clients/accept-spellings',
    fault: 'accepts only one order in Accept',
    proxy: () =>
      when(
        ({ headers }) => headers['accept'] !== 'application/json, text/event-stream',
        () => refuse(406),
      ),
  },
  {
    ...modern,
    check: 'http-clients/not-accepted',
    fault: 'sends events to all clients',
    proxy: () =>
      when(
        ({ headers }) => headers['accept'] === 'application/json',
        ({ json }) => events({ jsonrpc: '2.0', id: json?.['id'], result: {} }),
      ),
  },
  {
    base: smallWithSse,
    options: { eras: ['legacy'] },
    check: 'http-sse/endpoint-first',
    fault: 'sends no endpoint event',
    proxy: () => ({ event: (event) => event.replace(/^event: endpoint\n/m, '') }),
  },
  {
    base: smallWithSse,
    options: { eras: ['legacy'] },
    check: 'http-sse/answers-on-stream',
    fault: 'answers in the POST',
    proxy: () =>
      when(
        ({ method, url }) => method === 'POST' && url.startsWith('/message'),
        () => respond(200, { jsonrpc: '2.0', id: 'old', result: {} }),
      ),
  },
  {
    ...guarded,
    check: 'http-auth/token-required',
    fault: 'takes any token',
    proxy: () =>
      when(
        ({ headers }) => headers['authorization'],
        (request) => withHeaders(request, { authorization: TOKEN }),
      ),
  },
  {
    ...guarded,
    check: 'http-auth/token-required',
    fault: 'sends strangers away with 403',
    seen: /403/,
    proxy: () => status(401, 403),
  },
  {
    base: smallGuarded,
    era: 'legacy',
    check: 'http-auth/every-request',
    fault: 'accepts a session id instead of a token',
    proxy: () =>
      when(
        ({ headers }) => headers['mcp-session-id'],
        (request) => withHeaders(request, { authorization: TOKEN }),
      ),
  },
  {
    ...guarded,
    check: 'http-auth/every-request',
    fault: 'asks once',
    proxy: () => {
      let hasAsked = false;
      return {
        request: (request) => {
          if (request.headers['authorization'] !== undefined) return undefined;
          if (hasAsked) return withHeaders(request, { authorization: TOKEN });
          hasAsked = true;
          return undefined;
        },
      };
    },
  },
  {
    ...guarded,
    check: 'http-auth/challenge',
    fault: 'does not say what it asks for',
    proxy: () => ({
      response: ({ headers }) => ({ headers: { ...headers, 'www-authenticate': undefined } }),
    }),
  },
  {
    ...guarded,
    check: 'http-auth/metadata-found',
    fault: 'hides its metadata',
    proxy: () => ({ ...BARE_CHALLENGE, ...when(isMetadata, () => respond(404)) }),
  },
  {
    ...guarded,
    check: 'http-auth/metadata-sound',
    fault: 'names no authorization server',
    proxy: () => publishing({ authorization_servers: [] }),
  },
  {
    ...guarded,
    check: 'http-auth/metadata-sound',
    fault: 'sends its clients to an open address for tokens',
    proxy: () => publishing({ authorization_servers: ['http://login.example.com'] }),
  },
  {
    ...guarded,
    check: 'http-auth/scope',
    fault: 'does not say which scopes it takes',
    proxy: () =>
      publishing({ authorization_servers: ['https://login.example.com'], scopes_supported: ['use'] }),
  },
  {
    ...guarded,
    check: 'http-auth/no-offline-access',
    fault: 'asks for offline_access',
    proxy: () =>
      publishing({
        authorization_servers: ['https://login.example.com'],
        scopes_supported: ['offline_access'],
      }),
  },
];

function publishing(metadata: unknown): ProxyHooks {
  return { ...BARE_CHALLENGE, ...when(isMetadata, () => respond(200, metadata)) };
}
