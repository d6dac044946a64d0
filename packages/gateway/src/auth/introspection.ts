import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { formEncode } from '@isthmus/sdk/internal/oauth/client-authentication.js';
import type { AuthorizationServerMetadata } from '@isthmus/sdk/internal/oauth/discovery/authorization-server.js';
import type { OAuthHttp } from '@isthmus/sdk/internal/oauth/discovery/oauth-http.js';
import type { CredentialState } from '@isthmus/sdk/internal/transport/http-server/options.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { isMeantFor, ownAudiences } from './audience.js';
import type { Presented, SchemeVerdict } from './credentials.js';
import { type JwtOptions, listOf } from './jwt.js';
import { invalidToken, ownerOf, refusedToken, toCaller } from './token-caller.js';

/** The client that asks the authorization server about tokens. */
export interface IntrospectionClient {
  readonly clientId: string;
  readonly clientSecret: string | { readonly file: string };
  /** Default: the one that the authorization server publishes. */
  readonly endpoint?: string;
}

export interface IntrospectionOptions
  extends Pick<JwtOptions, 'audience' | 'resource' | 'requiredScopes' | 'principalClaim'> {
  readonly introspection: IntrospectionClient;
  readonly http: OAuthHttp;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
}

/**
 * Asks the authorization server whether a token is active (RFC 7662). An active token is asked about again after 30 s at
 * the latest, another one after 5 s. The same token is never asked about twice at once.
 */
export function createIntrospection(
  options: IntrospectionOptions,
): (presented: Presented, server: AuthorizationServerMetadata) => Promise<SchemeVerdict> {
  const { clock, requiredScopes = [], principalClaim = 'sub' } = options;
  const audience = { names: listOf(options.audience), resource: options.resource };
  const answers = new KnownTokens(options);
  return async ({ bearer = '', resource }, server) => {
    const key = createHash('sha256').update(bearer).digest('base64url');
    const state = await answers.stateOf(key, bearer, server);
    if (state.kind === 'away') return refusedToken({ status: 503, retryAfterMs: state.until - clock.now() });
    if (state.kind === 'inactive') return invalidToken('The token is not active');
    const { claims } = state;
    // AUTH-S-005: some servers say it in `resource`.
    const audiences = [...textsOf(claims['aud']), ...textsOf(claims['resource'])];
    const meant = ownAudiences(audiences, audience, resource);
    const invalid = (why: string) => invalidToken(why, ownerOf(claims, server.issuer, { principalClaim }));
    if (meant.length === 0) return invalid('The token is for another server');
    if (!isMeantFor(meant, resource)) return invalid('The token is for another path of this server');
    const expiresAt = state.expiresAt ?? Number.POSITIVE_INFINITY;
    const standing = async (): Promise<CredentialState> => {
      if (clock.now() >= expiresAt) return 'expired';
      const now = await answers.stateOf(key, bearer, server);
      return now.kind === 'inactive' ? 'revoked' : 'good';
    };
    const issuer = typeof claims['iss'] === 'string' ? claims['iss'] : server.issuer;
    if (issuer !== server.issuer) return invalidToken('The token is of another issuer');
    const subject = claims[principalClaim] ?? clientSubject(claims);
    const named = { ...claims, [principalClaim]: subject };
    const verdict = toCaller(named, issuer, { requiredScopes, principalClaim }, { expiresAt, standing });
    if (verdict.kind !== 'known' || state.expiresAt !== undefined) return verdict;
    const { expiresAt: _never, ...rest } = verdict;
    return rest;
  };
}

/** A token that a client got for itself has no user. */
function clientSubject({ client_id: id }: JsonObject): string | undefined {
  return typeof id === 'string' ? `client:${id}` : undefined;
}

type TokenState =
  | { readonly kind: 'active'; readonly claims: JsonObject; readonly expiresAt: number | undefined }
  | { readonly kind: 'inactive' }
  | { readonly kind: 'away'; readonly until: number };

/** What is known of tokens, by their hashes. Bounded: the oldest are forgotten. */
class KnownTokens {
  readonly #options: IntrospectionOptions;
  readonly #known = new Map<string, { readonly state: TokenState; readonly until: number }>();
  readonly #asking = new Map<string, Promise<TokenState>>();
  #awayUntil = 0;
  #isAway = false;

  constructor(options: IntrospectionOptions) {
    this.#options = options;
  }

  stateOf(key: string, token: string, server: AuthorizationServerMetadata): TokenState | Promise<TokenState> {
    const now = this.#options.clock.now();
    const known = this.#known.get(key);
    if (known && now < known.until) return known.state;
    // A server that is away is not asked with every request.
    if (now < this.#awayUntil) return { kind: 'away', until: this.#awayUntil };
    const running = this.#asking.get(key);
    if (running) return running;
    if (this.#asking.size >= MAX_ASKING) return { kind: 'away', until: now + BUSY_MS };
    const asking = this.#ask(token, server)
      .then((state) => this.#learn(key, state))
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  #learn(key: string, state: TokenState): TokenState {
    const { clock, warn } = this.#options;
    const now = clock.now();
    if (state.kind === 'away') return state;
    if (this.#isAway) warn('the introspection endpoint answers again');
    this.#isAway = false;
    const most = state.kind === 'active' ? ACTIVE_MS : INACTIVE_MS;
    const until = Math.min(now + most, (state.kind === 'active' && state.expiresAt) || Infinity);
    this.#known.delete(key);
    this.#known.set(key, { state, until });
    if (this.#known.size > MAX_KNOWN) this.#known.delete(this.#known.keys().next().value!);
    return state;
  }

  async #ask(token: string, server: AuthorizationServerMetadata): Promise<TokenState> {
    const { clock, http, introspection, warn } = this.#options;
    const endpoint = introspection.endpoint ?? server.introspectionEndpoint;
    try {
      if (endpoint === undefined) throw new Error(`${server.issuer} names no introspection endpoint`);
      const { clientId, clientSecret } = introspection;
      const secret =
        typeof clientSecret === 'string' ? clientSecret : (await readFile(clientSecret.file, 'utf8')).trim();
      const pair = Buffer.from(`${formEncode(clientId)}:${formEncode(secret)}`).toString('base64');
      const response = await http.send(new URL(endpoint), {
        method: 'POST',
        headers: {
          accept: 'application/json',
          authorization: `Basic ${pair}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
      });
      const body: unknown = response.status === 200 ? await response.json() : undefined;
      if (!isJsonObject(body) || typeof body['active'] !== 'boolean') {
        throw new Error(`${new URL(endpoint).origin} answered with HTTP ${response.status}`);
      }
      return stateIn(body, clock.now());
    } catch (error) {
      // The reason may contain what was sent.
      const why = messageOf(error).replaceAll(token, '…');
      if (!this.#isAway) warn(`tokens cannot be checked, and are refused until they can be: ${why}`);
      this.#isAway = true;
      this.#awayUntil = clock.now() + PAUSE_MS;
      return { kind: 'away', until: this.#awayUntil };
    }
  }
}

function stateIn(body: JsonObject, now: number): TokenState {
  if (body['active'] !== true) return { kind: 'inactive' };
  const { exp, token_type: type } = body;
  const expiresAt = typeof exp === 'number' ? exp * 1000 : undefined;
  if (expiresAt !== undefined && expiresAt <= now) return { kind: 'inactive' };
  // A refresh token is active, too. It gives no access.
  if (typeof type === 'string' && /refresh|id_token/i.test(type)) return { kind: 'inactive' };
  return { kind: 'active', claims: body, expiresAt };
}

function textsOf(value: unknown): string[] {
  return [value].flat().filter((each) => typeof each === 'string') as string[];
}

const ACTIVE_MS = 30_000;
const INACTIVE_MS = 5000;
/** Some 2 KiB each, with the claims. */
const MAX_KNOWN = 10_000;
/** Tokens that are being asked about at once. */
const MAX_ASKING = 256;
const BUSY_MS = 1000;
const PAUSE_MS = 1000;
