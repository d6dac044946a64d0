/**
 * An `OAuthClientProvider` of the official SDK, version 1 or 2: the part that is used. Programs that have one can keep it.
 */
export interface OfficialOAuthProvider {
  /** Undefined: no user is needed, and `prepareTokenRequest` says what to send. */
  readonly redirectUrl: string | URL | undefined;
  readonly clientMetadata: OfficialClientMetadata;
  readonly clientMetadataUrl?: string | undefined;
  state?(): string | Promise<string>;
  clientInformation(
    context?: IssuerContext,
  ): OfficialClientInformation | undefined | Promise<OfficialClientInformation | undefined>;
  saveClientInformation?(client: OfficialClientInformation, context?: IssuerContext): unknown;
  tokens(context?: IssuerContext): OfficialTokens | undefined | Promise<OfficialTokens | undefined>;
  saveTokens(tokens: OfficialTokens, context?: IssuerContext): unknown;
  redirectToAuthorization(url: URL): unknown;
  invalidateCredentials?(what: 'all' | 'client' | 'tokens' | 'verifier'): unknown;
  validateResourceURL?(server: string | URL, resource?: string): Promise<URL | undefined>;
  prepareTokenRequest?(scope?: string): URLSearchParams | undefined | Promise<URLSearchParams | undefined>;
  addClientAuthentication?(headers: Headers, body: URLSearchParams, url: string, metadata?: object): unknown;
  saveAuthorizationServerUrl?(url: string): unknown;
  saveResourceUrl?(url: string): unknown;
  dpop?(): unknown;
}

/** The authorization server that stored credentials belong to. Only version 2 looks at it. */
export interface IssuerContext {
  readonly issuer: string;
}

/** What the provider says about its client. */
export interface OfficialClientMetadata {
  readonly client_name?: string | undefined;
  readonly client_uri?: string | undefined;
  readonly scope?: string | undefined;
  readonly grant_types?: readonly string[] | undefined;
}

/** A registered client, as a provider keeps it. */
export interface OfficialClientInformation {
  client_id: string;
  client_secret?: string | undefined;
  client_secret_expires_at?: number | undefined;
  /** The authorization server that knows the client. Version 1 has no such field, and keeps it nevertheless. */
  issuer?: string | undefined;
}

/** The tokens of a login, as a provider keeps them. */
export interface OfficialTokens {
  access_token: string;
  token_type: string;
  expires_in?: number | undefined;
  scope?: string | undefined;
  refresh_token?: string | undefined;
  issuer?: string | undefined;
}
