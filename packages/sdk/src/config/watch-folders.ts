import { watch } from 'node:fs';
import { lstat, readlink, stat } from 'node:fs/promises';
import { basename, join, parse, resolve, sep } from 'node:path';

/** Calls `onEvent` for changes in a folder, with the name of the file if the system reports it. May throw. */
export type WatchFolder = (
  folder: string,
  onEvent: (name: string | undefined) => void,
  onLost: () => void,
) => () => void;

/** Watches folders, not files: many editors replace a file, and a watcher of the old file would see no more changes. */
export interface FolderWatches {
  /** Watches exactly the folders in which these files could change. Never rejects. */
  arrange(files: readonly string[]): Promise<void>;
  close(): void;
}

export function createFolderWatches(
  onChange: () => void,
  watchFolder: WatchFolder = watchWithSystem,
): FolderWatches {
  const watches = new Map<string, Watched>();
  let closed = false;

  const drop = (folder: string, watched: Watched) => {
    watched.stop();
    if (watches.get(folder) === watched) watches.delete(folder);
  };
  const add = (folder: string, names: ReadonlySet<string>) => {
    const watched: Watched = { names, stop: () => {} };
    const onLost = () => drop(folder, watched);
    try {
      watched.stop = watchFolder(
        folder,
        (name) => {
          const itself = name === basename(folder);
          // The folder was moved or deleted, and another one may take its place: this watcher is useless.
          if (itself) onLost();
          if (itself || name === undefined || watched.names.has(name)) onChange();
        },
        onLost,
      );
      watches.set(folder, watched);
    } catch {
      // The folder is gone, or the system has no watchers left. The periodic check still finds changes.
    }
  };

  return {
    async arrange(files) {
      const paths = (await Promise.all(files.map(watchedPathsOf))).flat();
      if (closed) return;
      const wanted = new Map<string, Set<string>>();
      for (const { folder, name } of paths) wanted.set(folder, (wanted.get(folder) ?? new Set()).add(name));
      for (const [folder, watched] of [...watches]) if (!wanted.has(folder)) drop(folder, watched);
      for (const [folder, names] of wanted) {
        const known = watches.get(folder);
        if (known) known.names = names;
        else add(folder, names);
      }
    },
    close() {
      closed = true;
      for (const [folder, watched] of [...watches]) drop(folder, watched);
    },
  };
}

interface Watched {
  names: ReadonlySet<string>;
  stop: () => void;
}

const watchWithSystem: WatchFolder = (folder, onEvent, onLost) => {
  const watcher = watch(folder, { persistent: false }, (_, name) => onEvent(name ?? undefined));
  watcher.on('error', onLost);
  return () => watcher.close();
};

/** A name in a folder. A change of it may change a watched file. */
export interface WatchedPath {
  readonly folder: string;
  readonly name: string;
}

/**
 * Where to watch for changes of a file: in its folder, in the folder of every link in its path, and, if a part of the path
 * is missing, where that part would appear. Never throws.
 */
export async function watchedPathsOf(file: string): Promise<readonly WatchedPath[]> {
  const paths: WatchedPath[] = [];
  let { folder, names } = stepsOf(file);
  for (let links = 0; links <= MAX_LINKS; ) {
    const [name, ...more] = names;
    if (name === undefined) break;
    const path = join(folder, name);
    const found = await lstat(path).catch(() => undefined);
    if (!found || found.isSymbolicLink() || more.length === 0) paths.push({ folder, name });
    if (!found) break;
    if (found.isSymbolicLink()) {
      const target = await readlink(path).catch(() => undefined);
      if (target === undefined) break;
      const linked = stepsOf(resolve(folder, target));
      folder = linked.folder;
      names = [...linked.names, ...more];
      links += 1;
    } else {
      folder = path;
      names = more;
    }
  }
  return paths;
}

/** The limit of Linux. */
const MAX_LINKS = 40;

function stepsOf(path: string): { folder: string; names: string[] } {
  const { root } = parse(path);
  return { folder: root, names: path.slice(root.length).split(sep).filter(Boolean) };
}

/** The stamp of pipes and devices. */
export const NO_FILE = 'no file';

/** Changes when the content may have changed. Constant for a pipe, which can be read only once. */
export async function stampOf(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (!found) return 'missing';
  return found.isFile()
    ? [found.dev, found.ino, found.size, found.mtimeMs, found.ctimeMs].join(' ')
    : NO_FILE;
}
