import type { Bridge } from '@isthmus/sdk/internal/bridge/create-bridge.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { HttpAuth } from '@isthmus/sdk/internal/transport/http-client/options.js';

/** The logins of the callers for one remote server: each principal has its own token there. */
export interface PersonalLogins {
  /** The login for the requests of one principal. Undefined: of the gateway itself, which has none. */
  authFor(principal: string | undefined): HttpAuth;
  /** Puts around the bridge to the server what the callers need. */
  around(bridge: Bridge): Service;
  /** Who has a login, and who needs one: the most recent callers. */
  status(): Promise<readonly PersonalLoginStatus[]>;
}

/** The login of one principal for one server, without secrets. */
export interface PersonalLoginStatus {
  readonly principal: string;
  readonly state: 'valid' | 'needs-login' | 'failed';
  readonly reason?: string | undefined;
}

/** How many principals a status shows. */
export const MAX_SHOWN = 100;
