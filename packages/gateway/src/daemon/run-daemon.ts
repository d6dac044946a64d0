import { closeSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { planDeparture } from '@isthmus/sdk/internal/async/departure.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { onSignals } from '@isthmus/sdk/internal/server/own-process.js';
import { openDaemon } from './daemon.js';
import type { DaemonPaths } from './daemon-paths.js';
import { type Lock, tryLock } from './lock.js';
import type { DaemonLog } from './log-file.js';

export interface RunOptions {
  readonly places: DaemonPaths;
  readonly log: DaemonLog;
  readonly version: string;
  /** A pipe on which whoever started it waits for word. */
  readonly notify: number | undefined;
  readonly firstMs: number | undefined;
}

/** What whoever started a daemon is told, on one line. */
export type DaemonNews =
  | { readonly kind: 'ready'; readonly pid: number }
  /** There is one already. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'failed'; readonly why: string };

/** Is the daemon, until nobody needs it any more. Says whether it ever was. */
export async function runDaemon({ places, log, version, notify, firstMs }: RunOptions): Promise<DaemonNews> {
  const tell = (news: DaemonNews) => {
    if (notify !== undefined) send(notify, news);
    return news;
  };
  try {
    const lock = await takeSocket(places);
    if (!lock) return tell({ kind: 'taken' });
    const daemon = await openDaemon({
      places,
      lock,
      log,
      version,
      ...(firstMs !== undefined && { firstMs }),
    }).catch((error: unknown) => {
      lock.release();
      throw error;
    });
    log.say(`the daemon ${version} has begun (process ${process.pid})`);
    const news = tell({ kind: 'ready', pid: process.pid });
    const departure = planDeparture({ isStdio: false });
    onSignals({ departure, begin: () => void daemon.close(departure.graceMs) });
    await daemon.ended;
    log.say('the daemon has ended');
    return news;
  } catch (error) {
    // Where there is no lock, whoever has the name is the daemon.
    if (process.platform === 'win32' && (await answers(places.socket))) return tell({ kind: 'taken' });
    log.say(`the daemon could not begin: ${messageOf(error)}`);
    return tell({ kind: 'failed', why: messageOf(error) });
  }
}

function send(descriptor: number, news: DaemonNews): void {
  try {
    writeSync(descriptor, `${JSON.stringify(news)}\n`);
    // Servers must not inherit it.
    closeSync(descriptor);
  } catch {
    // Whoever started us is gone.
  }
}

/**
 * Becomes the one daemon of this user. One that is ending is waited for, since its processes may still be there.
 * Undefined: there is one, and it answers.
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
      const message = `Another daemon (process ${attempt.pid}) neither answers nor ends; kill ${attempt.pid} helps`;
      throw new IsthmusError('BUSY', message, { sent: 'no' });
    }
    await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve));
  }
}

/** Somebody listens. Whether they do anything else is for those to find out who ask. */
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

/** Servers are given 5 s to end. */
const WAIT_MS = 15_000;
const RETRY_MS = 25;
