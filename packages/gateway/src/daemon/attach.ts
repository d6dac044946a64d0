import { closeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { childEnvironment } from '@isthmus/sdk/internal/process/environment.js';
import { tryLock } from '@isthmus/sdk/internal/process/lock.js';
import { startDetached } from '@isthmus/sdk/internal/process/start-detached.js';
import { type Attached, controlClient, isUnreachable } from '../control/index.js';
import type { DaemonPaths } from './daemon-paths.js';
import type { AttachParams } from './definition.js';
import { openLog, readLogFrom } from './log-file.js';
import type { DaemonNews } from './run-daemon.js';

export interface DaemonAttachOptions {
  readonly paths: DaemonPaths;
  /** The file of the `isthmus` command, which runs the daemon. */
  readonly program: string;
  readonly clock?: Clock;
  /** How long all of it may take. Default 30 s. */
  readonly withinMs?: number;
  readonly start?: (paths: DaemonPaths) => Promise<unknown>;
}

/**
 * Opens a stream to a server of the daemon. Starts a daemon when there is none. Waits for a daemon that is ending.
 * When it rejects, nothing was sent.
 */
export function attach(params: AttachParams, options: DaemonAttachOptions): Promise<Attached> {
  return withDaemon(options, () => controlClient(options.paths.socket).attach({ ...params }));
}

/** Asks the daemon for something. Starts a daemon when there is none. Waits for a daemon that is ending. */
export async function withDaemon<T>(options: DaemonAttachOptions, ask: () => Promise<T>): Promise<T> {
  const { paths, program, clock = systemClock, withinMs = 30_000 } = options;
  const start = options.start ?? ((at) => startDaemon(at, { program }));
  const until = clock.now() + withinMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (isAbsent(error)) await start(paths);
      // A daemon that is just ending closes the connection.
      else if (!(error instanceof IsthmusError && error.code === 'CONNECTION_CLOSED')) throw error;
    }
    if (clock.now() > until) {
      const message = `The daemon could not be reached within ${withinMs / 1000} s; its log is ${paths.log}`;
      throw new IsthmusError('TIMED_OUT', message, { sent: 'no' });
    }
    await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve));
  }
}

/** True when no daemon listens at the socket. Starting a daemon would not help against any other error. */
export function isAbsent(error: unknown): boolean {
  if (!isUnreachable(error)) return false;
  const { cause } = error as IsthmusError;
  const { code = '' } = Object(cause) as NodeJS.ErrnoException;
  return cause === undefined || ['ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE'].includes(code);
}

const RETRY_MS = 25;

/**
 * Starts a daemon. Of several processes that call this at once, one starts it; the others get 'being started' and try to
 * connect again soon. Rejects with the reason and the last log lines of the daemon.
 */
async function startDaemon(
  paths: DaemonPaths,
  { clock = systemClock, program }: { readonly clock?: Clock; readonly program: string },
): Promise<'started' | 'being started'> {
  const attempt = tryLock(paths.folder, `${paths.tag}-start`);
  if (attempt.kind === 'held') return 'being started';
  try {
    await startAlone(paths, clock, program);
    return 'started';
  } finally {
    attempt.lock.release();
  }
}

async function startAlone(paths: DaemonPaths, clock: Clock, program: string): Promise<void> {
  const log = openLog(paths.log);
  const pipe = startDetached({
    command: process.execPath,
    args: [program, 'daemon', 'run', '--notify', '3'],
    cwd: paths.folder,
    env: daemonEnvironment(paths),
    stderr: log.descriptor,
  });
  closeSync(log.descriptor);
  const callOff = clock.after(START_MS, () => pipe.destroy(new Error('timed out')));
  try {
    const news = await firstLine(pipe);
    if (news?.kind === 'ready' || news?.kind === 'taken') return;
    const logged = readLogFrom(paths.log, log.end).trim();
    const why = news?.why ?? (logged === '' ? 'it ended and logged nothing' : `it logged: ${logged}`);
    throw new IsthmusError('CANNOT_START', `The daemon could not be started: ${why} (${paths.log})`, {
      sent: 'no',
      stderrTail: logged,
    });
  } finally {
    callOff();
    pipe.destroy();
  }
}

/** The first line of the daemon. Undefined when it ended before. */
async function firstLine(pipe: NodeJS.ReadableStream): Promise<DaemonNews | undefined> {
  pipe.on('error', () => {});
  for await (const line of createInterface({ input: pipe })) {
    try {
      return JSON.parse(line) as DaemonNews;
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/**
 * The daemon serves hosts with different environments. So it gets only the variables that it needs itself: to find its
 * folders, and to reach remote servers.
 */
function daemonEnvironment({ folder }: DaemonPaths): Record<string, string> {
  const minimal = childEnvironment({});
  const more = childEnvironment({ inheritEnv: PASSED_ON });
  return { ...minimal, ...more, ISTHMUS_RUNTIME_DIR: folder };
}

const PASSED_ON = [
  ...['XDG_CACHE_HOME', 'XDG_STATE_HOME', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
];

/** A new daemon may have to wait for one that is ending. */
const START_MS = 20_000;
