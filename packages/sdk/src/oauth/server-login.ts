import { IsthmusError } from '../errors.js';
import type { AuthRefusal, ServerAuth } from '../transport/http-client/options.js';
import { LoginLimits, scopesToAsk } from './begin-login.js';
import { paramsOf } from './callback-listener.js';
import { askServer } from './discovery/ask-server.js';
import { type LoginChallenge, loginChallenge } from './discovery/challenge.js';
import { findLoginFacts, loginNetwork } from './discovery/login-facts.js';
import { outageOf } from './discovery/oauth-http.js';
import { findProtectedResource } from './discovery/protected-resource.js';
import { grantLogin, type PendingResponse } from './grant-login.js';
import { isOver, type LoginStatus, renewAt, statusOf } from './login-status.js';
import type { OAuthSettings } from './options.js';
import { checkAgreed, type LoginPlan } from './plan-login.js';
import { renewToken, revokeLogin } from './refresh.js';
import { type LoginRecord, type LoginToken, loginKey } from './store/login-record.js';

/** The login for one server: gets tokens, renews them, and keeps them in the store. */
export class ServerLogin implements ServerAuth {
  readonly #server: URL;
  readonly #settings: OAuthSettings;
  readonly #key: string;
  readonly #network;
  readonly #limits;
  readonly #responses: PendingResponse = { deferred: undefined, state: undefined };
  #record: LoginRecord | undefined;
  #header: string | undefined;
  /** Until then the header is sent as it is. */
  #freshUntil = 0;
  /** When the store is read again: another process may have logged in or out. */
  #rereadAt = 0;
  /** The header of the last new login, to tell a token that never worked from one that has ended. */
  #granted: string | undefined;
  /** One of each at a time. All requests that need one share it. */
  #freshening: Promise<string | undefined> | undefined;
  #answering: Promise<boolean> | undefined;
  #renewing: Promise<boolean> | undefined;
  #granting: Promise<void> | undefined;
  /** The authorization server was down. Until then it is left alone. */
  #outage: { readonly error: unknown; readonly until: number } | undefined;

  constructor(server: URL, settings: OAuthSettings) {
    this.#server = server;
    this.#settings = settings;
    this.#key = loginKey(server, settings.grant === 'client-credentials' ? settings.clientId : undefined);
    this.#network = loginNetwork(server, settings);
    this.#limits = new LoginLimits(server, settings);
  }

  /** Does not wait while a token is valid: a call pays one comparison. */
  authorization(): string | undefined | Promise<string | undefined> {
    if (this.#settings.clock.now() < this.#freshUntil) return this.#header;
    this.#freshening ??= this.#fresh().finally(() => {
      this.#freshening = undefined;
    });
    return this.#freshening;
  }

  /** Until when `authorization()` gives the same header, in milliseconds since 1970. */
  get freshUntil(): number {
    return this.#freshUntil;
  }

  /** The next request reads the store again. */
  reread(): void {
    this.#rereadAt = 0;
    this.#freshUntil = 0;
  }

  async refused(refusal: AuthRefusal): Promise<boolean> {
    const challenge = loginChallenge(refusal.wwwAuthenticate);
    const isStepUp = refusal.status === 403;
    if (isStepUp && challenge?.error !== 'insufficient_scope') return false;
    // Another request has renewed the token while this one was under way.
    if (this.#header !== undefined && this.#header !== refusal.authorization) return true;
    this.#answering ??= (isStepUp ? this.#stepUp(challenge!) : this.#replace(refusal, challenge)).finally(
      () => {
        this.#answering = undefined;
      },
    );
    return this.#answering;
  }

  /**
   * Begins a login, whether or not there is one. `wwwAuthenticate` is what the server sent with a 401. Without it the server
   * is asked. The signal ends the login. `agreed` is what a user has agreed to: nothing else is asked for.
   */
  async login(wwwAuthenticate?: string, signal?: AbortSignal, agreed?: LoginPlan): Promise<LoginStatus> {
    // A login that cannot be read is replaced.
    this.#adopt(await this.#settings.store.read(this.#key).catch(() => undefined));
    await this.#grant(loginChallenge(wwwAuthenticate ?? (await this.#askServer())), signal, agreed);
    return this.status();
  }

  async #askServer(): Promise<string | undefined> {
    const { tokenEndpoint, issuer } = this.#settings;
    if (tokenEndpoint !== undefined) return undefined;
    const { http } = this.#network;
    const { status, wwwAuthenticate } = await askServer(this.#server, http);
    if (status >= 300 || issuer !== undefined) return wwwAuthenticate;
    // Some servers answer a part of the requests without a login. They publish how to get one.
    if (await findProtectedResource(this.#server, { http, named: [], configured: undefined }))
      return undefined;
    const name = `${this.#server.origin}${this.#server.pathname}`;
    throw new IsthmusError(
      'INVALID_OPTION',
      `${name} answers without a login, and names no authorization server`,
    );
  }

  /** The state of the response that the login waits for, while a user is at it. */
  get waitsFor(): string | undefined {
    return this.#responses.deferred && this.#responses.state;
  }

  /** Gives the response of a browser that came back to a URL of the program (`callback.url`). */
  finish(response: string | URL | URLSearchParams): void {
    const waiting = this.#responses.deferred;
    if (!waiting) throw new IsthmusError('INVALID_OPTION', 'No login waits for a response', { sent: 'no' });
    waiting.resolve(paramsOf(response));
  }

  async status(): Promise<LoginStatus> {
    const record = await this.#settings.store.read(this.#key);
    return statusOf(this.#server, record, this.#settings.clock.now());
  }

  /** Revokes the tokens where the authorization server allows that, and forgets the login. */
  async logout(): Promise<void> {
    const { store } = this.#settings;
    // A renewal that is under way ends first: it would bring the login back.
    const record = await store.locked(this.#key, async () => {
      const found = await store.read(this.#key).catch(() => undefined);
      await store.delete(this.#key);
      return found;
    });
    this.#adopt(undefined);
    if (record) await revokeLogin(record, this.#network, this.#settings);
  }

  async #fresh(): Promise<string | undefined> {
    const { clock, store } = this.#settings;
    if (clock.now() >= this.#rereadAt) this.#adopt(await store.read(this.#key));
    if (clock.now() < this.#freshUntil) return this.#header;
    const token = this.#record?.token;
    if (!token) return undefined;
    try {
      await this.#renew(token);
    } catch (error) {
      // The old token may be used until its end.
      if (!outageOf(error) || isOver(token, clock.now())) throw error;
    }
    return isOver(this.#record?.token, clock.now()) ? undefined : this.#header;
  }

  /** After a 401: another process may have a newer token; then a renewal; then a new login. */
  async #replace(
    { authorization, attempt }: AuthRefusal,
    challenge: LoginChallenge | undefined,
  ): Promise<boolean> {
    if (attempt > 1) return false;
    this.#adopt(await this.#settings.store.read(this.#key));
    if (this.#header !== undefined && this.#header !== authorization) return true;
    if (attempt > 0 && authorization !== undefined && authorization === this.#granted) {
      throw this.#uselessToken();
    }
    const token = this.#record?.token;
    // A token of a short life may end while its request is under way. That is not a refusal of a good token.
    const mayRenew = attempt === 0 || isOver(token, this.#settings.clock.now());
    if (mayRenew && token && (await this.#renew(token))) return true;
    await this.#grant(challenge);
    return true;
  }

  #renew(token: LoginToken): Promise<boolean> {
    this.#renewing ??= this.#ask(token).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  /** An authorization server that is down is not asked again with every request. */
  async #ask(token: LoginToken): Promise<boolean> {
    const { clock } = this.#settings;
    if (this.#outage && clock.now() < this.#outage.until) throw this.#outage.error;
    try {
      const { renewed, record } = await renewToken(this.#key, token, this.#network, this.#settings);
      this.#adopt(record);
      this.#outage = undefined;
      return renewed;
    } catch (error) {
      const outage = outageOf(error);
      const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(PAUSE_MS, outage?.retryAfterMs ?? 0));
      if (outage) this.#outage = { error, until: clock.now() + pauseMs };
      throw error;
    }
  }

  /** A 403 that asks for more scopes. A refresh cannot widen a token, so this is a new login. */
  async #stepUp(challenge: LoginChallenge): Promise<boolean> {
    if (!this.#limits.mayStepUp(challenge.scopes)) return false;
    await this.#grant(challenge);
    return true;
  }

  #grant(challenge: LoginChallenge | undefined, signal?: AbortSignal, agreed?: LoginPlan): Promise<void> {
    this.#granting ??= this.#begin(challenge, signal, agreed).finally(() => {
      this.#granting = undefined;
    });
    return this.#granting;
  }

  async #begin(
    challenge: LoginChallenge | undefined,
    signal: AbortSignal | undefined,
    agreed: LoginPlan | undefined,
  ): Promise<void> {
    const [server, network, settings, stored] = [this.#server, this.#network, this.#settings, this.#record];
    this.#limits.begin(stored?.reason, challenge);
    const facts = await findLoginFacts(server, challenge, network, settings, stored?.issuer);
    const { metadata, resource } = facts;
    const scopes = scopesToAsk(facts, challenge, stored, settings);
    if (agreed) checkAgreed(server, { issuer: metadata.issuer, scopes }, agreed);
    const context = { server, facts, network, settings, stored, responses: this.#responses, signal };
    const { client, token } = await grantLogin(context, scopes);
    const record: LoginRecord = {
      v: 1,
      server: `${server.origin}${server.pathname}`,
      resource,
      issuer: metadata.issuer,
      tokenEndpoint: metadata.tokenEndpoint,
      revocationEndpoint: metadata.revocationEndpoint,
      client,
      token: {
        ...token,
        scopes: token.scopes.length > 0 ? token.scopes : scopes,
        requestedScopes: scopes,
        generation: (stored?.token?.generation ?? 0) + 1,
      },
      reason: undefined,
      ...(settings.allowPrivateAddresses && { allowsPrivate: true }),
    };
    // In turn with renewals in other processes, which would write an older token over it.
    await settings.store.locked(this.#key, () => settings.store.write(this.#key, record));
    this.#adopt(record);
    this.#granted = this.#header;
  }

  #adopt(record: LoginRecord | undefined): void {
    const { clientId, issuer } = this.#settings;
    // A login of another client, or at another authorization server than the configured one, is not ours.
    const isForeign =
      (clientId !== undefined && record?.client.id !== clientId) ||
      (issuer !== undefined && record?.issuer.replace(/\/$/, '') !== issuer.replace(/\/$/, ''));
    this.#record = isForeign ? undefined : record;
    const token = this.#record?.token;
    this.#header = token && `Bearer ${token.access}`;
    this.#rereadAt = this.#settings.clock.now() + REREAD_MS;
    this.#freshUntil = Math.min(this.#rereadAt, token ? renewAt(token) : this.#rereadAt);
  }

  #uselessToken(): IsthmusError {
    const { issuer, resource, token } = this.#record!;
    const message =
      `${this.#server.origin}${this.#server.pathname} refuses the token that ${issuer} has just given for ` +
      `${resource ?? 'no resource'} with ${token?.scopes.join(' ') || 'no scopes'}; it may want another audience or other scopes`;
    return new IsthmusError('UNAUTHORIZED', message, { sent: 'no', status: 401 });
  }
}

/** How long a login that was ended elsewhere may still be used, where its token is not revoked. */
const REREAD_MS = 30_000;
/** How long an authorization server that is down is left alone, unless it says so itself. */
const PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;
