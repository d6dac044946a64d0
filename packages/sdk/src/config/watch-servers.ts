import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '../async/clock.js';
import { type Servers, toServers } from './read-servers.js';
import type { ConfigProblem } from './report.js';
import { type ReadOptions, type SurveyedFile, surveyServers } from './survey.js';
import { createFolderWatches, NO_FILE, stampOf, type WatchFolder } from './watch-folders.js';

export interface WatchOptions extends ReadOptions {
  /** The files are read after no change for this time, or at the latest after ten times this time. Default 100 ms. */
  readonly quietMs?: number;
  /** How often the files are also checked, since some file systems do not report changes. Default 5 s; `false`: never. */
  readonly lookMs?: number | false;
  readonly clock?: Clock;
  /** Default: the watcher of Node. */
  readonly watchFolder?: WatchFolder;
}

/** The current content of the files. */
export type ServersChange =
  /** Single servers may have errors: `servers.problems`. */
  | { readonly kind: 'read'; readonly servers: Servers }
  /** A file is missing or cannot be parsed, or its block `gateway` is invalid: the previous servers should be kept. */
  | { readonly kind: 'broken'; readonly servers: Servers; readonly problems: readonly ConfigProblem[] };

/** What `watchServers` returns: it reads the files again on request, and ends the watch. */
export interface ServersWatch {
  /** The last content that was read. */
  readonly current: ServersChange;
  /** Reads now. Also calls the callback if something changed. */
  reread(): Promise<ServersChange>;
  /** No callback comes after this. A second call is harmless. */
  close(): void;
}

/**
 * Reads the files, and reads them again when one of them, or an `envFile` that they name, changes, appears or disappears.
 * Calls `onChange` when the content is different.
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
    const leftMs = noticedAt + 10 * quietMs - clock.now();
    stopWaiting = clock.after(Math.max(0, Math.min(quietMs, leftMs)), () => void reread(), BACKGROUND);
  };
  const folders = createFolderWatches(notice, watchFolder);

  const readNow = async (): Promise<ServersChange> => {
    stopWaiting();
    noticedAt = undefined;
    for (let turn = 1; ; turn += 1) {
      // Watch before reading, so that no change is missed.
      await folders.arrange(watched);
      stamps = await Promise.all(watched.map(stampOf));
      const files = await surveyServers(paths, { ...read, cwd });
      const before = watched;
      // A pipe can be read only once, so files that it names cannot cause another reading.
      const named = stamps.slice(0, paths.length).includes(NO_FILE) ? [] : envFilesOf(files);
      watched = [...new Set([...paths, ...named])];
      // A newly named file was read before it was watched, so everything is read again.
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

/** Files that change during every reading are read again after the next reported change or periodic check. */
const MAX_TURNS = 3;
const BACKGROUND = { background: true };

function toChange(servers: Servers): ServersChange {
  const problems = servers.problems.filter(
    ({ severity, server }) => severity === 'error' && server === undefined,
  );
  return problems.length === 0 ? { kind: 'read', servers } : { kind: 'broken', servers, problems };
}
