import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '../async/clock.js';
import type { ConfigProblem, ReadOptions, Servers } from './entry.js';
import { readServers } from './read-servers.js';
import { createFolderWatches, type WatchFolder } from './watch-folders.js';
import { stampOf } from './watch-places.js';

export interface WatchOptions extends ReadOptions {
  /** The files are read when they were left alone for so long, or for ten times as long were not. Default 100 ms. */
  readonly quietMs?: number;
  /** How often the files are looked at besides, since not every file system tells of changes. Default 5 s; `false`: never. */
  readonly lookMs?: number | false;
  readonly clock?: Clock;
  /** Default: what the system offers. */
  readonly watchFolder?: WatchFolder;
}

/** What the files say now. */
export type ServersChange =
  /** Single servers may have errors: `servers.problems`. */
  | { readonly kind: 'read'; readonly servers: Servers }
  /** A file is missing or no document, or its block `gateway` is wrong: better keep what was there before. */
  | { readonly kind: 'broken'; readonly servers: Servers; readonly problems: readonly ConfigProblem[] };

export interface ServersWatch {
  /** What was read last. */
  readonly current: ServersChange;
  /** Reads now; tells the callback, too, if there is news. */
  reread(): Promise<ServersChange>;
  /** No callback after this. Twice is harmless. */
  close(): void;
}

/** Reads the files, and again whenever one of them changes, appears or goes away; calls back when they say something else. */
export async function watchServers(
  files: string | readonly string[],
  options: WatchOptions,
  onChange: (change: ServersChange) => void,
): Promise<ServersWatch> {
  const { clock = systemClock, quietMs = 100, lookMs = 5000, watchFolder, ...read } = options;
  const cwd = read.cwd ?? process.cwd();
  const paths = (typeof files === 'string' ? [files] : files).map((file) => resolve(cwd, file));
  let closed = false;
  let noticedAt: number | undefined;
  let stopWaiting = () => {};
  let stopLooking = () => {};
  let stamps: readonly string[] = [];

  const notice = () => {
    if (closed) return;
    noticedAt ??= clock.now();
    stopWaiting();
    const patience = noticedAt + 10 * quietMs - clock.now();
    stopWaiting = clock.after(Math.max(0, Math.min(quietMs, patience)), () => void reread(), BACKGROUND);
  };
  const folders = createFolderWatches(paths, notice, watchFolder);

  const readNow = async (): Promise<ServersChange> => {
    stopWaiting();
    noticedAt = undefined;
    // Watched before it is read: what changes from now on is noticed.
    await folders.arrange();
    stamps = await Promise.all(paths.map(stampOf));
    return toChange(await readServers(paths, { ...read, cwd }));
  };
  let current = await readNow();

  let last: Promise<ServersChange> = Promise.resolve(current);
  const reread = (): Promise<ServersChange> => {
    const before = last.catch(() => undefined);
    last = before.then(async () => {
      if (closed) return current;
      const change = await readNow();
      if (closed || isDeepStrictEqual(change, current)) return current;
      current = change;
      onChange(change);
      return change;
    });
    return last;
  };

  const look = () => {
    if (lookMs === false || closed) return;
    stopLooking = clock.after(
      lookMs,
      async () => {
        const now = await Promise.all(paths.map(stampOf));
        if (!isDeepStrictEqual(now, stamps)) notice();
        look();
      },
      BACKGROUND,
    );
  };
  look();

  return {
    get current() {
      return current;
    },
    reread,
    close() {
      closed = true;
      stopWaiting();
      stopLooking();
      folders.close();
    },
  };
}

const BACKGROUND = { background: true };

function toChange(servers: Servers): ServersChange {
  const problems = servers.problems.filter(
    ({ severity, server }) => severity === 'error' && server === undefined,
  );
  return problems.length === 0 ? { kind: 'read', servers } : { kind: 'broken', servers, problems };
}
