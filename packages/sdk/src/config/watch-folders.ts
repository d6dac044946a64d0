import { watch } from 'node:fs';
import { lstat, readlink, stat } from 'node:fs/promises';
import { basename, join, parse, resolve, sep } from 'node:path';

/** Calls back with the names of what changes in a folder, where the system tells them; may throw. */
export type WatchFolder = (
  folder: string,
  onEvent: (name: string | undefined) => void,
  onLost: () => void,
) => () => void;

/** Watches folders, not files: many editors replace a file, and a watch of the old file sees nothing more. */
export interface FolderWatches {
  /** Watches wherever these files could change now, and nowhere else. Never rejects. */
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
          // Moved or deleted: the watch goes with the folder, and another one may be in its place.
          if (itself) onLost();
          if (itself || name === undefined || watched.names.has(name)) onChange();
        },
        onLost,
      );
      watches.set(folder, watched);
    } catch {
      // The folder is gone, or the system has no watches left. The periodic look finds changes all the same.
    }
  };

  return {
    async arrange(files) {
      const places = (await Promise.all(files.map(placesOf))).flat();
      if (closed) return;
      const wanted = new Map<string, Set<string>>();
      for (const { folder, name } of places) wanted.set(folder, (wanted.get(folder) ?? new Set()).add(name));
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

/** A name in a folder. When it is created, changed or replaced, a file may have changed. */
export interface WatchedPath {
  readonly folder: string;
  readonly name: string;
}

/**
 * Where to watch for changes of a file: in the folder that it is in, in the folder of every link on the way to it,
 * and, while a part of the way is missing, where that would appear. Never throws.
 */
export async function placesOf(file: string): Promise<readonly WatchedPath[]> {
  const places: WatchedPath[] = [];
  let { folder, names } = stepsOf(file);
  for (let links = 0; links <= MAX_LINKS; ) {
    const [name, ...more] = names;
    if (name === undefined) break;
    const path = join(folder, name);
    const found = await lstat(path).catch(() => undefined);
    if (!found || found.isSymbolicLink() || more.length === 0) places.push({ folder, name });
    if (!found) break;
    if (found.isSymbolicLink()) {
      const target = await readlink(path).catch(() => undefined);
      if (target === undefined) break;
      const there = stepsOf(resolve(folder, target));
      folder = there.folder;
      names = [...there.names, ...more];
      links += 1;
    } else {
      folder = path;
      names = more;
    }
  }
  return places;
}

/** As many as Linux follows. */
const MAX_LINKS = 40;

function stepsOf(path: string): { folder: string; names: string[] } {
  const { root } = parse(path);
  return { folder: root, names: path.slice(root.length).split(sep).filter(Boolean) };
}

/** The stamp of pipes and devices. */
export const NO_FILE = 'no file';

/** Differs when the content may differ. A pipe can be read only once, so it always is the same. */
export async function stampOf(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (!found) return 'missing';
  return found.isFile()
    ? [found.dev, found.ino, found.size, found.mtimeMs, found.ctimeMs].join(' ')
    : NO_FILE;
}
