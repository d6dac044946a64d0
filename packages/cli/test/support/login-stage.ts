import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import {
  type AuthorizationServerOptions,
  startAuthorizationServer,
} from '../../../../test/support/authorization-server.js';
import { ISTHMUS } from '../../../../test/support/child.js';
import { startProtectedServer } from '../../../../test/support/protected-server.js';
import { freeFolder, type Ran } from './isthmus.js';

const BROWSER = fileURLToPath(new URL('browser-program.mjs', import.meta.url));
/** For `BROWSER`: the user is not there yet. */
export const RECORDING_BROWSER = fileURLToPath(new URL('recording-browser.mjs', import.meta.url));

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What the user does meanwhile. The command is ended when it fails. Default: stdin is closed. */
  readonly onStart?: (child: ChildProcess, stderr: () => string) => void | Promise<void>;
}

/** An authorization server, a server behind it, and a home for the command with a browser. */
export async function loginStage(options: AuthorizationServerOptions = {}) {
  const authorization = await startAuthorizationServer(options);
  onTestFinished(() => authorization.close());
  const server = await startProtectedServer(authorization);
  onTestFinished(() => server.close());
  const home = freeFolder();
  const logFile = join(home, 'pages.log');
  const folder = join(home, '.config', 'isthmus', 'logins');
  /** Everything that was written to stdout or stderr. */
  const outputs: string[] = [];
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    ISTHMUS_RUNTIME_DIR: join(home, 'run'),
    BROWSER,
    BROWSER_LOG: logFile,
  };
  const run = (args: readonly string[], { env, onStart }: RunOptions = {}): Promise<Ran> => {
    const child = spawn(process.execPath, [ISTHMUS, ...args], {
      cwd: home,
      env: { ...environment, ...env },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const ended = new Promise<Ran>((resolve) => {
      child.on('close', (code) => {
        outputs.push(stdout, stderr);
        resolve({ code, stdout, stderr });
      });
    });
    if (!onStart) {
      child.stdin.end();
      return ended;
    }
    const acted = (async () => onStart(child, () => stderr))();
    acted.catch(() => child.kill());
    return Promise.all([ended, acted]).then(([ran]) => ran);
  };
  return {
    authorization,
    server,
    home,
    folder,
    environment,
    run,
    outputs,
    /** The pages that were opened in the browser. */
    pages: () => (existsSync(logFile) ? readFileSync(logFile, 'utf8').trim().split('\n') : []),
    /** Every token in the store. */
    tokens(): string[] {
      const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
      return files.flatMap((name) => {
        const { token } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
          token?: { access: string; refresh?: string };
        };
        return token ? [token.access, ...(token.refresh === undefined ? [] : [token.refresh])] : [];
      });
    },
  };
}
