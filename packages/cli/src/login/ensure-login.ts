import type { AuthFlags } from './auth-options.js';
import type { LoginFlags } from './login-options.js';
import { openLoginManager } from './open-login-manager.js';
import { runLogin } from './run-login.js';

/**
 * Logs in with a browser if there is no login for the server and the server wants one. Processes that need the same login
 * share it, so that one page is opened. `inDaemon`: the login goes on when this process is killed.
 */
export async function ensureLogin(
  url: string,
  auth: AuthFlags,
  login: LoginFlags,
  { inDaemon }: { readonly inDaemon: boolean },
): Promise<void> {
  await runLogin(
    url,
    { ...auth, ...login },
    {
      say: (line) => void process.stderr.write(`isthmus: ${line}\n`),
      // The input may be the protocol of a host.
      input: process.stdin.isTTY ? process.stdin : undefined,
      logins: await openLoginManager({ start: inDaemon }),
      onlyIfNeeded: true,
      keep: inDaemon,
    },
  );
}
