import { askServer } from '@isthmus/sdk/internal/oauth/discovery/ask-server.js';
import { loginNetwork } from '@isthmus/sdk/internal/oauth/discovery/login-facts.js';
import { statusOf } from '@isthmus/sdk/internal/oauth/login-status.js';
import { resolveOAuth } from '@isthmus/sdk/internal/oauth/options.js';
import { loginKey } from '@isthmus/sdk/internal/oauth/store/login-record.js';
import { userLoginFolder, userLoginStore } from '@isthmus/sdk/internal/oauth/store/user-logins.js';
import { takeLock } from '@isthmus/sdk/internal/process/lock.js';
import type { AuthFlags } from './auth-options.js';
import { type LoginFlags, toOAuthOptions } from './login-options.js';

/**
 * Logs in with a browser if there is no login for the server and the server wants one. Processes that need the same login
 * take turns, so that one page is opened.
 */
export async function ensureLogin(url: string, auth: AuthFlags, login: LoginFlags): Promise<void> {
  const server = new URL(url);
  const store = userLoginStore();
  const key = loginKey(server);
  const isLoggedIn = async () => {
    const { state } = statusOf(server, await store.read(key), Date.now());
    return state === 'valid' || state === 'stale';
  };
  if (await isLoggedIn()) return;
  const flags = { ...auth, ...login };
  const settings = resolveOAuth(toOAuthOptions(flags));
  // A server that cannot be reached is reported by the command itself.
  const answer = await askServer(server, loginNetwork(server, settings).http).catch(() => undefined);
  if (answer?.status !== 401) return;
  // Makes the folder.
  await store.locked(key, async () => {});
  const release = await takeLock(userLoginFolder(), `${key}.browser`, settings.timeoutMs);
  try {
    if (await isLoggedIn()) return;
    const { runLogin } = await import('./run-login.js');
    const say = (line: string) => void process.stderr.write(`isthmus: ${line}\n`);
    // The input may be the protocol of a host.
    await runLogin(url, flags, { say, input: process.stdin.isTTY ? process.stdin : undefined });
  } finally {
    release();
  }
}
