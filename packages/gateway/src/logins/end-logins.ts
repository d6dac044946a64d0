import { loginNetwork } from '@isthmus/sdk/internal/oauth/discovery/login-facts.js';
import { resolveOAuth } from '@isthmus/sdk/internal/oauth/options.js';
import { revokeLogin } from '@isthmus/sdk/internal/oauth/refresh.js';
import type { LoginStore } from '@isthmus/sdk/internal/oauth/store/login-record.js';
import type { EndedLogins } from './login-manager.js';
import { nameOf } from './running-login.js';

/**
 * Revokes and forgets the logins for a URL, or all of them. The registration of a client is kept for the next login, unless
 * it is to be forgotten, too.
 */
export async function endLogins(
  store: LoginStore,
  url: string | undefined,
  forgetClient: boolean,
): Promise<EndedLogins> {
  const ended: string[] = [];
  const warnings: string[] = [];
  const onWarning = (warning: string) => void warnings.push(warning);
  const settings = resolveOAuth({ store, onWarning });
  for (const { key, record } of await store.list()) {
    if (url !== undefined && record.server !== nameOf(url)) continue;
    // A renewal that is under way ends first: it would bring the login back.
    const found = await store.locked(key, async () => {
      const now = (await store.read(key)) ?? record;
      const isKept = now.client.kind === 'registered' && !forgetClient;
      if (isKept) await store.write(key, { ...now, token: undefined, reason: 'logged out' });
      else await store.delete(key);
      if (now.token || !isKept) ended.push(now.server);
      return now;
    });
    await revokeLogin(found, loginNetwork(new URL(found.server), settings), settings);
  }
  return { ended, warnings };
}
