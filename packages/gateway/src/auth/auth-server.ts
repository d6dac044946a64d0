import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { type AddressRule, addressRule } from '@isthmus/sdk/internal/oauth/discovery/addresses.js';
import {
  type AuthorizationServerMetadata,
  findAuthorizationServer,
} from '@isthmus/sdk/internal/oauth/discovery/authorization-server.js';
import { createOAuthHttp, type OAuthHttp } from '@isthmus/sdk/internal/oauth/discovery/oauth-http.js';
import { type Scheme, UNKNOWN } from './credentials.js';
import { createIntrospection } from './introspection.js';
import { createJwtCheck, type JwtOptions } from './jwt.js';
import type { IntrospectionClient } from './known-tokens.js';
import { checkScopes, refusedToken } from './token-caller.js';

/** An authorization server whose tokens are accepted. It publishes where its keys are (RFC 8414, OpenID Connect). */
export interface AuthServerOptions
  extends Pick<
    JwtOptions,
    | 'audience'
    | 'resource'
    | 'requiredScopes'
    | 'scopeClaim'
    | 'principalClaim'
    | 'clockTolerance'
    | 'requireType'
    | 'fetch'
  > {
  readonly issuer: string;
  /** Asks the authorization server about tokens that are not JWTs (RFC 7662). */
  readonly introspection?: IntrospectionClient;
}

/**
 * Accepts the tokens of one authorization server. Its metadata is read with the first token, and again after ten minutes;
 * while it cannot be read, tokens are refused with 503, and the server is asked at most every 5 s.
 */
export function createAuthServerCheck(
  options: AuthServerOptions,
  context: { readonly clock: Clock; readonly warn: (message: string) => void },
): Scheme {
  const { issuer, introspection } = options;
  const { clock, warn } = context;
  if (!URL.canParse(issuer) || !/^https?:$/.test(new URL(issuer).protocol)) {
    throw new IsthmusError('INVALID_OPTION', `The authorization server must be an https URL, got ${issuer}`);
  }
  if (options.audience === undefined && options.resource === undefined) {
    throw new IsthmusError(
      'INVALID_OPTION',
      'an authorization server needs an audience or a resource: tokens for other servers must not be accepted here',
    );
  }
  checkScopes(options.requiredScopes ?? [], 'requiredScopes');
  // The operator has named it, so it may be in a private network.
  const rule = addressRule({ server: new URL(issuer), allowPrivate: true });
  const http = createOAuthHttp({ rule, fetch: options.fetch, timeoutMs: TIMEOUT_MS });
  const find = () =>
    findAuthorizationServer(issuer, { http, rule, assumePkce: true, onWarning: warn }).then((found) => {
      if (found) return withUsableKeys(found, rule);
      throw new IsthmusError('UNAUTHORIZED', `${issuer} publishes no metadata of an authorization server`);
    });
  const metadata = new KeptMetadata(issuer, find, context);
  let jwt: { readonly jwksUri: string; readonly check: Scheme } | undefined;
  const introspect = introspection && createIntrospection({ ...options, introspection, http, ...context });
  return async (presented) => {
    const { bearer } = presented;
    if (bearer === undefined) return UNKNOWN;
    const claimed = issuerIn(bearer);
    if (claimed === undefined && !introspect) return UNKNOWN;
    const found = await metadata.get();
    if (found.kind === 'away') {
      // A token of another issuer is a matter of another scheme.
      if (claimed !== undefined && withoutSlash(claimed) !== withoutSlash(issuer)) return UNKNOWN;
      return refusedToken({ status: 503, retryAfterMs: Math.max(1, found.until - clock.now()) });
    }
    const { metadata: server } = found;
    if (claimed === undefined) return introspect!(presented, server);
    if (claimed !== server.issuer) return UNKNOWN;
    const { jwksUri } = server;
    if (jwksUri === undefined) {
      return introspect ? introspect(presented, server) : UNKNOWN;
    }
    if (jwt?.jwksUri !== jwksUri) {
      const keys = { jwksUrl: jwksUri, fetch: keysThrough(http) };
      const own = { ...options, ...keys, issuer: server.issuer, mayHaveIdTokens: true };
      jwt = { jwksUri, check: createJwtCheck(own, context) };
    }
    return jwt.check(presented);
  };
}

/** Keys that come without TLS could be those of anyone on the network path. */
function withUsableKeys(
  metadata: AuthorizationServerMetadata,
  rule: AddressRule,
): AuthorizationServerMetadata {
  const { issuer, jwksUri } = metadata;
  if (jwksUri === undefined) return metadata;
  const why = URL.canParse(jwksUri) ? rule.refuses(new URL(jwksUri)) : 'it is not a URL';
  if (why === undefined) return metadata;
  throw new IsthmusError('UNAUTHORIZED', `The jwks_uri of ${issuer} cannot be used: ${why}`);
}

/** Asks for the keys in the same way as for the metadata: through the same proxy, and without redirects. */
function keysThrough(http: OAuthHttp): typeof fetch {
  return (url) =>
    http.send(new URL(String(url)), {
      method: 'GET',
      headers: { accept: 'application/json' },
      maxBytes: MAX_KEYS,
    });
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '');
}

/** The issuer that a JWT names, before anything is verified. Undefined for what is not a JWT. */
function issuerIn(token: string): string | undefined {
  const parts = token.split('.');
  if (parts.length !== 3) return undefined;
  try {
    const { iss } = JSON.parse(Buffer.from(parts[1]!, 'base64url').toString()) as { iss?: unknown };
    return typeof iss === 'string' ? iss : undefined;
  } catch {
    return undefined;
  }
}

type Found =
  | { readonly kind: 'found'; readonly metadata: AuthorizationServerMetadata; readonly until: number }
  | { readonly kind: 'away'; readonly until: number };

/** The metadata as it was read last. An outage does not take away what is known. */
class KeptMetadata {
  readonly #issuer: string;
  readonly #find: () => Promise<AuthorizationServerMetadata>;
  readonly #context: { readonly clock: Clock; readonly warn: (message: string) => void };
  #last: Found | undefined;
  #asking: Promise<Found> | undefined;

  constructor(
    issuer: string,
    find: () => Promise<AuthorizationServerMetadata>,
    context: { readonly clock: Clock; readonly warn: (message: string) => void },
  ) {
    this.#issuer = issuer;
    this.#find = find;
    this.#context = context;
  }

  get(): Found | Promise<Found> {
    if (this.#last && this.#context.clock.now() < this.#last.until) return this.#last;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<Found> {
    const { clock, warn } = this.#context;
    const before = this.#last;
    try {
      const metadata = await this.#find();
      if (before?.kind === 'away') warn(`${this.#issuer} can be read again`);
      this.#last = { kind: 'found', metadata, until: clock.now() + FRESH_MS };
    } catch (error) {
      if (before?.kind === 'found') this.#last = { ...before, until: clock.now() + PAUSE_MS };
      else {
        if (!before) warn(`${messageOf(error)}: its tokens are refused until it can be read`);
        this.#last = { kind: 'away', until: clock.now() + PAUSE_MS };
      }
    }
    return this.#last;
  }
}

const FRESH_MS = 600_000;
const PAUSE_MS = 5000;
const TIMEOUT_MS = 5000;
const MAX_KEYS = 1024 * 1024;
