import {
  allOf,
  type Breaking,
  ending,
  givesIn,
  heading,
  withHeader,
  without,
} from '../../support/client/break.js';
import { alsoAsking, asking, issued, registering, turning } from '../../support/client/break-login.js';
import type { Mutant } from '../../support/client/mutant.js';

const on = (check: string, fault: string, breaking: Breaking, scenario?: string): Mutant => ({
  check: `login/${check}`,
  fault,
  breaking,
  ...(scenario !== undefined && { scenario }),
});

/** It asks the authorization server for a page, or for a token. */
const opensPage = alsoAsking({ path: '/authorize?state=some-long-random-state' });
const redeems = (code = 'stage-code') =>
  alsoAsking({ method: 'POST', path: '/token', body: `grant_type=authorization_code&code=${code}` });
const setting = (kind: 'authorize' | 'token', name: string, value: string | undefined) =>
  asking(kind, (params) => (value === undefined ? params.delete(name) : params.set(name, value)));
const opens =
  (url: string): Breaking =>
  (transcript) => ({
    ...transcript,
    entries: [...transcript.entries, { kind: 'opened', at: transcript.end.at, life: 0, url }],
  });
const says =
  (text: string): Breaking =>
  (transcript) =>
    ending({ stderr: `${transcript.end.stderr}\n${text}` })(transcript);

const ROOT = '/.well-known/oauth-protected-resource';

/** Clients that log in, with one fault each. */
export const LOGIN: readonly Mutant[] = [
  on('works', 'gives up at 401', givesIn),
  on('challenges', 'reads the first challenge only', givesIn),
  on(
    'resource-metadata',
    'prefers the well-known address',
    turning((path) => path.replace('/right', '/wrong')),
  ),
  on('resource-metadata', 'asks the root first', alsoAsking({ path: ROOT }, 'start'), 'login-metadata-path'),
  on('resource-metadata', 'does not try the root', givesIn, 'login-metadata-root'),
  on('issuer-metadata', 'knows OAuth metadata only', givesIn),
  on(
    'issuer-metadata',
    'asks the root for an issuer with a path',
    alsoAsking({ path: '/.well-known/oauth-authorization-server' }),
    'login-issuer-path',
  ),
  on(
    'issuer-metadata',
    'asks for OpenID first',
    without((entry) => entry.kind === 'head' && entry.path.includes('oauth-authorization-server')),
    'login-issuer-path-openid',
  ),
  on('issuer-identical', 'does not compare the issuer', opensPage),
  on('resource-covers', 'does not compare the resource', opensPage),
  on(
    'safe-addresses',
    'asks any address',
    alsoAsking({ path: '/custom/metadata.json', headers: { host: '0.0.0.0:1' } }),
  ),
  on(
    'safe-addresses',
    'follows any redirect',
    alsoAsking({ path: '/custom/metadata.json', headers: { host: '0.0.0.0:1' } }),
    'login-private-redirect',
  ),
  on('older-servers', 'knows no default endpoints', givesIn),
  on(
    'older-servers',
    'always uses the default endpoints',
    turning((path) => path.replace('/own/', '/')),
    'login-2025-03-26-metadata',
  ),
  on(
    'redirect-uri',
    'comes back to any address',
    setting('authorize', 'redirect_uri', 'http://client.example/back'),
    'login-sound',
  ),
  on(
    'redirect-uri',
    'registers another redirect URI',
    registering((body) => ({ ...body, redirect_uris: ['https://client.example/back'] })),
    'login-sound',
  ),
  on('pkce', 'sends no challenge', setting('authorize', 'code_challenge', undefined), 'login-sound'),
  on('pkce', 'uses plain', setting('authorize', 'code_challenge_method', 'plain'), 'login-sound'),
  on('pkce', 'sends another verifier', setting('token', 'code_verifier', 'something-else'), 'login-sound'),
  on('pkce-announced', 'goes on without PKCE in the metadata', opensPage),
  on('resource-parameter', 'sends no resource', setting('authorize', 'resource', undefined)),
  on('resource-parameter', 'sends no resource for the token', setting('token', 'resource', undefined)),
  on('resource-parameter', 'names another server', setting('token', 'resource', 'https://other.example/mcp')),
  on(
    'resource-parameter',
    'sends no resource when it refreshes',
    asking('token', (params) => params.get('grant_type') === 'refresh_token' && params.delete('resource')),
    'login-expires',
  ),
  on(
    'resource-canonical',
    'adds a slash',
    asking('authorize', (params) => params.set('resource', `${params.get('resource')}/`)),
  ),
  on('state-sent', 'sends no state', setting('authorize', 'state', undefined), 'login-sound'),
  on('state-verified', 'does not compare the state', redeems('stage-code-forged')),
  on('iss-compared', 'does not look at iss', redeems()),
  on('iss-compared', 'looks at iss only if it is announced', redeems(), 'login-iss-unannounced'),
  on('iss-required', 'does not miss iss', redeems()),
  on('iss-exact', 'ignores a slash', redeems()),
  on('iss-exact', 'compares parsed addresses', redeems(), 'login-iss-capitals'),
  on('iss-error', 'shows the error', says('access_denied: call-the-number-on-this-page')),
  on('iss-error', 'opens error_uri', alsoAsking({ path: '/call-the-number-on-this-page' })),
  on(
    'issuer-recorded',
    'looks for the token endpoint again',
    alsoAsking({ method: 'POST', path: '/wrong/token', body: 'code=stage-code' }),
  ),
  on('pages', 'opens javascript: addresses', opens('javascript:alert(1)')),
  on('pages', 'opens files', opens('file:///etc/hosts'), 'login-file-page'),
  on('pages', 'opens pages without https', opens('http://login.example/authorize'), 'login-plain-page'),
  on(
    'no-shell',
    'opens pages through a shell',
    turning((path) => path.replace('$((6*7))', '42')),
  ),
  on(
    'no-shell',
    'opens pages through a shell without quotes',
    turning((path) => path.replace(/(\/authorize\/[^?]*\?[^&]*)&.*/, '$1')),
  ),
  on('given-client', 'registers although it has an id', setting('authorize', 'client_id', 'stage-client-1')),
  on('document-first', 'always registers', alsoAsking({ method: 'POST', path: '/register', body: '{}' })),
  on(
    'document-address',
    'has a document without https',
    setting('authorize', 'client_id', 'http://client.example/client.json'),
  ),
  on(
    'document-address',
    'has a document without a path',
    setting('authorize', 'client_id', 'https://client.example'),
  ),
  on(
    'application-type',
    'says no type',
    registering(({ application_type: _, ...body }) => body),
    'login-sound',
  ),
  on(
    'application-type',
    'is a web application on localhost',
    registering((body) => ({ ...body, application_type: 'web' })),
    'login-sound',
  ),
  on('registration-refused', 'goes on without an id', opensPage),
  on(
    'given-client-bound',
    'sends its secret to any server',
    alsoAsking({ method: 'POST', path: '/foreign/token', body: 'client_secret=stage-given-secret' }),
  ),
  on(
    'given-client-bound',
    'sends its id to any server',
    alsoAsking({ path: '/foreign/authorize?client_id=stage-given-client' }),
  ),
  on(
    'issuers-apart',
    'takes its refresh token along',
    alsoAsking((transcript) => ({
      method: 'POST',
      path: '/new/token',
      body: `refresh_token=${issued(transcript, 'refresh')}`,
    })),
  ),
  on(
    'bearer',
    'forgets its token on DELETE',
    heading(
      ({ method }): Record<string, undefined> => (method === 'DELETE' ? { authorization: undefined } : {}),
    ),
    'login-2025-03-26',
  ),
  on('bearer', 'sends its token once', allOf(withHeader('authorization', undefined)), 'login-sound'),
  on(
    'not-in-address',
    'sends its token in the query',
    (transcript) =>
      turning((path) => (path === '/mcp' ? `${path}?access_token=${issued(transcript, 'access')}` : path))(
        transcript,
      ),
    'login-sound',
  ),
  on('own-tokens', 'keeps the token of the old authorization server', (transcript) =>
    withHeader('authorization', `Bearer ${issued(transcript, 'access')}`)(transcript),
  ),
  on(
    'own-tokens',
    'takes its token along to another origin',
    alsoAsking((transcript) => ({
      method: 'POST',
      path: '/mcp',
      headers: { host: 'localhost:1', authorization: `Bearer ${issued(transcript, 'access')}` },
    })),
    'login-redirected',
  ),
  on('scopes', 'asks for everything', setting('authorize', 'scope', 'mcp:read mcp:write')),
  on(
    'scopes',
    'asks for the first scope only',
    setting('authorize', 'scope', 'mcp:read'),
    'login-scopes-listed',
  ),
  on(
    'scopes',
    'asks for the scopes of OpenID',
    setting('authorize', 'scope', 'openid email'),
    'login-scopes-unknown',
  ),
  on(
    'challenged-scope',
    'asks only for scopes that are listed',
    setting('authorize', 'scope', 'mcp:read mcp:write'),
  ),
  on(
    'step-up',
    'asks for the challenged scope alone',
    asking(
      'authorize',
      (params) => params.get('scope')?.includes('mcp:write') && params.set('scope', 'mcp:write'),
    ),
  ),
  on('step-up-limited', 'logs in for ever', allOf(opensPage, opensPage, opensPage)),
  on('renewed', 'gives up when its token has ended', givesIn),
  on('renewed', 'gives up without a refresh token', givesIn, 'login-expires-for-good'),
  on(
    'refresh-token-assumed',
    'refreshes with nothing',
    alsoAsking({ method: 'POST', path: '/token', body: 'grant_type=refresh_token&refresh_token=undefined' }),
  ),
  on(
    'refresh-token-assumed',
    'always asks for offline_access',
    setting('authorize', 'scope', 'mcp:read offline_access'),
  ),
  on(
    'refresh-token-secret',
    'sends its refresh token to the server',
    (transcript) => withHeader('x-refresh', issued(transcript, 'refresh'))(transcript),
    'login-sound',
  ),
  on(
    'stored-privately',
    'leaves its tokens to everybody',
    (transcript) => ({
      ...transcript,
      entries: transcript.entries.map((entry) =>
        entry.kind === 'stored' ? { ...entry, mode: 0o644 } : entry,
      ),
    }),
    'login-sound',
  ),
];
