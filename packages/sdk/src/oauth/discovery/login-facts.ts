import { IsthmusError } from '../../errors.js';
import { toldText } from '../login-status.js';
import type { OAuthSettings } from '../options.js';
import { type AddressRule, addressRule } from './addresses.js';
import {
  type AuthorizationServerMetadata,
  defaultMetadata,
  findAuthorizationServer,
} from './authorization-server.js';
import type { LoginChallenge } from './challenge.js';
import { createOAuthHttp, type OAuthHttp } from './oauth-http.js';
import { findProtectedResource, type ProtectedResourceMetadata } from './protected-resource.js';

/** Everything that the server and its authorization server say about a login. */
export interface LoginFacts {
  readonly metadata: AuthorizationServerMetadata;
  /** Undefined: the server publishes nothing about itself (2025-03-26). */
  readonly published: ProtectedResourceMetadata | undefined;
  /** The value of `resource` to send. */
  readonly resource: string | undefined;
}

/** What the requests of one login share. */
export interface LoginNetwork {
  readonly http: OAuthHttp;
  readonly rule: AddressRule;
}

export function loginNetwork(server: URL, settings: OAuthSettings): LoginNetwork {
  const rule = addressRule({ server, allowPrivate: settings.allowPrivateAddresses });
  return { rule, http: createOAuthHttp({ rule, fetch: settings.fetch }) };
}

/** Asks the server and its authorization server. `knownIssuer`, where a login exists, is preferred among several. */
export async function findLoginFacts(
  server: URL,
  challenge: LoginChallenge | undefined,
  network: LoginNetwork,
  settings: OAuthSettings,
  knownIssuer: string | undefined,
): Promise<LoginFacts> {
  const configured = typeof settings.resource === 'string' ? settings.resource : undefined;
  const named = challenge?.resourceMetadata ?? [];
  const published = await findProtectedResource(server, { http: network.http, named, configured });
  const metadata = await findMetadata(server, published, network, settings, knownIssuer);
  // As it was published: a URL object would add a slash to an origin (AUTH-C-052).
  const resource = configured ?? published?.resource ?? `${server.origin}${server.pathname}`;
  const chosen = settings.hooks?.resource
    ? await settings.hooks.resource(server, published?.resource)
    : resource;
  return { metadata, published, resource: settings.resource === false ? undefined : chosen };
}

/** How many authorization servers of one server are tried. */
const MAX_ISSUERS = 5;

async function findMetadata(
  server: URL,
  published: ProtectedResourceMetadata | undefined,
  network: LoginNetwork,
  settings: OAuthSettings,
  knownIssuer: string | undefined,
): Promise<AuthorizationServerMetadata> {
  const { assumePkce, onWarning, grant } = settings;
  // Client credentials need no PKCE.
  const options = { ...network, onWarning, assumePkce: assumePkce || grant !== 'authorization-code' };
  const { tokenEndpoint, issuer } = settings;
  if (tokenEndpoint !== undefined) {
    return { ...defaultMetadata(issuer ?? new URL(tokenEndpoint).origin), tokenEndpoint };
  }
  const issuers = issuer === undefined ? (published?.authorizationServers ?? []) : [issuer];
  if (issuers.length > 0) {
    // A server must not send this client to any number of others.
    const inOrder = [...issuers]
      .sort((a, b) => Number(b === knownIssuer) - Number(a === knownIssuer))
      .slice(0, MAX_ISSUERS);
    let firstFailure: unknown;
    for (const each of inOrder) {
      try {
        const found = await findAuthorizationServer(each, options);
        if (found) return found;
      } catch (error) {
        // An outage must not lead a user to another authorization server than that of the login.
        if (each === knownIssuer) throw error;
        firstFailure ??= error;
      }
    }
    if (firstFailure) throw firstFailure;
    throw new IsthmusError(
      'UNAUTHORIZED',
      `${toldText(inOrder.join(', '))} publishes no metadata of an authorization server`,
      {
        sent: 'no',
      },
    );
  }
  // 2025-03-26: the server is its own authorization server.
  const found = await findAuthorizationServer(server.origin, { ...options, assumePkce: true });
  return found ?? { ...defaultMetadata(server.origin), isAssumed: true };
}
