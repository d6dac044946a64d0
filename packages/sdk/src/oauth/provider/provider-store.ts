import type { Clock } from '../../async/clock.js';
import { scopesOf } from '../discovery/challenge.js';
import type { LoginFacts } from '../discovery/login-facts.js';
import type {
  LoginClient,
  LoginRecord,
  LoginStore,
  LoginToken,
  TokenAuthMethod,
} from '../store/login-record.js';
import { memoryLoginStore } from '../store/login-record.js';
import type {
  IssuerContext,
  OfficialClientInformation,
  OfficialOAuthProvider,
  OfficialTokens,
} from './official-provider.js';

export interface ProviderStoreOptions {
  readonly provider: OfficialOAuthProvider;
  readonly server: URL;
  /** The authorization server of tokens that do not say where they come from. */
  readonly issuer: string | undefined;
  readonly clock: Clock;
  /** Reads what is published about the login at an issuer. */
  readonly findFacts: (issuer: string) => Promise<LoginFacts>;
}

/**
 * Keeps the login of one server where a provider of the official SDK keeps it. The provider keeps less than we need: what is
 * missing is remembered as long as the process runs, and found out again before a token is renewed.
 */
export function providerStore(options: ProviderStoreOptions): LoginStore {
  const { provider, server, clock, findFacts } = options;
  const turns = memoryLoginStore();
  let known: LoginRecord | undefined;
  /** An access token that the provider may still have, and that must not be used. */
  let dead: string | undefined;

  const read = async (): Promise<LoginRecord | undefined> => {
    const tokens = await provider.tokens();
    const issuer = tokens?.issuer ?? known?.issuer ?? options.issuer;
    if (known && (known.token?.access === tokens?.access_token || tokens?.access_token === dead))
      return known;
    const client = toClient(
      await provider.clientInformation(issuer === undefined ? undefined : { issuer }),
      provider,
    );
    const isUsable = tokens !== undefined && tokens.access_token !== dead;
    if (!client || (!isUsable && client.issuer === undefined)) return undefined;
    return {
      v: 1,
      server: `${server.origin}${server.pathname}`,
      resource: undefined,
      issuer: (isUsable ? issuer : client.issuer) ?? '',
      tokenEndpoint: '',
      revocationEndpoint: undefined,
      client: client.client,
      token: isUsable ? toToken(tokens, issuer, clock.now()) : undefined,
      reason: undefined,
    };
  };

  /** A refresh token goes only to the authorization server that it is known to come from. */
  const complete = async (): Promise<void> => {
    const record = await read();
    if (record?.token?.refresh === undefined || record.tokenEndpoint !== '') return;
    const { metadata, resource } = await findFacts(record.issuer);
    const { tokenEndpoint, revocationEndpoint } = metadata;
    known = { ...record, tokenEndpoint, revocationEndpoint, resource };
  };

  return {
    read,
    async write(_key, record) {
      const { issuer, client, token } = record;
      const context: IssuerContext = { issuer };
      dead = token ? undefined : (known?.token?.access ?? (await provider.tokens())?.access_token);
      known = record;
      if (client.kind === 'registered' && client.expiresAt === 0)
        await provider.invalidateCredentials?.('client');
      else if (client.kind === 'registered')
        await provider.saveClientInformation?.(toInformation(record), context);
      if (token) await provider.saveTokens(toTokens(issuer, token), context);
      else await provider.invalidateCredentials?.('tokens');
    },
    async delete() {
      dead = (await provider.tokens())?.access_token;
      known = undefined;
      await provider.invalidateCredentials?.('all');
    },
    list: async () => [],
    locked: (key, action) =>
      turns.locked(key, async () => {
        await complete();
        return action();
      }),
  };
}

/** A client with a secret counts only with the authorization server that it is known to belong to. */
function toClient(
  found: OfficialClientInformation | undefined,
  { redirectUrl, saveClientInformation, clientMetadata }: OfficialOAuthProvider,
): { readonly client: LoginClient; readonly issuer: string | undefined } | undefined {
  if (!found) return undefined;
  const { client_id: id, client_secret: secret, client_secret_expires_at: expires, issuer } = found;
  const { token_endpoint_auth_method: registered } = { ...clientMetadata, ...found } as Record<
    string,
    unknown
  >;
  const client: LoginClient = {
    kind: saveClientInformation ? 'registered' : 'preregistered',
    id,
    secret,
    authMethod: methodOf(registered, secret !== undefined),
    redirectUri: redirectUrl === undefined ? undefined : String(redirectUrl),
    expiresAt: expires ? expires * 1000 : undefined,
  };
  return { client, issuer };
}

function methodOf(registered: unknown, hasSecret: boolean): TokenAuthMethod {
  if (!hasSecret) return 'none';
  return registered === 'client_secret_post' ? registered : 'client_secret_basic';
}

function toToken(tokens: OfficialTokens, issuer: string | undefined, now: number): LoginToken {
  const scopes = scopesOf(tokens.scope);
  return {
    access: tokens.access_token,
    refresh: issuer === undefined ? undefined : tokens.refresh_token,
    // It is unknown when the provider got it. A token that has ended is renewed after a 401.
    expiresAt: undefined,
    obtainedAt: now,
    scopes,
    requestedScopes: scopes,
    generation: 0,
  };
}

function toTokens(
  issuer: string,
  { access, refresh, scopes, expiresAt, obtainedAt }: LoginToken,
): OfficialTokens {
  return {
    access_token: access,
    token_type: 'Bearer',
    ...(expiresAt !== undefined && { expires_in: Math.round((expiresAt - obtainedAt) / 1000) }),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(refresh !== undefined && { refresh_token: refresh }),
    issuer,
  };
}

function toInformation({ issuer, client }: LoginRecord): OfficialClientInformation {
  const { id, secret, expiresAt, authMethod, redirectUri } = client;
  const fields = {
    client_id: id,
    ...(secret !== undefined && { client_secret: secret }),
    ...(expiresAt !== undefined && { client_secret_expires_at: Math.round(expiresAt / 1000) }),
    ...(redirectUri !== undefined && { redirect_uris: [redirectUri] }),
    token_endpoint_auth_method: authMethod,
    issuer,
  };
  return fields;
}
