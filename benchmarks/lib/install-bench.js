/**
 * `run.js --install`: what an installation costs the author of a small server. A new project and an empty npm cache for
 * each turn, in turns: `@isthmus/sdk` from its tarball, and the official server package.
 */

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { median } from './measure.js';
import { createProgress } from './progress.js';
import { ROOT } from './subjects.js';
import { align, number } from './table.js';

/** @typedef {{ name: string, seconds: number[], packages: number, megabytes: number }} InstallResult */

export const INSTALL_GOALS = { packages: 20, megabytes: 10, secondsVsOfficial: 2 };
const OFFICIAL = '@modelcontextprotocol/server';
const run = promisify(execFile);

/**
 * @param {{ quick: boolean, json: boolean, about: object }} options
 * @returns {Promise<number>} the exit status
 */
export async function benchInstall({ quick, json, about }) {
  const folder = await mkdtemp(join(tmpdir(), 'isthmus-install-'));
  try {
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], {
      cwd: join(ROOT, 'packages', 'sdk'),
    });
    const subjects = [
      { name: '@isthmus/sdk', what: join(folder, stdout.trim()) },
      { name: OFFICIAL, what: OFFICIAL },
    ];
    const turns = quick ? 1 : 5;
    const progress = createProgress(process.stderr, turns);
    /** @type {InstallResult[]} */
    const results = subjects.map(({ name }) => ({ name, seconds: [], packages: 0, megabytes: 0 }));
    for (let turn = 0; turn < turns; turn += 1) {
      progress.next(`install ${turn + 1} of ${turns}`);
      for (const [at, { what }] of subjects.entries()) {
        const one = await installOnce(join(folder, `${turn}-${at}`), what);
        const result = /** @type {InstallResult} */ (results[at]);
        result.seconds.push(one.seconds);
        Object.assign(result, { packages: one.packages, megabytes: one.megabytes });
      }
    }
    progress.end();
    const text = json
      ? JSON.stringify({ ...about, goals: INSTALL_GOALS, results }, null, 2)
      : render(results);
    process.stdout.write(`${text}\n`);
    return 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {string} project @param {string} what */
async function installOnce(project, what) {
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{ "name": "project", "private": true }');
  const began = performance.now();
  const cache = join(project, '.npm-cache');
  const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--cache', cache];
  await run('npm', ['install', ...flags, what], { cwd: project });
  const seconds = (performance.now() - began) / 1000;
  const modules = join(project, 'node_modules');
  const files = (await readdir(modules, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  const sizes = await Promise.all(
    files.map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size),
  );
  const packages = files.filter(
    ({ name, parentPath }) =>
      name === 'package.json' && /node_modules\/(?:@[^/]+\/)?[^/]+$/.test(parentPath.replaceAll('\\', '/')),
  );
  await rm(project, { recursive: true, force: true });
  return { seconds, packages: packages.length, megabytes: sizes.reduce((sum, size) => sum + size, 0) / 1e6 };
}

/** @param {InstallResult[]} results */
function render(results) {
  const [ours, official] = /** @type {[InstallResult, InstallResult]} */ (results);
  const rows = results.map(({ name, seconds, packages, megabytes }) => [
    name,
    String(packages),
    megabytes.toFixed(1),
    number(median(seconds)),
  ]);
  const factor = median(ours.seconds) / median(official.seconds);
  const verdicts = [
    `${ours.packages <= INSTALL_GOALS.packages ? 'met   ' : 'MISSED'}  packages ${ours.packages}, at most ${INSTALL_GOALS.packages}`,
    `${ours.megabytes <= INSTALL_GOALS.megabytes ? 'met   ' : 'MISSED'}  MB ${ours.megabytes.toFixed(1)}, at most ${INSTALL_GOALS.megabytes}`,
    `${factor <= INSTALL_GOALS.secondsVsOfficial ? 'met   ' : 'MISSED'}  cold install ${factor.toFixed(2)}x ${OFFICIAL}, at most ${INSTALL_GOALS.secondsVsOfficial}x`,
  ];
  return `${align([['package', 'packages', 'MB', 'seconds, cold'], ...rows])}\n\n${verdicts.join('\n')}`;
}
