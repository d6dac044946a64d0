import { closeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { childEnvironment } from '@isthmus/sdk/internal/process/environment.js';
import { startDetached } from '@isthmus/sdk/internal/process/start-detached.js';
import type { DaemonPaths } from './daemon-paths.js';
import { tryLock } from './lock.js';
import { openLog, readLogFrom } from './log-file.js';
import type { DaemonNews } from './run-daemon.js';

/**
 * Sees to it that a daemon is being started. Of several who come at once, one starts it and the others are told so:
 * then there is nothing to do but to try again soon. Rejects with why it could not be started, and its last words.
 */
export async function startDaemon(
  places: DaemonPaths,
  { clock = systemClock, program }: { readonly clock?: Clock; readonly program: string },
): Promise<'started' | 'being started'> {
  const attempt = tryLock(places.folder, `${places.tag}-start`);
  if (attempt.kind === 'held') return 'being started';
  try {
    await startAlone(places, clock, program);
    return 'started';
  } finally {
    attempt.lock.release();
  }
}

async function startAlone(places: DaemonPaths, clock: Clock, program: string): Promise<void> {
  const log = openLog(places.log);
  const pipe = startDetached({
    command: process.execPath,
    args: [program, 'daemon', '--notify', '3'],
    cwd: places.folder,
    env: daemonEnvironment(places),
    stderr: log.descriptor,
  });
  closeSync(log.descriptor);
  const callOff = clock.after(START_MS, () => pipe.destroy(new Error('it took too long')));
  try {
    const news = await firstLine(pipe);
    if (news?.kind === 'ready' || news?.kind === 'taken') return;
    const words = readLogFrom(places.log, log.end).trim();
    const why = news?.why ?? (words === '' ? 'it ended without a word' : `its last words: ${words}`);
    throw new IsthmusError('CANNOT_START', `The daemon could not be started: ${why} (${places.log})`, {
      sent: 'no',
      stderrTail: words,
    });
  } finally {
    callOff();
    pipe.destroy();
  }
}

/** What it says; undefined when it ended before it could. */
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
 * The daemon serves hosts with different environments, so it has as little of one as possible: what it needs to find
 * its folders, and its way to remote servers.
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

/** It may have to wait for one that is ending. */
const START_MS = 20_000;
