import type { LoginManager } from '@isthmus/gateway/internal/logins/login-manager.js';
import { PROGRAM } from '../attach/own-program.js';

/**
 * The logins of this user: those of the daemon where one runs, else in this process. `start` starts a daemon, so that a login
 * goes on when this process ends.
 */
export async function openLoginManager({
  start = false,
}: {
  readonly start?: boolean;
} = {}): Promise<LoginManager> {
  const { daemonLoginManager, hasNoLogins, runningLoginManager } = await import(
    '@isthmus/gateway/internal/logins/daemon-login-manager.js'
  );
  try {
    if (start) {
      const { withDaemon } = await import('@isthmus/gateway/internal/daemon/attach.js');
      const { openPaths } = await import('@isthmus/gateway/internal/daemon/daemon-paths.js');
      const paths = openPaths();
      const logins = daemonLoginManager(paths.socket);
      await withDaemon({ paths, program: PROGRAM }, () => logins.list());
      return logins;
    }
    const running = runningLoginManager();
    await running?.list();
    if (running) return running;
  } catch (error) {
    if (!hasNoLogins(error)) throw error;
  }
  const { UserLogins } = await import('@isthmus/gateway/internal/logins/user-logins.js');
  return new UserLogins();
}
