import { IsthmusError } from '../../errors.js';
import { toldText } from '../login-status.js';
import type { AddressRule } from './addresses.js';
import type { OAuthHttp } from './oauth-http.js';
import { MAX_URL, readDocument, stringsOf } from './protected-resource.js';

/** What an authorization server publishes about itself (RFC 8414, OpenID Connect Discovery): the part that a login needs. */
export interface AuthorizationServerMetadata {
  readonly issuer: string;
  readonly authorizationEndpoint: string | undefined;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | undefined;
  readonly revocationEndpoint: string | undefined;
  readonly deviceAuthorizationEndpoint: string | undefined;
  /** For servers that check its tokens: its keys, and where it says whether a token is active (RFC 7662). */
  readonly jwksUri: string | undefined;
  readonly introspectionEndpoint: string | undefined;
  readonly scopesSupported: readonly string[] | undefined;
  readonly tokenAuthMethods: readonly string[] | undefined;
  readonly takesClientMetadataUrl: boolean;
  /** It announces `iss` in its responses (RFC 9207). */
  readonly sendsIssuer: boolean;
  readonly hasS256: boolean;
  /** Nothing was published. These are the endpoints that a server of 2025-03-26 would have. */
  readonly isAssumed?: boolean;
}

export interface FindAuthorizationServerOptions {
  readonly http: OAuthHttp;
  readonly rule: AddressRule;
  /** Goes on without `code_challenge_methods_supported`. */
  readonly assumePkce: boolean;
  readonly onWarning: (warning: string) => void;
}

/** Reads the metadata of an issuer. Undefined: it publishes none. */
export async function findAuthorizationServer(
  issuer: string,
  options: FindAuthorizationServerOptions,
): Promise<AuthorizationServerMetadata | undefined> {
  // It is repeated in messages, so it may have only what a URL has.
  if (!URL.canParse(issuer) || !/^[\x21-\x7e]{1,2000}$/.test(issuer))
    throw refused(`"${toldText(issuer)}" is not a URL`);
  let withoutPkce: AuthorizationServerMetadata | undefined;
  for (const url of metadataUrls(new URL(issuer))) {
    const document = await readDocument(options.http, url);
    if (!document) continue;
    checkIssuer(document['issuer'], issuer, options.onWarning);
    const metadata = toMetadata(document, options.rule);
    if (metadata.hasS256 || options.assumePkce) return metadata;
    // The two documents of one server may differ.
    withoutPkce ??= metadata;
  }
  if (!withoutPkce) return undefined;
  throw refused(
    `${issuer} does not say that it supports PKCE with S256; if it does, allow it (assumePkce, --assume-pkce)`,
  );
}

/** In the order of the specification (AUTH-C-020). An issuer with a path never uses the root form. */
export function metadataUrls(issuer: URL): readonly URL[] {
  const path = issuer.pathname === '/' ? '' : issuer.pathname.replace(/\/$/, '');
  const at = (text: string) => new URL(text, issuer.origin);
  if (path === '') {
    return [at('/.well-known/oauth-authorization-server'), at('/.well-known/openid-configuration')];
  }
  return [
    at(`/.well-known/oauth-authorization-server${path}`),
    at(`/.well-known/openid-configuration${path}`),
    at(`${path}/.well-known/openid-configuration`),
  ];
}

/** Servers of 2025-03-26 without any metadata have these endpoints. */
export function defaultMetadata(origin: string): AuthorizationServerMetadata {
  return {
    issuer: origin,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    registrationEndpoint: `${origin}/register`,
    revocationEndpoint: undefined,
    deviceAuthorizationEndpoint: undefined,
    jwksUri: undefined,
    introspectionEndpoint: undefined,
    scopesSupported: undefined,
    tokenAuthMethods: undefined,
    takesClientMetadataUrl: false,
    sendsIssuer: false,
    hasS256: true,
  };
}

/** AUTH-C-021: equal character by character. One slash at the end of a URL without a path is tolerated. */
function checkIssuer(found: unknown, wanted: string, onWarning: (warning: string) => void): void {
  if (found === wanted) return;
  if (typeof found === 'string' && isSameButSlash(found, wanted)) {
    onWarning(`The authorization server calls itself ${found}, and the server calls it ${wanted}`);
    return;
  }
  throw refused(
    `The authorization server ${wanted} calls itself ${toldText(JSON.stringify(found) ?? 'nothing')}; if that is right, name it (issuer, --issuer)`,
  );
}

function isSameButSlash(a: string, b: string): boolean {
  const isShort = (text: string) => URL.canParse(text) && new URL(text).pathname === '/';
  return isShort(a) && isShort(b) && (a === `${b}/` || b === `${a}/`);
}

function toMetadata(document: Record<string, unknown>, rule: AddressRule): AuthorizationServerMetadata {
  const endpoint = (name: string): string | undefined => {
    const value = document[name];
    if (value === undefined || value === null) return undefined;
    const why = addressProblem(value, rule);
    if (why) throw refused(`The ${name} of ${String(document['issuer'])} cannot be used: ${why}`);
    return value as string;
  };
  const tokenEndpoint = endpoint('token_endpoint');
  if (tokenEndpoint === undefined) throw refused(`${String(document['issuer'])} names no token_endpoint`);
  return {
    issuer: document['issuer'] as string,
    authorizationEndpoint: endpoint('authorization_endpoint'),
    tokenEndpoint,
    registrationEndpoint: endpoint('registration_endpoint'),
    revocationEndpoint: endpoint('revocation_endpoint'),
    deviceAuthorizationEndpoint: endpoint('device_authorization_endpoint'),
    jwksUri: text(document['jwks_uri']),
    introspectionEndpoint: text(document['introspection_endpoint']),
    scopesSupported: stringsOf(document['scopes_supported']),
    tokenAuthMethods: stringsOf(document['token_endpoint_auth_methods_supported']),
    takesClientMetadataUrl: document['client_id_metadata_document_supported'] === true,
    sendsIssuer: document['authorization_response_iss_parameter_supported'] === true,
    hasS256: stringsOf(document['code_challenge_methods_supported'])?.includes('S256') ?? false,
  };
}

/** Why something cannot be the address of an endpoint. */
function addressProblem(value: unknown, rule: AddressRule): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return 'it is not a URL';
  return value.length > MAX_URL ? `it is longer than ${MAX_URL} characters` : rule.refuses(new URL(value));
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function refused(message: string): IsthmusError {
  return new IsthmusError('UNAUTHORIZED', message, { sent: 'no' });
}
