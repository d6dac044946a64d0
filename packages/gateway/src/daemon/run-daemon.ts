import { closeSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { planDeparture } from '@isthmus/sdk/internal/async/departure.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { type Lock, tryLock } from '@isthmus/sdk/internal/process/lock.js';
import { onSignals } from '@isthmus/sdk/internal/server/own-process.js';
import { openDaemon } from './daemon.js';
import type { DaemonPaths } from './daemon-paths.js';
import type { DaemonLog } from './log-file.js';

export interface RunOptions {
  readonly paths: DaemonPaths;
  readonly log: DaemonLog;
  readonly version: string;
  /** A pipe for the news to the process that started the daemon. */
  readonly notify: number | undefined;
  readonly firstMs: number | undefined;
}

/** What a daemon reports to the process that started it: one line of JSON. */
export type DaemonNews =
  | { readonly kind: 'ready'; readonly pid: number }
  /** Another daemon runs. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'failed'; readonly why: string };

/** Runs the daemon until it has no more servers. Returns what it reported at the start. */
export async function runDaemon({ paths, log, version, notify, firstMs }: RunOptions): Promise<DaemonNews> {
  const tell = (news: DaemonNews) => {
    if (notify !== undefined) send(notify, news);
    return news;
  };
  try {
    const lock = await takeSocket(paths);
    if (!lock) return tell({ kind: 'taken' });
    const daemon = await openDaemon({
      paths,
      lock,
      log,
      version,
      ...(firstMs !== undefined && { firstMs }),
    }).catch((error: unknown) => {
      lock.release();
      throw error;
    });
    log.say(`daemon ${version} started (process ${process.pid})`);
    const news = tell({ kind: 'ready', pid: process.pid });
    const departure = planDeparture({ isStdio: false });
    onSignals({ departure, begin: () => void daemon.close(departure.graceMs) });
    await daemon.ended;
    log.say('daemon ended');
    return news;
  } catch (error) {
    // Windows has no lock: the process that owns the pipe is the daemon.
    if (process.platform === 'win32' && (await answers(paths.socket))) return tell({ kind: 'taken' });
    log.say(`daemon cannot start: ${messageOf(error)}`);
    return tell({ kind: 'failed', why: messageOf(error) });
  }
}

function send(descriptor: number, news: DaemonNews): void {
  try {
    writeSync(descriptor, `${JSON.stringify(news)}\n`);
    // Servers must not inherit the descriptor.
    closeSync(descriptor);
  } catch {
    // The process that started the daemon is gone.
  }
}

/**
 * Takes the lock of this user's daemon. Waits for a daemon that is ending, since its processes may still run. Undefined
 * when another daemon answers.
 */
async function takeSocket(
  { folder, tag, socket }: DaemonPaths,
  { waitMs = WAIT_MS, clock = systemClock }: { readonly waitMs?: number; readonly clock?: Clock } = {},
): Promise<Lock | undefined> {
  const until = clock.now() + waitMs;
  for (;;) {
    const attempt = tryLock(folder, tag);
    if (attempt.kind === 'taken') return attempt.lock;
    if (await answers(socket)) return undefined;
    if (clock.now() > until) {
      const message = `Another daemon (process ${attempt.pid}) neither answers nor ends; end it with: kill ${attempt.pid}`;
      throw new IsthmusError('BUSY', message, { sent: 'no' });
    }
    await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve));
  }
}

/** Whether a process listens. It may still not answer requests. */
function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socket);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
}

/** Longer than the 5 s that servers get to end. */
const WAIT_MS = 15_000;
const RETRY_MS = 25;
