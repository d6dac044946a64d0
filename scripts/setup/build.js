import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { bundleCommand } from './bundle.js';
import { withLock } from './lock.js';
import { progress, SetupError } from './main.js';
import { buildPage } from './page.js';
import { inRoot } from './paths.js';
import { describeEnd, run } from './run.js';
import { tsc } from './tools.js';

/** In the order in which they are compiled: each imports the declarations of those before it. */
const PACKAGES = ['sdk', 'gateway', 'check', 'console', 'cli'];
const stampName = '.isthmus-build';

/** Compiles src/ of every package to its dist/, unless dist/ already is what src/ compiles to. */
export async function ensureBuilt() {
  if (await areCurrent()) return;
  await withLock(inRoot('.cache/build.lock'), async () => {
    let before = '';
    for (const name of PACKAGES) {
      before = await fingerprint(name, before);
      if (await isCurrent(name, before)) continue;
      progress(`building packages/${name} …`);
      await buildPackage(name, before);
    }
  });
}

async function areCurrent() {
  let before = '';
  for (const name of PACKAGES) {
    before = await fingerprint(name, before);
    if (!(await isCurrent(name, before))) return false;
  }
  return true;
}

async function buildPackage(name, wanted) {
  const dist = inPackage(name, 'dist');
  const next = inPackage(name, '.dist-next');
  await rm(next, { recursive: true, force: true });
  await compile(name, next);
  if (name === 'cli') await bundleCommand(next);
  if (name === 'console') await buildPage(join(next, 'web'));
  await rm(join(dist, stampName), { force: true });
  await replaceDist(next, dist);
  await writeFile(join(dist, stampName), wanted);
}

/** A hash of everything that the output of a package depends on; `before` stands for the packages before it. */
async function fingerprint(name, before) {
  const sources = (await Promise.all(['src', 'web'].map((folder) => sourcesIn(name, folder)))).flat();
  const settings = ['tsconfig.base.json', 'package-lock.json', ...SCRIPTS];
  const own = [`packages/${name}/tsconfig.json`, `packages/${name}/package.json`];
  const hash = createHash('sha256').update(before);
  for (const path of [...settings, ...own, ...sources].sort()) {
    const content = await readFile(inRoot(path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return `${hash.digest('hex')}\n`;
}

const SCRIPTS = ['scripts/setup/bundle.js', 'scripts/setup/page.js'];

async function sourcesIn(name, folder) {
  return (await listFiles(inPackage(name, folder))).map((path) => `packages/${name}/${folder}/${path}`);
}

async function isCurrent(name, wanted) {
  const stamp = await readFile(inPackage(name, 'dist', stampName), 'utf8').catch(() => undefined);
  return stamp === wanted;
}

async function compile(name, next) {
  const project = inPackage(name, 'tsconfig.json');
  const buildInfo = join(next, 'tsconfig.tsbuildinfo');
  const result = await run(process.execPath, [
    ...[tsc, '-p', project, '--outDir', next, '--tsBuildInfoFile', buildInfo],
  ]);
  await rm(buildInfo, { force: true });
  if (result.ok) return;
  await rm(next, { recursive: true, force: true });
  throw new SetupError(
    `The build of packages/${name} failed: ${describeEnd(result)}\n${result.output.trimEnd()}`,
  );
}

function inPackage(name, ...path) {
  return inRoot('packages', name, ...path);
}

/**
 * Makes dist equal to the fresh output file by file, not by swapping folders: a process that is running
 * from dist never finds it missing, and unchanged files stay untouched.
 */
async function replaceDist(next, dist) {
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
    if (!wanted.has(path)) await removeWithEmptyFolders(dist, join(dist, path));
  }
  await rm(next, { recursive: true, force: true });
}

async function removeWithEmptyFolders(dist, path) {
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
