import type { Deferred } from '../async/deferred.js';
import { IsthmusError } from '../errors.js';
import type { AuthRefusal, ServerAuth } from '../transport/http-client/options.js';
import { tokenClientOf } from './client-identity.js';
import { type LoginChallenge, loginChallenge } from './discovery/challenge.js';
import { findLoginFacts, type LoginFacts, loginNetwork } from './discovery/login-facts.js';
import { isUnreachable } from './discovery/oauth-http.js';
import { grantLogin, paramsOf } from './grant-login.js';
import type { OAuthSettings } from './options.js';
import { type LoginRecord, type LoginToken, loginKey } from './store/login-record.js';
import { requestToken, revokeToken, TokenRefused } from './token-endpoint.js';

/** A login as people may see it: without any secret. */
export interface LoginStatus {
  readonly server: string;
  readonly state: 'none' | 'valid' | 'stale' | 'needs-login';
  readonly issuer: string | undefined;
  readonly clientId: string | undefined;
  readonly scopes: readonly string[];
  /** In milliseconds since 1970. */
  readonly expiresAt: number | undefined;
  readonly isRenewable: boolean;
  readonly reason: string | undefined;
}

/** The login for one server: gets tokens, renews them, and keeps them in the store. */
export class ServerLogin implements ServerAuth {
  readonly #server: URL;
  readonly #settings: OAuthSettings;
  readonly #key: string;
  readonly #network;
  readonly #responses: { deferred: Deferred<URLSearchParams> | undefined } = { deferred: undefined };
  #record: LoginRecord | undefined;
  #header: string | undefined;
  /** Until then the header is sent as it is. 0: the store was not read yet. */
  #freshUntil = 0;
  /** One renewal at a time. All requests that need one share it. */
  #renewing: Promise<boolean> | undefined;
  /** When logins with a user were begun. */
  #begun: readonly number[] = [];
  readonly #stepUps = new Map<string, number>();

  constructor(server: URL, settings: OAuthSettings) {
    this.#server = server;
    this.#settings = settings;
    this.#key = loginKey(server, settings.grant === 'client-credentials' ? settings.clientId : undefined);
    this.#network = loginNetwork(server, settings);
  }

  /** Does not wait while a token is valid: a call pays one comparison. */
  authorization(): string | undefined | Promise<string | undefined> {
    return this.#settings.clock.now() < this.#freshUntil ? this.#header : this.#fresh();
  }

  async refused(refusal: AuthRefusal): Promise<boolean> {
    const challenge = loginChallenge(refusal.wwwAuthenticate);
    const isStepUp = refusal.status === 403;
    if (isStepUp && challenge?.error !== 'insufficient_scope') return false;
    // Another request has renewed the token while this one was under way.
    if (this.#header !== undefined && this.#header !== refusal.authorization) return true;
    this.#renewing ??= (isStepUp ? this.#stepUp(challenge!) : this.#renew(refusal, challenge)).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  /** Begins a login, whether or not there is one. `wwwAuthenticate` is what the server sent with a 401, if anything. */
  async login(wwwAuthenticate?: string): Promise<LoginStatus> {
    this.#adopt(await this.#settings.store.read(this.#key));
    await this.#grant(loginChallenge(wwwAuthenticate), this.#settings.scopes ?? []);
    return this.status();
  }

  /** A user is at it, and the response comes from the program. */
  get isWaiting(): boolean {
    return this.#responses.deferred !== undefined;
  }

  /** Gives the response of a browser that came back to a URL of the program (`callback.url`). */
  finish(response: string | URL | URLSearchParams): void {
    const waiting = this.#responses.deferred;
    if (!waiting) throw new IsthmusError('INVALID_OPTION', 'No login waits for a response', { sent: 'no' });
    waiting.resolve(response instanceof URLSearchParams ? response : paramsOf(String(response)));
  }

  async status(): Promise<LoginStatus> {
    const record = await this.#settings.store.read(this.#key);
    return statusOf(this.#server, record, this.#settings.clock.now());
  }

  /** Revokes the tokens where the authorization server allows that, and forgets the login. */
  async logout(): Promise<void> {
    const { store } = this.#settings;
    const record = await store.read(this.#key);
    await store.delete(this.#key);
    this.#adopt(undefined);
    if (!record?.token || record.revocationEndpoint === undefined) return;
    const { issuer, tokenEndpoint, revocationEndpoint: endpoint, token } = record;
    const client = tokenClientOf(record.client, this.#settings);
    const shared = { issuer, tokenEndpoint, endpoint, client };
    const revoke = (kind: 'refresh_token' | 'access_token', value: string | undefined) =>
      value === undefined
        ? undefined
        : revokeToken(this.#network.http, { ...shared, kind, token: value }).catch(() => {
            this.#settings.onWarning(`${issuer} did not revoke the ${kind.replace('_', ' ')}`);
          });
    await revoke('refresh_token', token.refresh);
    await revoke('access_token', token.access);
  }

  async #fresh(): Promise<string | undefined> {
    if (this.#freshUntil === 0) this.#adopt(await this.#settings.store.read(this.#key));
    const { clock } = this.#settings;
    if (clock.now() < this.#freshUntil) return this.#header;
    const token = this.#record?.token;
    if (!token) return undefined;
    this.#renewing ??= this.#refreshOrRepeat(token).finally(() => {
      this.#renewing = undefined;
    });
    try {
      await this.#renewing;
    } catch (error) {
      // The old token may be used until its end.
      if (!isUnreachable(error) || isOver(token, clock.now())) throw error;
    }
    return isOver(this.#record?.token, clock.now()) ? undefined : this.#header;
  }

  /** After a 401: another process may have a newer token; then a refresh; then a new login. */
  async #renew(
    { authorization, attempt }: AuthRefusal,
    challenge: LoginChallenge | undefined,
  ): Promise<boolean> {
    if (attempt > 1) return false;
    this.#adopt(await this.#settings.store.read(this.#key));
    if (this.#header !== undefined && this.#header !== authorization) return true;
    const token = this.#record?.token;
    if (attempt === 0 && token && (await this.#refreshOrRepeat(token))) return true;
    await this.#grant(challenge, []);
    return true;
  }

  /** False: the token cannot be renewed without a new login. */
  async #refreshOrRepeat(token: LoginToken): Promise<boolean> {
    if (token.refresh === undefined) return false;
    return this.#settings.store.locked(this.#key, async () => {
      const record = await this.#settings.store.read(this.#key);
      const current = record?.token;
      if (current && current.access !== token.access) {
        // Another process was first.
        this.#adopt(record);
        return true;
      }
      if (!record || current?.refresh === undefined) return false;
      return this.#refresh(record, current, current.refresh);
    });
  }

  async #refresh(
    record: LoginRecord,
    token: LoginToken,
    refresh: string,
    withScope = true,
  ): Promise<boolean> {
    const { issuer, tokenEndpoint, resource } = record;
    try {
      const renewed = await requestToken(this.#network.http, {
        issuer,
        tokenEndpoint,
        client: tokenClientOf(record.client, this.#settings),
        grantType: 'refresh_token',
        params: {
          refresh_token: refresh,
          ...(resource !== undefined && { resource }),
          ...(withScope && token.scopes.length > 0 && { scope: token.scopes.join(' ') }),
        },
        now: this.#settings.clock.now,
      });
      await this.#keep(record, {
        ...renewed,
        refresh: renewed.refresh ?? refresh,
        scopes: renewed.scopes.length > 0 ? renewed.scopes : token.scopes,
        requestedScopes: token.requestedScopes,
        generation: token.generation + 1,
      });
      return true;
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      if (error.error === 'invalid_scope' && withScope) return this.#refresh(record, token, refresh, false);
      await this.#forget(record, error);
      return false;
    }
  }

  /** The refresh token is dead. The registration stays, unless the authorization server does not know it any more. */
  async #forget(record: LoginRecord, { error, message }: TokenRefused): Promise<void> {
    const { store } = this.#settings;
    const isClientGone = error === 'invalid_client' || error === 'unauthorized_client';
    if (isClientGone && record.client.kind === 'registered') await store.delete(this.#key);
    else await store.write(this.#key, { ...record, token: undefined, reason: message.slice(0, 300) });
    this.#adopt(await store.read(this.#key));
  }

  /** A 403 that asks for more scopes. A refresh cannot widen a token, so this is a new login. */
  async #stepUp(challenge: LoginChallenge): Promise<boolean> {
    const wanted = [...challenge.scopes].sort().join(' ');
    const tries = this.#stepUps.get(wanted) ?? 0;
    if (tries >= MAX_STEP_UPS) return false;
    this.#stepUps.set(wanted, tries + 1);
    await this.#grant(challenge, []);
    return true;
  }

  async #grant(challenge: LoginChallenge | undefined, more: readonly string[]): Promise<void> {
    const settings = this.#settings;
    this.#checkMayBegin();
    const stored = this.#record;
    const facts = await findLoginFacts(this.#server, challenge, this.#network, settings, stored?.issuer);
    const scopes = this.#scopesFor(facts, challenge, more);
    const { signal } = new AbortController();
    const network = this.#network;
    const { client, token } = await grantLogin(
      { server: this.#server, facts, network, settings, stored, responses: this.#responses, signal },
      scopes,
    );
    const { metadata, resource } = facts;
    const record: LoginRecord = {
      v: 1,
      server: `${this.#server.origin}${this.#server.pathname}`,
      resource,
      issuer: metadata.issuer,
      tokenEndpoint: metadata.tokenEndpoint,
      revocationEndpoint: metadata.revocationEndpoint,
      client,
      token: undefined,
      reason: undefined,
    };
    const granted = token.scopes.length > 0 ? token.scopes : scopes;
    const generation = (stored?.token?.generation ?? 0) + 1;
    await this.#keep(record, { ...token, scopes: granted, requestedScopes: scopes, generation });
  }

  /** Only a program or a person begins a login, and not again and again. */
  #checkMayBegin(): void {
    const { grant, open, ask, loginHint, clock } = this.#settings;
    const now = clock.now();
    const canAsk =
      open !== undefined || ask.callback !== undefined || (grant === 'device-code' && ask.showCode);
    if (grant !== 'client-credentials' && !canAsk) {
      const why = this.#record?.reason === undefined ? '' : ` (${this.#record.reason})`;
      const message = `${this.#server.origin}${this.#server.pathname} needs a login${why}${loginHint ? `: ${loginHint}` : ''}`;
      throw new IsthmusError('UNAUTHORIZED', message, { sent: 'no', status: 401 });
    }
    this.#begun = this.#begun.filter((at) => now - at < LOGINS_WITHIN_MS);
    if (this.#begun.length >= MAX_LOGINS) {
      const message = `${this.#server.origin}${this.#server.pathname} refused ${MAX_LOGINS} new logins within 10 minutes`;
      throw new IsthmusError('UNAUTHORIZED', message, { sent: 'no', status: 401 });
    }
    this.#begun = [...this.#begun, now];
  }

  /** AUTH-C-053, AUTH-C-081: what was asked for before, and what the server asks for now; else what it lists. */
  #scopesFor(
    { metadata, published }: LoginFacts,
    challenge: LoginChallenge | undefined,
    more: readonly string[],
  ): readonly string[] {
    const { scopes: configured, offlineAccess } = this.#settings;
    const before =
      this.#record?.issuer === metadata.issuer ? (this.#record.token?.requestedScopes ?? []) : [];
    const asked =
      challenge && challenge.scopes.length > 0 ? challenge.scopes : (published?.scopesSupported ?? []);
    const wanted = new Set([...(configured ?? before), ...more, ...(configured && !challenge ? [] : asked)]);
    if (wanted.size > 0 && offlineAccess && metadata.scopesSupported?.includes('offline_access')) {
      wanted.add('offline_access');
    }
    return [...wanted];
  }

  async #keep(record: LoginRecord, token: LoginToken): Promise<void> {
    const kept = { ...record, token, reason: undefined };
    // Stored before it is used: a token that is lost with the process may have been the only one.
    await this.#settings.store.write(this.#key, kept);
    this.#adopt(kept);
  }

  #adopt(record: LoginRecord | undefined): void {
    const { clientId } = this.#settings;
    // A login of another client is not ours.
    this.#record = clientId !== undefined && record?.client.id !== clientId ? undefined : record;
    const token = this.#record?.token;
    this.#header = token && `Bearer ${token.access}`;
    this.#freshUntil = token ? renewAt(token) : Number.POSITIVE_INFINITY;
  }
}

/** The status of a stored login. */
export function statusOf(server: URL | string, record: LoginRecord | undefined, now: number): LoginStatus {
  const token = record?.token;
  const isRenewable = token?.refresh !== undefined;
  const isLate = isOver(token, now);
  const state = !record
    ? 'none'
    : !token || (isLate && !isRenewable)
      ? 'needs-login'
      : isLate
        ? 'stale'
        : 'valid';
  return {
    server: record?.server ?? String(server),
    state,
    issuer: record?.issuer,
    clientId: record?.client.id,
    scopes: token?.scopes ?? [],
    expiresAt: token?.expiresAt,
    isRenewable,
    reason: record?.reason,
  };
}

/** Renewed a little before its end: a minute, or a tenth of a short life. */
function renewAt({ expiresAt, obtainedAt }: LoginToken): number {
  if (expiresAt === undefined) return Number.POSITIVE_INFINITY;
  return expiresAt - Math.min(60_000, (expiresAt - obtainedAt) / 10);
}

function isOver(token: LoginToken | undefined, now: number): boolean {
  return token?.expiresAt !== undefined && token.expiresAt <= now;
}

const MAX_STEP_UPS = 2;
const MAX_LOGINS = 3;
const LOGINS_WITHIN_MS = 600_000;
