import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '../async/clock.js';
import { type Servers, toServers } from './read-servers.js';
import type { ConfigProblem } from './report.js';
import { type ReadOptions, type SurveyedFile, surveyServers } from './survey.js';
import { createFolderWatches, NO_FILE, stampOf, type WatchFolder } from './watch-folders.js';

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

/**
 * Reads the files, and again whenever one of them, or an `envFile` that they name, changes, appears or goes away. Calls
 * back when they say something else.
 */
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
  /** The files themselves, and those that they name. */
  let watched: readonly string[] = paths;

  const notice = () => {
    if (closed) return;
    noticedAt ??= clock.now();
    stopWaiting();
    const patience = noticedAt + 10 * quietMs - clock.now();
    stopWaiting = clock.after(Math.max(0, Math.min(quietMs, patience)), () => void reread(), BACKGROUND);
  };
  const folders = createFolderWatches(notice, watchFolder);

  const readNow = async (): Promise<ServersChange> => {
    stopWaiting();
    noticedAt = undefined;
    for (let turn = 1; ; turn += 1) {
      // Watched before it is read: what changes from now on is noticed.
      await folders.arrange(watched);
      stamps = await Promise.all(watched.map(stampOf));
      const files = await surveyServers(paths, { ...read, cwd });
      const before = watched;
      // A pipe can be read only once: what it names is not worth another reading.
      const named = stamps.slice(0, paths.length).includes(NO_FILE) ? [] : envFilesOf(files);
      watched = [...new Set([...paths, ...named])];
      // A file that is named for the first time was read before it was watched, so it is read again.
      if (turn === MAX_TURNS || watched.every((file) => before.includes(file))) {
        return toChange(toServers(files));
      }
    }
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
        const now = await Promise.all(watched.map(stampOf));
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

function envFilesOf(files: readonly SurveyedFile[]): string[] {
  return files.flatMap(({ definitions }) => definitions.flatMap(({ envFile }) => envFile ?? []));
}

/** Files that change with each reading are read again when the system tells of it, or at the next look. */
const MAX_TURNS = 3;
const BACKGROUND = { background: true };

function toChange(servers: Servers): ServersChange {
  const problems = servers.problems.filter(
    ({ severity, server }) => severity === 'error' && server === undefined,
  );
  return problems.length === 0 ? { kind: 'read', servers } : { kind: 'broken', servers, problems };
}
