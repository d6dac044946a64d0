import { IsthmusError } from '../../errors.js';
import { scopesToAsk } from '../begin-login.js';
import { chooseIdentity, tokenClientOf } from '../client-identity.js';
import type { LoginChallenge } from '../discovery/challenge.js';
import { findLoginFacts, type LoginFacts, loginNetwork } from '../discovery/login-facts.js';
import { outageOf } from '../discovery/oauth-http.js';
import { type OAuthOptions, resolveOAuth } from '../options.js';
import { type GrantedToken, requestToken, TokenRefused } from '../token-endpoint.js';

export interface TokenExchangeOptions
  extends Pick<OAuthOptions, 'scopes' | 'resource' | 'allowPrivateAddresses' | 'onWarning' | 'clock'>,
    Pick<OAuthOptions, 'clientSecret' | 'privateKey' | 'issuer' | 'tokenEndpoint'> {
  readonly clientId: string;
  /** The value of `audience`, for authorization servers that want one. */
  readonly audience?: string | undefined;
}

/**
 * Changes the token of a user for one that another server accepts (RFC 8693). The token of the user goes to the authorization
 * server that the options name, and to no other: what the server says about itself is read only for `resource` and scopes.
 */
export class TokenExchange {
  readonly #server: URL;
  readonly #settings;
  readonly #audience: string | undefined;
  readonly #network;
  #facts: { readonly found: Promise<LoginFacts>; readonly until: number } | undefined;

  constructor(server: URL, { audience, ...options }: TokenExchangeOptions) {
    if (options.issuer === undefined && options.tokenEndpoint === undefined) {
      throw new IsthmusError('INVALID_OPTION', 'token-exchange needs an issuer or a tokenEndpoint');
    }
    this.#server = server;
    this.#audience = audience;
    // No user visits a page, so PKCE does not matter.
    this.#settings = resolveOAuth({ ...options, assumePkce: true, offlineAccess: false });
    this.#network = loginNetwork(server, this.#settings);
  }

  /** `challenge`: what the server said when it refused an earlier token. */
  async exchange(subjectToken: string, challenge?: LoginChallenge): Promise<GrantedToken> {
    const { clock } = this.#settings;
    const { metadata, resource, ...rest } = await this.#find();
    const identity = chooseIdentity(metadata, undefined, this.#settings);
    if (identity.kind !== 'known')
      throw new IsthmusError('INVALID_OPTION', 'token-exchange needs a clientId');
    const scopes = scopesToAsk({ metadata, resource, ...rest }, challenge, undefined, this.#settings);
    try {
      return await requestToken(this.#network.http, {
        issuer: metadata.issuer,
        tokenEndpoint: metadata.tokenEndpoint,
        client: await tokenClientOf(identity.client, this.#settings),
        grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
        params: {
          subject_token: subjectToken,
          subject_token_type: ACCESS_TOKEN,
          requested_token_type: ACCESS_TOKEN,
          ...(this.#audience !== undefined && { audience: this.#audience }),
          ...(resource !== undefined && { resource }),
          ...(scopes.length > 0 && { scope: scopes.join(' ') }),
        },
        now: clock.now,
      });
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      const message = `${metadata.issuer} did not exchange the token of the caller: ${error.message}`;
      throw new IsthmusError('UNAUTHORIZED', message, { sent: 'no' });
    }
  }

  /** What the two servers say about themselves is read again after a while, and after a failure. */
  #find(): Promise<LoginFacts> {
    const now = this.#settings.clock.now();
    if (this.#facts && now < this.#facts.until) return this.#facts.found;
    const found = findLoginFacts(this.#server, undefined, this.#network, this.#settings, undefined);
    this.#facts = { found, until: now + FACTS_MS };
    found.catch((error: unknown) => {
      // A server that is down is not asked again with every call.
      this.#facts = outageOf(error) && { found, until: this.#settings.clock.now() + PAUSE_MS };
    });
    return found;
  }
}

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const FACTS_MS = 600_000;
const PAUSE_MS = 1000;
