import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import {
  newState,
  type PendingAuthorization,
  prepareAuthorization,
  readAuthorizationResponse,
} from '@isthmus/sdk/internal/oauth/authorization-code.js';
import { chooseIdentity, tokenClientOf } from '@isthmus/sdk/internal/oauth/client-identity.js';
import { addressRule } from '@isthmus/sdk/internal/oauth/discovery/addresses.js';
import { findAuthorizationServer } from '@isthmus/sdk/internal/oauth/discovery/authorization-server.js';
import { createOAuthHttp } from '@isthmus/sdk/internal/oauth/discovery/oauth-http.js';
import { resolveOAuth } from '@isthmus/sdk/internal/oauth/options.js';
import { requestToken } from '@isthmus/sdk/internal/oauth/token-endpoint.js';
import type { Authenticate } from '@isthmus/sdk/internal/transport/http-server/options.js';

/** The client that the gateway is at the authorization server of its callers. */
export interface ConnectIdentityOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string | { readonly file: string };
  /** The audience of the tokens for this gateway. */
  readonly resource?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** Finds out who sits in front of a browser. */
export interface IdentityProof {
  /** The page of the authorization server to send the browser to. `stateSuffix` ends the state that it comes back with. */
  begin(redirectUri: string, stateSuffix: string | undefined): Promise<PendingAuthorization>;
  /** The principal of the person who came back from there. */
  finish(pending: PendingAuthorization, response: URLSearchParams): Promise<string | undefined>;
}

/**
 * Logs the person in at the authorization server of the gateway, and gets a token for the gateway itself. The token is checked
 * like that of any caller, so that the same person has the same principal. It is not kept.
 */
export function proveIdentity(
  options: ConnectIdentityOptions,
  { authenticate, clock }: { readonly authenticate: Authenticate; readonly clock: Clock },
): IdentityProof {
  const { issuer, clientId, clientSecret, resource, scopes = [] } = options;
  const settings = resolveOAuth({ clientId, issuer, clock, ...(clientSecret && { clientSecret }) });
  const rule = addressRule({ server: new URL(issuer), allowPrivate: true });
  const http = createOAuthHttp({ rule });
  const find = async () => {
    const metadata = await findAuthorizationServer(issuer, { http, rule, assumePkce: true, onWarning() {} });
    if (!metadata) throw new IsthmusError('UNAUTHORIZED', `${issuer} publishes no metadata`);
    return metadata;
  };
  /** A page that is opened again and again must not make the gateway ask with each of them. */
  let kept: { readonly finding: ReturnType<typeof find>; readonly until: number } | undefined;
  const metadataNow = () => {
    if (!kept || clock.now() >= kept.until) kept = { finding: find(), until: clock.now() + KEPT_MS };
    return kept.finding;
  };
  return {
    async begin(redirectUri, stateSuffix) {
      const metadata = await metadataNow();
      const state = newState(stateSuffix);
      return prepareAuthorization({ metadata, clientId, redirectUri, state, scopes, resource, settings });
    },
    async finish(pending, response) {
      const code = readAuthorizationResponse(response, pending);
      const { metadata, redirectUri, verifier } = pending;
      const identity = chooseIdentity(metadata, undefined, settings);
      if (identity.kind !== 'known') return undefined;
      const { access } = await requestToken(http, {
        issuer: metadata.issuer,
        tokenEndpoint: metadata.tokenEndpoint,
        client: await tokenClientOf(identity.client, settings),
        grantType: 'authorization_code',
        params: {
          code,
          redirect_uri: redirectUri,
          code_verifier: verifier,
          ...(resource !== undefined && { resource }),
        },
        now: clock.now,
      });
      const header = (name: string) =>
        name.toLowerCase() === 'authorization' ? `Bearer ${access}` : undefined;
      const verdict = await authenticate({ method: 'GET', target: '/connect', header });
      if (typeof verdict === 'string') return verdict;
      return verdict && 'principal' in verdict ? verdict.principal : undefined;
    },
  };
}

/** How long the metadata is used, and a failure to read it. */
const KEPT_MS = 5000;
