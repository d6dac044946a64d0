import type { UrlAuth } from '@isthmus/sdk/internal/config/server-spec.js';
import type { LocalErrorCode } from '@isthmus/sdk/internal/errors.js';
import type { LoginStatus } from '@isthmus/sdk/internal/oauth/login-status.js';
import type { PlainOAuthOptions } from '@isthmus/sdk/internal/oauth/options.js';
import type { AuthRefusal } from '@isthmus/sdk/internal/transport/http-client/options.js';

/**
 * The logins of this user. The daemon has them for all processes: it renews the tokens, and others get headers. Without a
 * daemon each process uses the store itself. Nothing that comes out of it has a refresh token.
 */
export interface LoginManager {
  /** The header of the next request to a server. */
  authorization(target: LoginTarget): Promise<IssuedHeader>;
  /** The server has refused a request. True: repeat it with the new header. */
  refused(target: LoginTarget, refusal: AuthRefusal): Promise<boolean>;
  /**
   * Logs in with a user. A login for the same server that is under way is joined. The last event is `done` or `failed`. When
   * the signal aborts, the login goes on if one who watches it has asked for that (`keep`), and ends otherwise.
   */
  begin(request: LoginRequest, signal: AbortSignal): AsyncIterable<LoginEvent>;
  /** The page of the login for a URL was opened in a browser. It is not opened again. */
  opened(url: string): Promise<void>;
  /** Gives the address that the browser ended at. Rejects when no login waits for it. */
  finish(url: string, response: string): Promise<void>;
  /** All logins, without secrets. */
  list(): Promise<readonly LoginStatus[]>;
  /** Revokes and forgets the logins for a URL, or all of them. */
  end(url: string | undefined, forgetClient: boolean): Promise<EndedLogins>;
}

/** The login that a request uses. */
export interface LoginTarget {
  readonly url: string;
  readonly auth: UrlAuth;
}

export interface IssuedHeader {
  readonly authorization: string | undefined;
  /** In milliseconds since 1970. Until then it need not be asked for again. */
  readonly freshUntil: number;
}

export interface LoginRequest {
  readonly url: string;
  readonly options: PlainOAuthOptions;
  /** A stored login is enough, and a server that wants none is left alone. */
  readonly onlyIfNeeded: boolean;
  /** The login goes on when the process that began it is gone. */
  readonly keep: boolean;
  /** The process can open a browser. */
  readonly canOpen: boolean;
  /** The authorization server that the user trusts with the secret of the client. */
  readonly trustedIssuer?: string | undefined;
}

/** What happens in a login with a user. */
export type LoginEvent =
  /** Of all who watch a login, one may open its page. */
  | { readonly kind: 'page'; readonly page: string; readonly mayOpen: boolean }
  | { readonly kind: 'code'; readonly page: string; readonly userCode: string }
  | { readonly kind: 'warning'; readonly text: string }
  | { readonly kind: 'done'; readonly status: LoginStatus }
  | {
      readonly kind: 'failed';
      readonly code: LocalErrorCode;
      readonly message: string;
      /** A server of the login could not be reached. */
      readonly isAway: boolean;
      /** The user did not finish it in time. */
      readonly isLate: boolean;
      /** The login was not begun, since it is not configured that this authorization server may get the client secret. */
      readonly untrustedIssuer?: string | undefined;
    };

export interface EndedLogins {
  /** The servers. */
  readonly ended: readonly string[];
  readonly warnings: readonly string[];
}
