/**
 * `run.js --install`: what an installation costs the author of a small server. A new project and an empty npm cache for
 * each turn, in turns: `@isthmus/sdk` from its tarball, and the official server package.
 */

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createProgress } from '../lib/progress.js';
import { median } from '../lib/statistics.js';
import { ROOT } from '../lib/subjects.js';
import { align, number } from '../lib/text.js';
import { verdict } from '../lib/verdicts.js';

/** @typedef {{ name: string, seconds: number[], packages: number, megabytes: number }} InstallResult */

const OFFICIAL = '@modelcontextprotocol/server';
const run = promisify(execFile);

/** @type {import('./index.js').Mode} */
export const INSTALL = {
  name: 'install',
  takesEra: false,

  async measure({ quick }) {
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
      return { document: { results }, failed: false };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },

  judge({ results = [] }) {
    const [ours, official] = /** @type {(InstallResult | undefined)[]} */ (results);
    const place = { mode: 'install', where: '@isthmus/sdk', required: false };
    return [
      verdict({ ...place, what: 'packages', unit: '', limit: 20, value: ours?.packages }),
      verdict({ ...place, what: 'size', unit: 'MB', limit: 10, value: ours?.megabytes }),
      verdict({
        ...place,
        what: `cold install against ${OFFICIAL}`,
        unit: 'x',
        limit: 2,
        value: ours && official && median(ours.seconds) / median(official.seconds),
      }),
    ];
  },

  render({ results }) {
    const rows = results.map((/** @type {InstallResult} */ { name, seconds, packages, megabytes }) => [
      name,
      String(packages),
      megabytes.toFixed(1),
      number(median(seconds)),
    ]);
    return align([['package', 'packages', 'MB', 'seconds, cold'], ...rows]);
  },
};

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
