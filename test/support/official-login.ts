import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { browse } from './authorization-server.js';

/** For the clients of the authorization server. */
export const OFFICIAL_CLIENT = {
  client_id: 'official',
  token_endpoint_auth_method: 'none',
  application_type: 'native',
  redirect_uris: ['http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
};

/** The OAuth provider that an application writes for an official client, of either version, with a user in front of it. */
export class OfficialLogin implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1/callback';
  readonly clientMetadata = {
    client_name: 'official',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native' as const,
  };
  /** The scopes of each visit of the user to the authorization server. */
  readonly visits: string[] = [];
  /** All access tokens that it has had. */
  readonly tokensSeen: string[] = [];
  callback: URLSearchParams | undefined;
  /** The v1 client answers a step-up with its refresh token, which cannot add scopes. */
  keepsRefreshTokens = true;
  /** Registered before: a registration with the first scopes would not get others later. */
  #client = OFFICIAL_CLIENT as never;
  #tokens: never | undefined;
  #verifier = '';

  clientInformation() {
    return this.#client;
  }

  saveClientInformation(client: unknown) {
    this.#client = client as never;
  }

  tokens() {
    return this.#tokens;
  }

  saveTokens(tokens: { access_token: string; refresh_token?: string | undefined }) {
    this.tokensSeen.push(tokens.access_token);
    const { refresh_token: _refresh, ...rest } = tokens;
    this.#tokens = (this.keepsRefreshTokens ? tokens : rest) as never;
  }

  codeVerifier() {
    return this.#verifier;
  }

  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }

  async redirectToAuthorization(url: URL) {
    this.visits.push(url.searchParams.get('scope') ?? '');
    const { url: end } = await browse(url, { stopAt: this.redirectUrl });
    this.callback = new URL(end).searchParams;
  }

  /** Tries again after the user has logged in. */
  async during<T>(work: () => Promise<T>, finish: (callback: URLSearchParams) => Promise<void>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { callback } = this;
      if (!callback) throw error;
      this.callback = undefined;
      await finish(callback);
      return work();
    }
  }
}
