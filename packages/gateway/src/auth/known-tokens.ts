import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { clientKey } from '@isthmus/sdk/internal/exchange/client-key.js';
import { formEncode } from '@isthmus/sdk/internal/oauth/client-authentication.js';
import type { AuthorizationServerMetadata } from '@isthmus/sdk/internal/oauth/discovery/authorization-server.js';
import type { OAuthHttp } from '@isthmus/sdk/internal/oauth/discovery/oauth-http.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { AskLimits } from './ask-limits.js';

/** The client that asks the authorization server about tokens. */
export interface IntrospectionClient {
  readonly clientId: string;
  readonly clientSecret: string | { readonly file: string };
  /** Default: the one that the authorization server publishes. */
  readonly endpoint?: string;
}

export interface KnownTokensOptions {
  readonly introspection: IntrospectionClient;
  readonly http: OAuthHttp;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
}

export type TokenState =
  | { readonly kind: 'active'; readonly claims: JsonObject; readonly expiresAt: number | undefined }
  | { readonly kind: 'inactive' }
  /** It cannot be found out now. */
  | { readonly kind: 'away'; readonly until: number };

/** A token, and who sent it. */
export interface AskedToken {
  readonly token: string;
  readonly remote: string | undefined;
}

/**
 * What the authorization server has said of tokens, by their hashes. Bounded: the oldest are forgotten. Tokens that are not
 * active are kept apart, so that a flood of them takes nothing from the others.
 */
export class KnownTokens {
  readonly #options: KnownTokensOptions;
  readonly #active = new Map<string, ActiveEntry>();
  readonly #inactive = new Map<string, number>();
  readonly #asking = new Map<string, Promise<TokenState>>();
  readonly #limits: AskLimits;
  #activeBytes = 0;
  #awayUntil = 0;
  #isAway = false;

  constructor(options: KnownTokensOptions) {
    this.#options = options;
    this.#limits = new AskLimits(options.clock);
  }

  /** How many tokens are remembered, and how long what is known of the active ones is. */
  get size(): { readonly active: number; readonly inactive: number; readonly bytes: number } {
    return { active: this.#active.size, inactive: this.#inactive.size, bytes: this.#activeBytes };
  }

  stateOf(
    { token, remote }: AskedToken,
    server: AuthorizationServerMetadata,
  ): TokenState | Promise<TokenState> {
    const key = createHash('sha256').update(token).digest('base64url');
    const { clock } = this.#options;
    const now = clock.now();
    const known = this.#active.get(key);
    if (known && now < known.until) return known.state;
    if (now < (this.#inactive.get(key) ?? 0)) return INACTIVE;
    // A server that is away is not asked with every request.
    if (now < this.#awayUntil) return { kind: 'away', until: this.#awayUntil };
    const running = this.#asking.get(key);
    if (running) return running;
    // A token that was active before does not wait for those of strangers.
    const slot = this.#limits.enter(clientKey({ principal: undefined, remote }), known !== undefined);
    if (!slot) return { kind: 'away', until: now + BUSY_MS };
    const asking = this.#ask(token, server)
      .then((state) => this.#learn(key, state))
      .finally(() => {
        this.#asking.delete(key);
        this.#limits.leave(slot);
      });
    this.#asking.set(key, asking);
    return asking;
  }

  #learn(key: string, state: TokenState): TokenState {
    if (state.kind === 'away') return state;
    const { clock, warn } = this.#options;
    if (this.#isAway) warn('the introspection endpoint answers again');
    this.#isAway = false;
    const now = clock.now();
    this.#forget(key);
    if (state.kind === 'inactive') {
      this.#inactive.delete(key);
      this.#inactive.set(key, now + INACTIVE_MS);
      if (this.#inactive.size > MAX_KNOWN) this.#inactive.delete(this.#inactive.keys().next().value!);
      return state;
    }
    const bytes = JSON.stringify(state.claims).length + ENTRY_BYTES;
    const until = Math.min(now + ACTIVE_MS, state.expiresAt ?? Number.POSITIVE_INFINITY);
    this.#active.set(key, { state, until, bytes });
    this.#activeBytes += bytes;
    while (this.#active.size > MAX_KNOWN || this.#activeBytes > MAX_BYTES) {
      this.#forget(this.#active.keys().next().value!);
    }
    return state;
  }

  #forget(key: string): void {
    this.#activeBytes -= this.#active.get(key)?.bytes ?? 0;
    this.#active.delete(key);
  }

  async #ask(token: string, server: AuthorizationServerMetadata): Promise<TokenState> {
    const { clock, http, introspection, warn } = this.#options;
    const endpoint = introspection.endpoint ?? server.introspectionEndpoint;
    try {
      if (endpoint === undefined) throw new Error(`${server.issuer} names no introspection endpoint`);
      const response = await http.send(new URL(endpoint), {
        method: 'POST',
        headers: {
          accept: 'application/json',
          authorization: await credentialsOf(introspection),
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
      });
      // This token is refused. A caller must not be able to keep others out with a token that the server cannot read.
      if (OF_TOKEN.has(response.status)) return INACTIVE;
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

interface ActiveEntry {
  readonly state: TokenState;
  readonly until: number;
  readonly bytes: number;
}

async function credentialsOf({ clientId, clientSecret }: IntrospectionClient): Promise<string> {
  const secret =
    typeof clientSecret === 'string' ? clientSecret : (await readFile(clientSecret.file, 'utf8')).trim();
  return `Basic ${Buffer.from(`${formEncode(clientId)}:${formEncode(secret)}`).toString('base64')}`;
}

function stateIn(body: JsonObject, now: number): TokenState {
  if (body['active'] !== true) return INACTIVE;
  const { exp, token_type: type } = body;
  const expiresAt = typeof exp === 'number' ? exp * 1000 : undefined;
  if (expiresAt !== undefined && expiresAt <= now) return INACTIVE;
  // A refresh token is active, too. It gives no access.
  if (typeof type === 'string' && /refresh|id_token/i.test(type)) return INACTIVE;
  return { kind: 'active', claims: body, expiresAt };
}

const INACTIVE = { kind: 'inactive' } as const;
/** Too long, or not readable. */
const OF_TOKEN: ReadonlySet<number> = new Set([400, 413, 414, 422, 431]);
const ACTIVE_MS = 30_000;
const INACTIVE_MS = 5000;
/** Of each kind. A token that is not active takes some 150 bytes. */
const MAX_KNOWN = 10_000;
/** What is known of all active tokens. */
const MAX_BYTES = 32 * 1024 * 1024;
const ENTRY_BYTES = 200;
const BUSY_MS = 1000;
const PAUSE_MS = 1000;
