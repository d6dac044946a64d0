import type { UrlAuth } from '@isthmus/sdk/internal/config/server-spec.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { type LoginSource, storedLogin } from '@isthmus/sdk/internal/host/spec-connector.js';
import { askServer } from '@isthmus/sdk/internal/oauth/discovery/ask-server.js';
import { loginNetwork } from '@isthmus/sdk/internal/oauth/discovery/login-facts.js';
import { type LoginStatus, statusOf } from '@isthmus/sdk/internal/oauth/login-status.js';
import { resolveOAuth } from '@isthmus/sdk/internal/oauth/options.js';
import type { ServerLogin } from '@isthmus/sdk/internal/oauth/server-login.js';
import { loginKey } from '@isthmus/sdk/internal/oauth/store/login-record.js';
import { userLoginStore } from '@isthmus/sdk/internal/oauth/store/user-logins.js';
import type { AuthRefusal } from '@isthmus/sdk/internal/transport/http-client/options.js';
import { httpUrl } from '@isthmus/sdk/internal/transport/http-client/options.js';
import type {
  EndedLogins,
  IssuedHeader,
  LoginEvent,
  LoginManager,
  LoginRequest,
  LoginTarget,
} from './login-manager.js';
import { isUsable, loginWork, storedStatus } from './login-work.js';
import { nameOf, RunningLogin } from './running-login.js';

export interface UserLoginsOptions {
  /** A login with a user has begun or ended. */
  readonly onChange?: () => void;
}

/** The logins of this user, in this process. It uses the store itself. */
export class UserLogins implements LoginManager {
  readonly #store = userLoginStore();
  readonly #onChange: () => void;
  readonly #running = new Map<string, RunningLogin>();
  /** For requests, by URL and options. All who use the same one share its renewals. */
  readonly #used = new Map<string, Promise<ServerLogin>>();
  /** When logins that began without a command of the user were begun, by key. */
  readonly #begun = new Map<string, readonly number[]>();

  constructor({ onChange = () => {} }: UserLoginsOptions = {}) {
    this.#onChange = onChange;
  }

  /** No login with a user is under way. */
  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** For the connections of this process. */
  readonly source: LoginSource = (auth) => ({ forServer: (url) => this.#loginOf(url.href, auth) });

  async authorization({ url, auth }: LoginTarget): Promise<IssuedHeader> {
    const login = await this.#loginOf(url, auth);
    const authorization = await login.authorization();
    return { authorization, freshUntil: login.freshUntil };
  }

  async refused({ url, auth }: LoginTarget, refusal: AuthRefusal): Promise<boolean> {
    return (await this.#loginOf(url, auth)).refused(refusal);
  }

  async *begin(request: LoginRequest, signal: AbortSignal): AsyncGenerator<LoginEvent> {
    const server = httpUrl(request.url);
    const key = loginKey(server);
    if (!this.#running.has(key) && request.onlyIfNeeded && !(await this.#needsUser(server, request))) {
      yield { kind: 'done', status: await storedStatus(server, this.#store) };
      return;
    }
    const known = this.#running.get(key);
    known?.checkJoin(request);
    yield* (known ?? this.#start(server, key, request)).watch(request, signal);
  }

  async opened(url: string): Promise<void> {
    this.#running.get(loginKey(httpUrl(url)))?.opened();
  }

  async finish(url: string, response: string): Promise<void> {
    const running = this.#running.get(loginKey(httpUrl(url)));
    if (running) return running.finish(response);
    throw new IsthmusError('INVALID_OPTION', 'No login waits for a response', { sent: 'no' });
  }

  async list(): Promise<readonly LoginStatus[]> {
    const now = Date.now();
    const stored = (await this.#store.list()).map(({ key, record }) => ({
      key,
      status: statusOf(record.server, record, now),
    }));
    const fresh = [...this.#running.keys()].filter((key) => !stored.some((each) => each.key === key));
    const all = [
      ...stored,
      ...fresh.map((key) => ({ key, status: statusOf(nameOf(this.#running.get(key)!.url), undefined, now) })),
    ];
    return all
      .map(({ key, status }) => {
        const running = this.#running.get(key);
        if (!running) return status;
        const { page, reason } = running;
        return { ...status, state: 'busy' as const, page, reason };
      })
      .sort((a, b) => a.server.localeCompare(b.server));
  }

  async end(url: string | undefined, forgetClient: boolean): Promise<EndedLogins> {
    for (const running of this.#running.values()) {
      if (url === undefined || nameOf(running.url) === nameOf(url)) running.cancel();
    }
    // Loads what a revocation needs.
    const { endLogins } = await import('./end-logins.js');
    const ended = await endLogins(this.#store, url, forgetClient);
    await this.#reread();
    return ended;
  }

  /** Calls off the logins that are under way. */
  close(): void {
    for (const running of this.#running.values()) running.cancel();
  }

  #loginOf(url: string, auth: UrlAuth): Promise<ServerLogin> {
    const name = JSON.stringify([httpUrl(url).href, auth]);
    const known = this.#used.get(name);
    if (known) return known;
    const opening = storedLogin(httpUrl(url), auth);
    this.#used.set(name, opening);
    // Commands may name any number of servers. The store has all that counts.
    if (this.#used.size > MAX_USED) this.#used.delete(this.#used.keys().next().value!);
    opening.catch(() => this.#used.delete(name));
    return opening;
  }

  async #needsUser(server: URL, { options }: LoginRequest): Promise<boolean> {
    if (isUsable(await storedStatus(server, this.#store))) return false;
    // A server that cannot be reached is reported by the command itself.
    const { http } = loginNetwork(server, resolveOAuth(options));
    const answer = await askServer(server, http).catch(() => undefined);
    return answer?.status === 401;
  }

  #start(server: URL, key: string, request: LoginRequest): RunningLogin {
    if (request.onlyIfNeeded) this.#count(server, key);
    const running = new RunningLogin(request, loginWork(server, this.#store, request));
    this.#running.set(key, running);
    this.#onChange();
    void running.run().then(async () => {
      this.#running.delete(key);
      await this.#reread();
      this.#onChange();
    });
    return running;
  }

  /** The store has changed: what is used for requests is read again. */
  async #reread(): Promise<void> {
    for (const login of this.#used.values()) (await login.catch(() => undefined))?.reread();
  }

  /** A host that starts a program again and again must not open a page each time. */
  #count(server: URL, key: string): void {
    const now = Date.now();
    const recent = (this.#begun.get(key) ?? []).filter((at) => now - at < WITHIN_MS);
    if (recent.length >= MAX_BEGUN) {
      const message =
        `${MAX_BEGUN} logins for ${nameOf(server.href)} were begun within 10 minutes; ` +
        `isthmus login ${nameOf(server.href)} begins another one`;
      throw new IsthmusError('UNAUTHORIZED', message, { sent: 'no', status: 401 });
    }
    this.#begun.set(key, [...recent, now]);
  }
}

const MAX_USED = 256;
const MAX_BEGUN = 3;
const WITHIN_MS = 600_000;
