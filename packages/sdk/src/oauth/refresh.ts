import { messageOf } from '../errors.js';
import { tokenClientOf } from './client-identity.js';
import { type LoginNetwork, loginNetwork } from './discovery/login-facts.js';
import type { OAuthSettings } from './options.js';
import type { LoginRecord, LoginToken } from './store/login-record.js';
import { requestToken, revokeToken, TokenRefused, unattendedGrant } from './token-endpoint.js';

/** What a renewal found in the store, or put there. */
export interface Renewal {
  /** False: the token cannot be renewed without a new login. */
  readonly renewed: boolean;
  readonly record: LoginRecord | undefined;
}

/**
 * Renews a token, while no other process does so for the same login: a refresh token is used once, and a second use may end
 * the login. With client credentials another token is asked for in the same way as the first one.
 */
export async function renewToken(
  key: string,
  token: LoginToken,
  network: LoginNetwork,
  settings: OAuthSettings,
): Promise<Renewal> {
  const { store, grant } = settings;
  const repeats = grant === 'client-credentials';
  return store.locked(key, async () => {
    const record = await store.read(key);
    const current = record?.token;
    // Another process was first.
    if (current && current.access !== token.access) return { renewed: true, record };
    if (!record || !current || (current.refresh === undefined && !repeats)) return { renewed: false, record };
    const next = await ask(record, current, networkOf(record, network, settings), settings, true);
    // Stored before it is used: a token that is lost with the process may have been the only one.
    await store.write(key, next);
    return { renewed: next.token !== undefined, record: next };
  });
}

/** What the user has allowed for a login counts for its renewals, too. */
function networkOf(
  { server, allowsPrivate }: LoginRecord,
  network: LoginNetwork,
  settings: OAuthSettings,
): LoginNetwork {
  return allowsPrivate
    ? loginNetwork(new URL(server), { ...settings, allowPrivateAddresses: true })
    : network;
}

async function ask(
  record: LoginRecord,
  token: LoginToken,
  network: LoginNetwork,
  settings: OAuthSettings,
  withScope: boolean,
): Promise<LoginRecord> {
  const { issuer, tokenEndpoint, resource } = record;
  const { refresh } = token;
  const scopes = refresh === undefined ? token.requestedScopes : token.scopes;
  const scope = withScope && scopes.length > 0 ? scopes.join(' ') : undefined;
  try {
    const renewed = await requestToken(network.http, {
      ...{ issuer, tokenEndpoint, client: await tokenClientOf(record.client, settings) },
      ...(refresh === undefined
        ? await unattendedGrant({ issuer, resource, scope }, settings)
        : { grantType: 'refresh_token', params: refreshParams(refresh, resource, scope) }),
      now: settings.clock.now,
    });
    const next: LoginToken = {
      ...renewed,
      refresh: renewed.refresh ?? refresh,
      scopes: renewed.scopes.length > 0 ? renewed.scopes : token.scopes,
      requestedScopes: token.requestedScopes,
      generation: token.generation + 1,
    };
    return { ...record, token: next, reason: undefined };
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    if (error.error === 'invalid_scope' && withScope) return ask(record, token, network, settings, false);
    return withoutToken(record, error);
  }
}

function refreshParams(
  refresh_token: string,
  resource: string | undefined,
  scope: string | undefined,
): Record<string, string> {
  return {
    refresh_token,
    ...(resource !== undefined && { resource }),
    ...(scope !== undefined && { scope }),
  };
}

/** The refresh token is dead. The registration stays, unless the authorization server does not know it any more. */
function withoutToken(record: LoginRecord, { error, message }: TokenRefused): LoginRecord {
  const isGone = error === 'invalid_client' || error === 'unauthorized_client';
  const client =
    isGone && record.client.kind === 'registered' ? { ...record.client, expiresAt: 0 } : record.client;
  return { ...record, client, token: undefined, reason: message };
}

/** Tells the authorization server that the tokens of a login are not needed any more, where it can be told. */
export async function revokeLogin(
  record: LoginRecord,
  network: LoginNetwork,
  settings: OAuthSettings,
): Promise<void> {
  const { issuer, tokenEndpoint, revocationEndpoint: endpoint, token } = record;
  if (!token || endpoint === undefined) return;
  const client = await tokenClientOf(record.client, settings).catch((error: unknown) =>
    settings.onWarning(`The tokens are forgotten and not revoked. ${messageOf(error)}`),
  );
  if (!client) return;
  const { http } = networkOf(record, network, settings);
  // Without the refresh token nothing new can be got, so it goes first.
  for (const [kind, value] of [
    ['refresh_token', token.refresh],
    ['access_token', token.access],
  ] as const) {
    if (value === undefined) continue;
    await revokeToken(http, { issuer, tokenEndpoint, endpoint, client, kind, token: value }).catch(() =>
      settings.onWarning(`${issuer} did not revoke the ${kind.replace('_', ' ')}`),
    );
  }
}
