import { type GuardFault, guard, METADATA, SIGNED } from '../../support/suites/guard.js';
import { small } from '../../support/suites/http-bases.js';
import type { HttpMutant } from '../../support/suites/mutant.js';

const on = (check: string, fault: string, of: GuardFault): HttpMutant => ({
  check: `http-tokens/${check}`,
  fault,
  proxy: guard(of),
  base: small,
  options: { tokens: SIGNED },
});

/** Servers that check tokens, with one fault each. */
export const httpTokenMutants: readonly HttpMutant[] = [
  { ...on('expired', 'does not look at exp', { ignores: ['exp'] }), seen: /answered with HTTP 200/ },
  on('foreign-audience', 'does not look at aud', { ignores: ['aud'] }),
  on('no-audience', 'accepts tokens without aud', { ignores: ['no-aud'] }),
  on('foreign-issuer', 'does not look at iss', { ignores: ['iss'] }),
  on('not-yet-valid', 'does not look at nbf', { ignores: ['nbf'] }),
  on('changed', 'does not verify the signature', { ignores: ['signature'] }),
  on('strange-key', 'accepts any signature', { ignores: ['signature'] }),
  {
    ...on('strange-key', 'uses a key that the token brings', { ignores: ['own-keys'] }),
    seen: /one that brings the key was answered with HTTP 200/,
  },
  {
    ...on('strange-key', 'takes the public key for a secret', { ignores: ['secrets'] }),
    seen: /one whose secret is the public key was answered with HTTP 200/,
  },
  on('unsigned', 'accepts the algorithm none', { ignores: ['alg'] }),
  on('says-invalid-token', 'does not say why it refuses a token', { invalid: 'realm="mcp"' }),
  on('weak', 'does not look at scopes', { ignores: ['scope'] }),
  on('weak', 'answers a weak token with 401', { weak: { status: 401 } }),
  on('weak', 'says invalid_token for a weak token', {
    weak: { challenge: (missing) => `error="invalid_token", scope="${missing.join(' ')}", ${METADATA}` },
  }),
  on('weak', 'does not say which scope is missing', {
    weak: { challenge: () => `error="insufficient_scope", ${METADATA}` },
  }),
  on('weak', 'does not name its metadata in a 403', {
    weak: { challenge: (missing) => `error="insufficient_scope", scope="${missing.join(' ')}"` },
  }),
  {
    ...on('weak', 'asks for offline_access in a 403', {
      weak: {
        challenge: (missing) =>
          `error="insufficient_scope", scope="${missing.join(' ')} offline_access", ${METADATA}`,
      },
    }),
    seen: /asks for offline_access/,
  },
  on('weak-complete', 'names one missing scope after the other', {
    weak: { challenge: ([first]) => `error="insufficient_scope", scope="${first}", ${METADATA}` },
  }),
  on('broad', 'knows no hierarchy of scopes', { ignores: ['admin'] }),
  on('sessions-apart', 'lets every user into every session', { ignores: ['user'] }),
  {
    ...on('good', 'refuses the good token', {}),
    // The survey needs an answer, so it is refused only where the check asks.
    proxy: () => {
      let opened = 0;
      return {
        request: ({ json }) =>
          json?.['method'] === 'server/discover' && ++opened > 1 ? { respond: { status: 401 } } : undefined,
      };
    },
  },
];
