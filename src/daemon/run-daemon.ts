import { closeSync, writeSync } from 'node:fs';
import { planDeparture } from '../async/departure.js';
import { messageOf } from '../errors.js';
import { onSignals } from '../server/own-process.js';
import { openDaemon } from './daemon.js';
import type { DaemonLog } from './log-file.js';
import type { DaemonPlaces } from './places.js';
import { answers, takePlace } from './take-place.js';

export interface RunOptions {
  readonly places: DaemonPlaces;
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
    const lock = await takePlace(places);
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
