import * as lib from 'oauth4webapi';
import { IsthmusError } from '../errors.js';
import type { AuthorizationServerMetadata } from './discovery/authorization-server.js';
import type { OAuthSettings } from './options.js';

/** What has to be known when the browser comes back. It never leaves the memory of the process that waits. */
export interface PendingAuthorization {
  /** The page that the user visits. */
  readonly url: URL;
  readonly state: string;
  readonly verifier: string;
  readonly metadata: AuthorizationServerMetadata;
  readonly redirectUri: string;
  readonly clientId: string;
}

export interface AuthorizationRequest {
  readonly metadata: AuthorizationServerMetadata;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly scopes: readonly string[];
  readonly resource: string | undefined;
  readonly settings: OAuthSettings;
}

/** `suffix`: for a program that has to know where the response belongs. */
export function newState(suffix = ''): string {
  return `${lib.generateRandomState()}${suffix}`;
}

/** Makes the URL of an authorization request with PKCE. */
export async function prepareAuthorization(request: AuthorizationRequest): Promise<PendingAuthorization> {
  const { metadata, clientId, redirectUri, state, scopes, resource, settings } = request;
  if (metadata.authorizationEndpoint === undefined) {
    const message = `${metadata.issuer} names no authorization_endpoint`;
    throw new IsthmusError('UNAUTHORIZED', message, { sent: 'no' });
  }
  const verifier = lib.generateRandomCodeVerifier();
  const url = new URL(metadata.authorizationEndpoint);
  for (const [name, value] of Object.entries(settings.authorizeParams)) url.searchParams.set(name, value);
  const params: Record<string, string | undefined> = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: await lib.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    scope: scopes.length > 0 ? scopes.join(' ') : undefined,
    resource,
    // OpenID Connect gives refresh tokens only with consent.
    prompt: scopes.includes('offline_access') ? 'consent' : undefined,
  };
  for (const [name, value] of Object.entries(params))
    if (value !== undefined) url.searchParams.set(name, value);
  // A program of the system gets it as an argument, and a server may list any number of scopes.
  if (url.href.length > MAX_PAGE) {
    const message = `The page of the login has an address of ${url.href.length} characters, with ${scopes.length} scopes; name those that you need (scopes, --scope)`;
    throw new IsthmusError('UNAUTHORIZED', message, { sent: 'no' });
  }
  return { url, state, verifier, metadata, redirectUri, clientId };
}

/**
 * Checks the response: nothing twice, the right state, the right issuer, and only then whether it is an error. The words
 * of a response with a wrong issuer are not repeated (AUTH-C-060, AUTH-C-062). Returns the code.
 */
export function readAuthorizationResponse(params: URLSearchParams, pending: PendingAuthorization): string {
  const { metadata, clientId, state } = pending;
  const server: lib.AuthorizationServer = {
    issuer: metadata.issuer,
    authorization_response_iss_parameter_supported: metadata.sendsIssuer,
  };
  // The library looks only at some of them.
  const isTwice = ['code', 'state', 'iss', 'error'].some((name) => params.getAll(name).length > 1);
  try {
    if (isTwice) throw new Error('A parameter comes twice');
    const checked = lib.validateAuthResponse(server, { client_id: clientId }, params, state);
    const code = checked.get('code');
    if (code) return code;
  } catch (error) {
    if (error instanceof lib.AuthorizationResponseError && KNOWN_ERRORS.has(error.error)) {
      throw new IsthmusError('UNAUTHORIZED', `${metadata.issuer} refused the login: ${error.error}`, {
        sent: 'no',
        cause: { error: error.error },
      });
    }
    throw new IsthmusError('UNAUTHORIZED', `${INVALID} ${metadata.issuer}; nothing of it was used`, {
      sent: 'no',
    });
  }
  throw new IsthmusError('UNAUTHORIZED', `${metadata.issuer} sent no code`, { sent: 'no' });
}

const MAX_PAGE = 32_000;

const INVALID = 'The browser came back with a response that is not one of';

const KNOWN_ERRORS: ReadonlySet<string> = new Set([
  'access_denied',
  'invalid_request',
  'invalid_scope',
  'invalid_target',
  'unauthorized_client',
  'unsupported_response_type',
  'server_error',
  'temporarily_unavailable',
  'interaction_required',
  'login_required',
  'consent_required',
]);
