import {
  extensionsOf,
  type LoginSource,
  loginFrom,
  specAuth,
} from '@isthmus/sdk/internal/host/spec-connector.js';

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
