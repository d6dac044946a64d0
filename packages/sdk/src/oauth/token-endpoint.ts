import { createPrivateKey } from 'node:crypto';
import * as lib from 'oauth4webapi';
import { IsthmusError, messageOf } from '../errors.js';
import { isJsonObject } from '../wire/json-rpc.js';
import { scopesOf } from './discovery/challenge.js';
import { type OAuthHttp, unreachable } from './discovery/oauth-http.js';
import type { LoginToken, TokenAuthMethod } from './store/login-record.js';

/** The client as it identifies itself at the token endpoint. */
export interface TokenClient {
  readonly id: string;
  readonly authMethod: TokenAuthMethod;
  readonly secret: string | undefined;
  readonly privateKey: PrivateKeyOptions | undefined;
}

/** A key that signs assertions of the client (`private_key_jwt`). */
export interface PrivateKeyOptions {
  /** PKCS #8, as PEM. */
  readonly pem: string;
  /** For example `ES256` or `RS256`. */
  readonly algorithm: string;
  readonly keyId?: string;
}

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
    return toToken(token, now());
  } catch (error) {
    throw toFailure(error, issuer);
  }
}

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

/** The methods to use: what the server lists and the client has the means for. */
export function chooseAuthMethod(
  listed: readonly string[] | undefined,
  { hasSecret, hasKey }: { readonly hasSecret: boolean; readonly hasKey: boolean },
): TokenAuthMethod {
  if (hasKey) return 'private_key_jwt';
  const fitting: readonly TokenAuthMethod[] = hasSecret
    ? ['client_secret_basic', 'client_secret_post', 'none']
    : ['none'];
  return fitting.find((method) => listed?.includes(method)) ?? fitting[0]!;
}

/** As `application/x-www-form-urlencoded` writes a value. It leaves `*-._` as they are, as servers expect. */
export function formEncode(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice(1);
}

async function clientAuthentication(client: TokenClient): Promise<lib.ClientAuth> {
  const { id, authMethod, secret = '', privateKey } = client;
  switch (authMethod) {
    case 'none':
      return lib.None();
    case 'client_secret_post':
      return lib.ClientSecretPost(secret);
    case 'client_secret_basic':
      // The library also encodes `-`, which some servers do not decode.
      return (_server, _client, _body, headers) => {
        const pair = Buffer.from(`${formEncode(id)}:${formEncode(secret)}`).toString('base64');
        headers.set('authorization', `Basic ${pair}`);
      };
    case 'private_key_jwt':
      return lib.PrivateKeyJwt(await importKey(privateKey));
  }
}

async function importKey(options: PrivateKeyOptions | undefined): Promise<lib.PrivateKey> {
  if (!options)
    throw new IsthmusError('INVALID_OPTION', 'private_key_jwt needs a private key', { sent: 'no' });
  const { importPKCS8 } = await import('jose');
  try {
    const pem = createPrivateKey(options.pem).export({ type: 'pkcs8', format: 'pem' });
    const key = (await importPKCS8(String(pem), options.algorithm)) as lib.CryptoKey;
    return options.keyId === undefined ? { key } : { key, kid: options.keyId };
  } catch {
    // The reason may contain parts of the key.
    throw new IsthmusError('INVALID_OPTION', `The private key is not a key for ${options.algorithm}`, {
      sent: 'no',
    });
  }
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
    if (!isJsonObject(body)) {
      throw unreachable(`The token endpoint answered with HTTP ${response.status} and without a JSON object`);
    }
    const { id_token, ...rest } = body;
    const clean = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
    if (clean['error'] !== undefined) {
      return Response.json(clean, { status: response.status >= 400 ? response.status : 400 });
    }
    if (response.status === 429 || response.status >= 500) {
      throw unreachable(`The token endpoint answered with HTTP ${response.status}`);
    }
    const expires = Number(clean['expires_in']);
    if (clean['expires_in'] !== undefined) {
      if (expires > 0) clean['expires_in'] = expires;
      else delete clean['expires_in'];
    }
    return Response.json({ token_type: 'bearer', ...clean }, { status: response.ok ? 200 : response.status });
  };
}

function toRequest({ body, headers }: { body?: unknown; headers: Record<string, string> }) {
  return { method: 'POST' as const, headers: { ...headers }, body: String(body), maxBytes: 1024 * 1024 };
}

function toToken(token: lib.TokenEndpointResponse, now: number): GrantedToken {
  if (token.token_type !== 'bearer') {
    throw new IsthmusError(
      'UNAUTHORIZED',
      `The token has the type ${token.token_type}, which is not supported`,
      {
        sent: 'no',
      },
    );
  }
  return {
    access: token.access_token,
    refresh: token.refresh_token,
    expiresAt: token.expires_in === undefined ? undefined : now + token.expires_in * 1000,
    obtainedAt: now,
    scopes: token.scope === undefined ? [] : scopesOf(token.scope),
  };
}

function toFailure(error: unknown, issuer: string): unknown {
  if (error instanceof lib.ResponseBodyError) return new TokenRefused(error.error, error.error_description);
  if (error instanceof IsthmusError) return error;
  return new IsthmusError('UNAUTHORIZED', `The answer of ${issuer} cannot be used: ${messageOf(error)}`, {
    sent: 'no',
    cause: error,
  });
}
