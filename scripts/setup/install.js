import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from './lock.js';
import { progress, SetupError } from './main.js';
import { inRoot, root } from './paths.js';
import { describeEnd, run } from './run.js';

/**
 * Installs the dependencies of a folder's package-lock.json unless they are already there: of the checkout,
 * or of a folder in it that has a manifest of its own.
 */
export async function ensureInstalled(name = '') {
  const folder = name === '' ? root : inRoot(name);
  const stampPath = join(folder, 'node_modules/.isthmus-install');
  const wanted = await fingerprint(folder);
  if ((await readIfThere(stampPath)) === wanted) return;
  await withLock(inRoot('.cache', name === '' ? 'install.lock' : `install-${name}.lock`), async () => {
    const stamp = await readIfThere(stampPath);
    if (stamp === wanted) return;
    // An `npm install` by hand writes no stamp. Repeating it would only take time.
    const otherNode = stamp !== undefined && platformOf(stamp) !== platformOf(wanted);
    if (otherNode || !(await isInstalledByHand(folder))) await install(folder, name);
    await writeFile(stampPath, wanted);
  });
}

async function fingerprint(folder) {
  const lock = await readFile(join(folder, 'package-lock.json'));
  const major = process.versions.node.split('.')[0];
  const hash = createHash('sha256').update(lock).digest('hex');
  return `${hash} node ${major} ${process.platform} ${process.arch}\n`;
}

/** The part of a fingerprint after the hash: which Node, where. */
function platformOf(stamp) {
  return stamp.slice(stamp.indexOf(' '));
}

/** Whether npm's own record of node_modules agrees with package-lock.json. */
async function isInstalledByHand(folder) {
  const record = await readIfThere(join(folder, 'node_modules/.package-lock.json'));
  if (record === undefined) return false;
  const installed = JSON.parse(record).packages;
  const { '': _, ...locked } = (await readLock(folder)).packages;
  const same = (path) =>
    installed[path]?.version === locked[path]?.version &&
    installed[path]?.integrity === locked[path]?.integrity;
  return (
    Object.keys(installed).every(same) &&
    Object.keys(locked).every((path) => locked[path].optional || locked[path].devOptional || same(path))
  );
}

async function install(folder, name) {
  progress(`installing dependencies${name && ` of ${name}`} (npm ci) …`);
  const result = await runNpm(folder, 'ci');
  if (result.ok) return;
  throw new SetupError(
    [
      `Installing the dependencies${name && ` of ${name}`} failed: ${describeEnd(result)}`,
      result.output.trimEnd(),
      'Check that the npm registry can be reached (npm ping) and that package.json and package-lock.json',
      'agree (npm install), then run the same command again.',
    ].join('\n'),
  );
}

function runNpm(cwd, ...args) {
  // --include=dev: under NODE_ENV=production npm would leave out the compiler.
  const flags = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const { command, first, shell } = npm();
  return run(command, [...first, ...args, ...flags], { cwd, shell });
}

/** The npm that runs us when there is one, else the one on the PATH (a script on Windows, hence the shell). */
function npm() {
  const running = process.env.npm_execpath;
  if (running?.endsWith('npm-cli.js')) return { command: process.execPath, first: [running], shell: false };
  return { command: 'npm', first: [], shell: process.platform === 'win32' };
}

async function readLock(folder) {
  return JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));
}

async function readIfThere(path) {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
