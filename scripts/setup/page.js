import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';
import { writeLicenses } from './bundle.js';
import { SetupError } from './main.js';
import { inRoot } from './paths.js';

/**
 * Builds the page of the console. Its files ship compressed, since they are sent as they are; `licenses.txt` has the
 * licences of what was taken in.
 */
export async function buildPage(folder) {
  const { build } = await import('vite');
  const configFile = inRoot('packages/console/web/vite.config.ts');
  let built;
  try {
    built = await build({ configFile, logLevel: 'error', build: { outDir: folder, emptyOutDir: true } });
  } catch (error) {
    throw new SetupError(`The build of the console's page failed: ${error.message}`);
  }
  const ids = [built].flat().flatMap(({ output }) => output.flatMap(({ moduleIds = [] }) => moduleIds));
  await writeLicenses(folder, ids);
  for (const name of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!name.isFile()) continue;
    const path = join(name.parentPath ?? name.path, name.name);
    await writeFile(`${path}.gz`, gzipSync(await readFile(path), { level: constants.Z_BEST_COMPRESSION }));
    await rm(path);
  }
}
