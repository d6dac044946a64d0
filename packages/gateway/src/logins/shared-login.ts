import type { UrlAuth } from '@isthmus/sdk/internal/config/server-spec.js';
import { storedLogin } from '@isthmus/sdk/internal/host/spec-connector.js';
import type { ServerLogin } from '@isthmus/sdk/internal/oauth/server-login.js';
import type { AuthRefusal, ServerAuth } from '@isthmus/sdk/internal/transport/http-client/options.js';
import { hasNoLogins, runningLoginManager } from './daemon-login-manager.js';
import type { IssuedHeader, LoginManager } from './login-manager.js';

/** The login of a URL, from the daemon of this user where one runs, and from the store otherwise. */
export class SharedLogin implements ServerAuth {
  readonly #target: { readonly url: string; readonly auth: UrlAuth };
  readonly #open: () => Promise<ServerLogin>;
  #header: string | undefined;
  #freshUntil = 0;
  #asking: Promise<string | undefined> | undefined;
  #own: Promise<ServerLogin> | undefined;

  constructor(url: URL, auth: UrlAuth, onWarning?: (warning: string) => void) {
    this.#target = { url: url.href, auth };
    this.#open = () => storedLogin(url, auth, onWarning);
  }

  authorization(): string | undefined | Promise<string | undefined> {
    return Date.now() < this.#freshUntil ? this.#header : this.#fresh();
  }

  async refused(refusal: AuthRefusal): Promise<boolean> {
    const isAgain = await this.#either(
      (logins) => logins.refused(this.#target, refusal),
      (login) => login.refused(refusal),
    );
    this.#freshUntil = 0;
    return isAgain;
  }

  #fresh(): Promise<string | undefined> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<string | undefined> {
    const issued = await this.#either<IssuedHeader>(
      (logins) => logins.authorization(this.#target),
      async (login) => ({ authorization: await login.authorization(), freshUntil: login.freshUntil }),
    );
    this.#header = issued.authorization;
    this.#freshUntil = issued.freshUntil;
    return this.#header;
  }

  /** A daemon may come and go while this process runs. */
  async #either<T>(
    ofDaemon: (logins: LoginManager) => Promise<T>,
    ofStore: (login: ServerLogin) => Promise<T>,
  ): Promise<T> {
    const logins = runningLoginManager();
    if (logins) {
      try {
        return await ofDaemon(logins);
      } catch (error) {
        if (!hasNoLogins(error)) throw error;
      }
    }
    this.#own ??= this.#open();
    return ofStore(await this.#own);
  }
}
