import { IsthmusError } from '../errors.js';
import type { AuthRefusal, ServerAuth } from '../transport/http-client/options.js';
import { LoginLimits, scopesToAsk } from './begin-login.js';
import { paramsOf } from './callback-listener.js';
import { askServer } from './discovery/ask-server.js';
import { type LoginChallenge, loginChallenge } from './discovery/challenge.js';
import { findLoginFacts, loginNetwork } from './discovery/login-facts.js';
import { isUnreachable } from './discovery/oauth-http.js';
import { findProtectedResource } from './discovery/protected-resource.js';
import { grantLogin, type PendingResponse } from './grant-login.js';
import { isOver, type LoginStatus, renewAt, statusOf } from './login-status.js';
import type { OAuthSettings } from './options.js';
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
  /** Until then the header is sent as it is. 0: the store was not read yet. */
  #freshUntil = 0;
  /** The header of the last new login, to tell a token that never worked from one that has ended. */
  #granted: string | undefined;
  /** One of each at a time. All requests that need one share it. */
  #answering: Promise<boolean> | undefined;
  #renewing: Promise<boolean> | undefined;
  #granting: Promise<void> | undefined;

  constructor(server: URL, settings: OAuthSettings) {
    this.#server = server;
    this.#settings = settings;
    this.#key = loginKey(server, settings.grant === 'client-credentials' ? settings.clientId : undefined);
    this.#network = loginNetwork(server, settings);
    this.#limits = new LoginLimits(server, settings);
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
    this.#answering ??= (isStepUp ? this.#stepUp(challenge!) : this.#replace(refusal, challenge)).finally(
      () => {
        this.#answering = undefined;
      },
    );
    return this.#answering;
  }

  /**
   * Begins a login, whether or not there is one. `wwwAuthenticate` is what the server sent with a 401. Without it the server
   * is asked.
   */
  async login(wwwAuthenticate?: string): Promise<LoginStatus> {
    // A login that cannot be read is replaced.
    this.#adopt(await this.#settings.store.read(this.#key).catch(() => undefined));
    await this.#grant(loginChallenge(wwwAuthenticate ?? (await this.#askServer())));
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
    if (this.#freshUntil === 0) this.#adopt(await this.#settings.store.read(this.#key));
    const { clock } = this.#settings;
    if (clock.now() < this.#freshUntil) return this.#header;
    const token = this.#record?.token;
    if (!token) return undefined;
    try {
      await this.#renew(token);
    } catch (error) {
      // The old token may be used until its end.
      if (!isUnreachable(error) || isOver(token, clock.now())) throw error;
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
    if (attempt === 0 && token && (await this.#renew(token))) return true;
    await this.#grant(challenge);
    return true;
  }

  #renew(token: LoginToken): Promise<boolean> {
    this.#renewing ??= renewToken(this.#key, token, this.#network, this.#settings)
      .then(({ renewed, record }) => {
        this.#adopt(record);
        return renewed;
      })
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  /** A 403 that asks for more scopes. A refresh cannot widen a token, so this is a new login. */
  async #stepUp(challenge: LoginChallenge): Promise<boolean> {
    if (!this.#limits.mayStepUp(challenge.scopes)) return false;
    await this.#grant(challenge);
    return true;
  }

  #grant(challenge: LoginChallenge | undefined): Promise<void> {
    this.#granting ??= this.#begin(challenge).finally(() => {
      this.#granting = undefined;
    });
    return this.#granting;
  }

  async #begin(challenge: LoginChallenge | undefined): Promise<void> {
    const [server, network, settings, stored] = [this.#server, this.#network, this.#settings, this.#record];
    this.#limits.begin(stored?.reason, challenge?.scopes ?? []);
    const facts = await findLoginFacts(server, challenge, network, settings, stored?.issuer);
    const { metadata, resource } = facts;
    const scopes = scopesToAsk(facts, challenge, stored, settings);
    const context = { server, facts, network, settings, stored, responses: this.#responses };
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
    this.#freshUntil = token ? renewAt(token) : Number.POSITIVE_INFINITY;
  }

  #uselessToken(): IsthmusError {
    const { issuer, resource, token } = this.#record!;
    const message =
      `${this.#server.origin}${this.#server.pathname} refuses the token that ${issuer} has just given for ` +
      `${resource ?? 'no resource'} with ${token?.scopes.join(' ') || 'no scopes'}; it may want another audience or other scopes`;
    return new IsthmusError('UNAUTHORIZED', message, { sent: 'no', status: 401 });
  }
}
