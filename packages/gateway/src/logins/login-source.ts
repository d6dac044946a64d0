import {
  extensionsOf,
  type LoginSource,
  loginFrom,
  specAuth,
} from '@isthmus/sdk/internal/host/spec-connector.js';
import type { GatewayServerSpec } from '../server-definition.js';

/**
 * The login of a URL for the requests of this process. Where the daemon of this user runs, the headers come from it, so that
 * it is the only one that renews tokens. Otherwise the store is used. Client credentials need no daemon: they have no refresh
 * token. Everything is loaded with the first request.
 */
export const sharedLogin: LoginSource = (auth, onWarning) => {
  if (auth.mode === 'client-credentials') return specAuth(auth, onWarning);
  return {
    async forServer(url) {
      const { SharedLogin } = await import('./shared-login.js');
      return new SharedLogin(url, auth, onWarning);
    },
  };
};

/** The same for a gateway. Its client credentials stay in memory: it gets a token of its own, and may have no home. */
export const gatewayLogin: LoginSource = (auth, onWarning) => {
  if (auth.mode !== 'client-credentials') return sharedLogin(auth, onWarning);
  return {
    extensions: extensionsOf(auth),
    async forServer(url) {
      const { memoryLoginStore } = await import('@isthmus/sdk/internal/oauth/store/login-record.js');
      return loginFrom(memoryLoginStore(), url, auth, onWarning);
    },
  };
};

/** The stored login of a server, as one who waits for it sees it. */
export interface LoginWatch {
  /** Changes with each new token. Undefined: there is no login. Never rejects. */
  mark(): Promise<string | undefined>;
}

/** Undefined for a server that uses no stored login. */
export function loginWatch(spec: GatewayServerSpec): LoginWatch | undefined {
  if (spec.kind !== 'url' || spec.auth?.mode !== 'stored') return undefined;
  const { url } = spec;
  return {
    async mark() {
      // The first request loads them, too.
      const { loginKey } = await import('@isthmus/sdk/internal/oauth/store/login-record.js');
      const { userLoginStore } = await import('@isthmus/sdk/internal/oauth/store/user-logins.js');
      // A file that cannot be read is no login.
      const record = await userLoginStore()
        .read(loginKey(new URL(url)))
        .catch(() => undefined);
      return record?.token && `${record.issuer} ${record.token.obtainedAt} ${record.token.generation}`;
    },
  };
}
