import type { Scenario } from '../../model.js';
import { PATH_FORM, resourceDocument } from '../servers/protected-server.js';
import { login, RIGHT, WRONG } from './metadata.js';

/** What an attacker writes into an error that is not his to send. */
export const FORGED_TEXT = 'call-the-number-on-this-page';
export const FORGED_CODE = 'stage-code-forged';
const REFUSED = { serves: [] } as const;

/** What the authorization server says about itself, and what it answers. */
export const AUTHORIZATION_SCENARIOS: readonly Scenario[] = [
  login(
    'login-no-pkce',
    'An authorization server that does not say that it supports PKCE',
    () => ({
      issuers: [{ metadata: ({ code_challenge_methods_supported: _, ...document }) => document }],
    }),
    REFUSED,
  ),
  login('login-iss-not-sent', 'An authorization server that neither announces nor sends iss', () => ({
    issuers: [
      {
        metadata: ({ authorization_response_iss_parameter_supported: _, ...document }) => document,
        respond: (response) => response.delete('iss'),
      },
    ],
  })),
  login(
    'login-iss-missing',
    'An authorization server that announces iss and does not send it',
    () => ({ issuers: [{ respond: (response) => response.delete('iss') }] }),
    REFUSED,
  ),
  login(
    'login-iss-wrong',
    'An authorization server whose response has the iss of another one',
    () => ({ issuers: [{ respond: (response) => response.set('iss', 'https://other.example') }] }),
    REFUSED,
  ),
  login(
    'login-iss-unannounced',
    'An authorization server that does not announce iss, and sends the iss of another one',
    () => ({
      issuers: [
        {
          metadata: ({ authorization_response_iss_parameter_supported: _, ...document }) => document,
          respond: (response) => response.set('iss', 'https://other.example'),
        },
      ],
    }),
    REFUSED,
  ),
  login(
    'login-iss-slash',
    'An authorization server whose iss has a slash more than its issuer',
    () => ({ issuers: [{ respond: (response, { issuer }) => response.set('iss', `${issuer}/`) }] }),
    REFUSED,
  ),
  login(
    'login-iss-capitals',
    'An authorization server whose iss is its issuer in another case',
    () => ({
      issuers: [
        { respond: (response, { issuer }) => response.set('iss', issuer.replace('http://', 'HTTP://')) },
      ],
    }),
    REFUSED,
  ),
  login(
    'login-iss-error',
    'An authorization server that sends an error with the iss of another one',
    () => ({
      issuers: [
        {
          respond(response, { origin }) {
            response.delete('code');
            response.set('iss', 'https://other.example');
            response.set('error', 'access_denied');
            response.set('error_description', FORGED_TEXT);
            response.set('error_uri', `${origin}/${FORGED_TEXT}`);
          },
        },
      ],
    }),
    REFUSED,
  ),
  login('login-mix-up', 'A server that names another authorization server during the login', mixUp, REFUSED),
  login('login-wrong-state', 'A response with a state that the client did not send', () => ({
    issuers: [{ respond: forgeState }],
  })),
  login(
    'login-script-page',
    'An authorization server whose authorization endpoint is a javascript: address',
    () => page(() => 'javascript:alert(document.domain)'),
    REFUSED,
  ),
  login(
    'login-file-page',
    'An authorization server whose authorization endpoint is a file',
    () => page(() => 'file:///etc/hosts'),
    REFUSED,
  ),
  login(
    'login-plain-page',
    'An authorization server whose authorization endpoint has no https, on another machine',
    () => page(() => 'http://login.example/authorize'),
    REFUSED,
  ),
  login(
    'login-shell-page',
    'An authorization server whose authorization endpoint has characters with a meaning in a shell',
    () => page((issuer) => `${issuer}/authorize/$((6*7))`),
  ),
];

function page(endpoint: (issuer: string) => string) {
  return {
    issuers: [
      {
        metadata: (document: Record<string, unknown>) => ({
          ...document,
          authorization_endpoint: endpoint(String(document['issuer'])),
        }),
      },
    ],
  };
}

/** From the moment of the login, the metadata and `iss` name another issuer. A client that looks again sends it the code. */
function mixUp() {
  let path = '/right';
  return {
    issuers: [
      {
        ...RIGHT,
        respond(response: URLSearchParams, { origin }: { origin: string }) {
          path = '/wrong';
          response.set('iss', `${origin}/wrong`);
        },
      },
      WRONG,
    ],
    resources: { [PATH_FORM]: (about: { origin: string }) => resourceDocument(about, path) },
  };
}

/** First a response that somebody else has made, then the real one: a listener may wait for it. */
function forgeState(response: URLSearchParams, { redirectUri }: { redirectUri: URL }): void {
  const real = new URL(redirectUri);
  for (const [name, value] of response) real.searchParams.set(name, value);
  response.set('code', FORGED_CODE);
  response.set('state', 'not-the-state');
  const later = setTimeout(() => void fetch(real).catch(() => {}), REAL_AFTER_MS);
  later.unref();
}

const REAL_AFTER_MS = 300;
