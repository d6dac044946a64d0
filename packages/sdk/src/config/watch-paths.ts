import { lstat, readlink, stat } from 'node:fs/promises';
import { join, parse, resolve, sep } from 'node:path';

/** A name in a folder: whoever creates, changes or replaces it may have changed a file. */
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
