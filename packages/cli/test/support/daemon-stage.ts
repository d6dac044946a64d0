import { type ChildProcess, spawn } from 'node:child_process';
import { daemonPaths } from '@isthmus/gateway/internal/daemon/daemon-paths.js';
import { daemonLoginManager } from '@isthmus/gateway/internal/logins/daemon-login-manager.js';
import { type Client, connect, stdio } from '@isthmus/sdk';
import { onTestFinished } from 'vitest';
import type { AuthorizationServerOptions } from '../../../../test/support/authorization-server.js';
import { ISTHMUS } from '../../../../test/support/child.js';
import { loginStage } from './login-stage.js';

export type DaemonStage = Awaited<ReturnType<typeof daemonStage>>;

/** A stage for logins whose daemon ends with the test. */
export async function daemonStage(options?: AuthorizationServerOptions) {
  const stage = await loginStage(options);
  const { run, environment, home } = stage;
  onTestFinished(async () => void (await run(['daemon', 'stop'])));
  const paths = daemonPaths({ env: environment });
  return {
    ...stage,
    paths,
    logins: daemonLoginManager(paths.socket),
    /** A host with the server: a client that has started `isthmus attach`. */
    async host(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Client> {
      const command = { command: process.execPath, args: [ISTHMUS, 'attach', ...args], cwd: home };
      const client = await connect(stdio({ ...command, env: { ...environment, ...env }, inheritEnv: [] }), {
        mode: 'modern',
        cache: false,
      });
      onTestFinished(() => client.close());
      return client;
    },
    /** `isthmus attach` as a process that a test kills. */
    shim(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
      const child = spawn(process.execPath, [ISTHMUS, 'attach', ...args], {
        cwd: home,
        env: { ...environment, ...env },
        stdio: ['pipe', 'ignore', 'pipe'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      return child;
    },
  };
}
