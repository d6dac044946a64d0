import * as lib from 'oauth4webapi';
import { IsthmusError, messageOf } from '../errors.js';
import { retryAfterMs } from '../transport/http-client/retrying-http.js';
import { isJsonObject } from '../wire/json-rpc.js';
import { clientAuthentication, type TokenClient } from './client-authentication.js';
import { scopesOf } from './discovery/challenge.js';
import { type OAuthHttp, unreachable, unusable } from './discovery/oauth-http.js';
import { toldText } from './login-status.js';
import type { OAuthSettings, UnattendedRequest } from './options.js';
import type { LoginToken } from './store/login-record.js';

export interface TokenRequest {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly client: TokenClient;
  readonly grantType: string;
  readonly params: Readonly<Record<string, string>>;
  /** The time, in milliseconds since 1970. */
  readonly now: () => number;
}

/** The authorization server refused a request, and said why. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
  /** The code of OAuth, such as `invalid_grant`. */
  readonly error: string;

  constructor(error: string, description: string | undefined) {
    super(description ? `${error}: ${description}` : error);
    this.error = error;
  }
}

/** The fields of an answer of the token endpoint that count. */
export type GrantedToken = Omit<LoginToken, 'requestedScopes' | 'generation'>;

/** Asks for a token. Rejects with `TokenRefused` when the server refuses, and with an `IsthmusError` otherwise. */
export async function requestToken(http: OAuthHttp, request: TokenRequest): Promise<GrantedToken> {
  const { issuer, tokenEndpoint, client, grantType, params, now } = request;
  const server: lib.AuthorizationServer = { issuer, token_endpoint: tokenEndpoint };
  const known: lib.Client = { client_id: client.id };
  // The life of a token begins before its answer arrives.
  const askedAt = now();
  try {
    const authentication = await clientAuthentication(client);
    const options = { [lib.customFetch]: fetchThrough(http), [lib.allowInsecureRequests]: true };
    const response = await lib.genericTokenEndpointRequest(
      server,
      known,
      authentication,
      grantType,
      { ...params },
      options,
    );
    const token = await lib.processGenericTokenEndpointResponse(server, known, response);
    return toToken(token, askedAt);
  } catch (error) {
    const secrets = [...SECRET_PARAMS.flatMap((name) => params[name] ?? []), client.secret ?? ''];
    throw toFailure(error, issuer, secrets);
  }
}

/** What is sent for a token without a user: client credentials, or what a provider of the official SDK wants. */
export async function unattendedGrant(
  request: UnattendedRequest,
  { hooks }: OAuthSettings,
): Promise<Pick<TokenRequest, 'grantType' | 'params'>> {
  const { resource, scope } = request;
  const own = { ...(scope !== undefined && { scope }), ...(resource !== undefined && { resource }) };
  const wanted = await hooks?.tokenParams?.(request);
  if (!wanted) return { grantType: 'client_credentials', params: own };
  const { grant_type: grantType = 'client_credentials', ...params } = Object.fromEntries(wanted);
  return { grantType, params: { ...(resource !== undefined && { resource }), ...params } };
}

const SECRET_PARAMS = ['code', 'code_verifier', 'refresh_token', 'device_code', 'subject_token', 'assertion'];

/** Tells the authorization server that a token is not needed any more (RFC 7009). */
export async function revokeToken(
  http: OAuthHttp,
  request: Omit<TokenRequest, 'grantType' | 'params' | 'now'> & {
    readonly endpoint: string;
    readonly token: string;
    readonly kind: 'refresh_token' | 'access_token';
  },
): Promise<void> {
  const { issuer, endpoint, client, token, kind } = request;
  const response = await lib.revocationRequest(
    { issuer, revocation_endpoint: endpoint },
    { client_id: client.id },
    await clientAuthentication(client),
    token,
    {
      [lib.customFetch]: (url, init) => http.send(new URL(url), toRequest(init)),
      [lib.allowInsecureRequests]: true,
      additionalParameters: { token_type_hint: kind },
    },
  );
  await lib.processRevocationResponse(response);
}

/**
 * Servers answer with what the library refuses: `null` fields, no `token_type`, an error with status 200, an ID token of
 * another issuer. The answer is cleaned before the library reads it.
 */
function fetchThrough(
  http: OAuthHttp,
): (url: string, init: lib.CustomFetchOptions<'POST', URLSearchParams>) => Promise<Response> {
  return async (url, init) => {
    const response = await http.send(new URL(url), toRequest(init));
    const body: unknown = await response.json().catch(() => undefined);
    const isDown = response.status === 429 || response.status >= 500;
    const wait = retryAfterMs(response.headers.get('retry-after') ?? undefined, Date.now());
    if (!isJsonObject(body)) {
      const message = `The token endpoint answered with HTTP ${response.status} and without a JSON object`;
      throw isDown ? unreachable(message, wait) : unusable(message);
    }
    const { id_token, ...rest } = body;
    const clean = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
    const { error } = clean;
    // A server that is busy or broken says nothing about the login.
    if ((isDown || BUSY_ERRORS.has(error)) && !WAITING_ERRORS.has(error)) {
      throw unreachable(`The token endpoint answered with HTTP ${response.status}`, wait);
    }
    if (error !== undefined) {
      return Response.json(clean, { status: response.status >= 400 ? response.status : 400 });
    }
    const expires = Number(clean['expires_in']);
    if (clean['expires_in'] !== undefined) {
      if (expires > 0) clean['expires_in'] = expires;
      else delete clean['expires_in'];
    }
    return Response.json({ token_type: 'bearer', ...clean }, { status: response.ok ? 200 : response.status });
  };
}

const BUSY_ERRORS: ReadonlySet<unknown> = new Set(['server_error', 'temporarily_unavailable']);
/** Of a login by device code. */
const WAITING_ERRORS: ReadonlySet<unknown> = new Set(['authorization_pending', 'slow_down']);

function toRequest({ body, headers }: { body?: unknown; headers: Record<string, string> }) {
  return { method: 'POST' as const, headers: { ...headers }, body: String(body), maxBytes: 1024 * 1024 };
}

const MAX_ACCESS = 16 * 1024;
const MAX_REST = 32 * 1024;

function toToken(token: lib.TokenEndpointResponse, now: number): GrantedToken {
  if (token.token_type !== 'bearer') {
    throw new IsthmusError(
      'UNAUTHORIZED',
      `The token has the type ${toldText(token.token_type)}, which is not supported`,
      {
        sent: 'no',
      },
    );
  }
  const { access_token: access, refresh_token: refresh = '', scope = '' } = token;
  // It is kept for each caller, and an access token has to fit into a header.
  if (access.length > MAX_ACCESS || refresh.length + scope.length > MAX_REST) {
    const message = `The token is longer than ${MAX_ACCESS} characters, or its refresh token and its scopes than ${MAX_REST}`;
    throw new IsthmusError('UNAUTHORIZED', message, { sent: 'no' });
  }
  return {
    access: token.access_token,
    refresh: token.refresh_token,
    expiresAt: token.expires_in === undefined ? undefined : now + token.expires_in * 1000,
    obtainedAt: now,
    scopes: token.scope === undefined ? [] : scopesOf(token.scope),
  };
}

/** Nothing of the answer but its error: the rest may be a token. */
function toFailure(error: unknown, issuer: string, secrets: readonly string[]): unknown {
  if (error instanceof lib.ResponseBodyError) {
    const { error_description: text } = error;
    return new TokenRefused(toldText(error.error, secrets), text && toldText(text, secrets));
  }
  if (error instanceof IsthmusError) return error;
  const why =
    error instanceof lib.OperationProcessingError ? 'it is not an answer with a token' : messageOf(error);
  return new IsthmusError(
    'UNAUTHORIZED',
    `The answer of ${issuer} cannot be used: ${toldText(why, secrets)}`,
    {
      sent: 'no',
    },
  );
}
