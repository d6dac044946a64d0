import { type LoginStatus, statusOf } from '@isthmus/sdk/internal/oauth/login-status.js';
import { oauth } from '@isthmus/sdk/internal/oauth/oauth.js';
import { resolveOAuth } from '@isthmus/sdk/internal/oauth/options.js';
import { type LoginStore, loginKey } from '@isthmus/sdk/internal/oauth/store/login-record.js';
import { userLoginFolder } from '@isthmus/sdk/internal/oauth/store/user-logins.js';
import { takeLock } from '@isthmus/sdk/internal/process/lock.js';
import type { LoginEvent, LoginRequest } from './login-manager.js';
import { type LoginWork, nameOf } from './running-login.js';

/** Logs in to a server with a user, and stores the login. */
export function loginWork(
  server: URL,
  store: LoginStore,
  { options, onlyIfNeeded, trustedIssuer }: LoginRequest,
): LoginWork {
  let tellOf: (event: LoginEvent) => void = () => {};
  let untrusted: string | undefined;
  const auth = oauth({
    ...options,
    store,
    onWarning: (text) => tellOf({ kind: 'warning', text }),
    open: (page) => tellOf({ kind: 'page', page: page.href, mayOpen: false }),
    ask: {
      showCode: ({ userCode, page, pageWithCode }) =>
        tellOf({ kind: 'code', page: (pageWithCode ?? page).href, userCode }),
      async trustIssuer(issuer) {
        if (issuer === trustedIssuer) return true;
        untrusted = issuer;
        return false;
      },
    },
  });
  const logIn = async (signal: AbortSignal) => (await auth.login(server)).login(undefined, signal);
  return {
    finish: (response) => auth.finish(response),
    untrustedIssuer: () => untrusted,
    async run(tell, signal) {
      tellOf = tell;
      if (!onlyIfNeeded) return logIn(signal);
      const key = loginKey(server);
      // Makes the folder.
      await store.locked(key, async () => {});
      // Processes that need the same login take turns, so that one page is opened.
      const { timeoutMs } = resolveOAuth(options);
      const release = await takeLock(userLoginFolder(), `${key}.browser`, timeoutMs, signal);
      try {
        const status = await storedStatus(server, store);
        return isUsable(status) ? status : await logIn(signal);
      } finally {
        release();
      }
    },
  };
}

export async function storedStatus(server: URL, store: LoginStore): Promise<LoginStatus> {
  return statusOf(nameOf(server.href), await store.read(loginKey(server)), Date.now());
}

/** Requests can use the login as it is, or after a renewal. */
export function isUsable({ state }: LoginStatus): boolean {
  return state === 'valid' || state === 'stale';
}
