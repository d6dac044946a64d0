import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { withLock } from './lock.js';
import { progress, SetupError } from './main.js';
import { inRoot } from './paths.js';
import { describeEnd, run } from './run.js';
import { tsc } from './tools.js';

const dist = inRoot('dist');
// Beside dist and as deep, so that the source maps made here are right there.
const next = inRoot('.dist-next');
const stampName = '.isthmus-build';

/** Compiles src/ to dist/ unless dist/ already is what src/ compiles to. */
export async function ensureBuilt() {
  if (await isCurrent(await fingerprint())) return;
  await withLock(inRoot('.cache/build.lock'), async () => {
    const wanted = await fingerprint();
    if (await isCurrent(wanted)) return;
    progress('building dist …');
    await rm(next, { recursive: true, force: true });
    await compile();
    await rm(join(dist, stampName), { force: true });
    await replaceDist();
    await writeFile(join(dist, stampName), wanted);
  });
}

/** A hash of everything that the output depends on. */
async function fingerprint() {
  const names = (await readdir(inRoot())).filter((name) => /^tsconfig.*\.json$/.test(name));
  const paths = [...names, 'package-lock.json', ...(await listFiles(inRoot('src'))).map((p) => `src/${p}`)];
  const hash = createHash('sha256');
  for (const path of paths.sort()) {
    const content = await readFile(inRoot(path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return `${hash.digest('hex')}\n`;
}

async function isCurrent(wanted) {
  return (await readFile(join(dist, stampName), 'utf8').catch(() => undefined)) === wanted;
}

async function compile() {
  const result = await run(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', next]);
  if (result.ok) return;
  await rm(next, { recursive: true, force: true });
  throw new SetupError(`The build failed: ${describeEnd(result)}\n${result.output.trimEnd()}`);
}

/**
 * Makes dist equal to the fresh output file by file, not by swapping folders: a process that is running
 * from dist never finds it missing, and unchanged files stay untouched.
 */
async function replaceDist() {
  const fresh = await listFiles(next);
  for (const path of fresh) {
    const target = join(dist, path);
    const [made, kept] = await Promise.all([
      readFile(join(next, path)),
      readFile(target).catch(() => undefined),
    ]);
    if (kept?.equals(made)) continue;
    await mkdir(dirname(target), { recursive: true });
    await rename(join(next, path), target);
  }
  const wanted = new Set(fresh);
  for (const path of await listFiles(dist)) {
    if (!wanted.has(path)) await removeWithEmptyFolders(join(dist, path));
  }
  await rm(next, { recursive: true, force: true });
}

async function removeWithEmptyFolders(path) {
  await rm(path, { force: true });
  for (let folder = dirname(path); folder !== dist; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch {
      return; // Not empty.
    }
  }
}

/** Every file below a folder, as paths relative to it with forward slashes; none when it does not exist. */
async function listFiles(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      relative(folder, join(entry.parentPath ?? entry.path, entry.name))
        .split(sep)
        .join('/'),
    );
}
