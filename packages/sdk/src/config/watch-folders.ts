import { watch } from 'node:fs';
import { basename } from 'node:path';
import { placesOf } from './watch-paths.js';

/** Calls back with the names of what changes in a folder, where the system tells them; may throw. */
export type WatchFolder = (
  folder: string,
  onEvent: (name: string | undefined) => void,
  onLost: () => void,
) => () => void;

/** Folders rather than files: many editors replace a file, and whoever watches the old one learns no more. */
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
      // No such folder any more, or the system has no watches left: whoever looks now and then sees it, too.
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
