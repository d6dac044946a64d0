import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

interface Manifest {
  readonly workspaces: readonly string[];
}

interface LockedPackage {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly integrity?: string;
}

test('N15: npm ci accepts the manifests and the lock of a fresh clone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'isthmus-npm-ci-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { workspaces } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest;
  const manifests = [
    'package.json',
    'package-lock.json',
    ...workspaces.map((each) => `${each}/package.json`),
  ];
  for (const file of manifests) await cp(join(root, file), join(folder, file), { recursive: true });
  const args = ['ci', '--dry-run', '--ignore-scripts', '--no-audit', '--no-fund'];
  // Rejects with what npm printed when the lock and the manifests differ.
  const npm = join(dirname(process.execPath), process.platform === 'win32' ? 'npm.cmd' : 'npm');
  const { stdout } = await run(npm, args, { cwd: folder, shell: process.platform === 'win32' });
  expect(stdout).toContain('added');
});

test('N15: the lock has every platform package of the tools', async () => {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, LockedPackage>>;
  };
  for (const tool of ['@biomejs/biome', 'rolldown']) {
    const { optionalDependencies = {} } = packages[`node_modules/${tool}`]!;
    const names = Object.keys(optionalDependencies);
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => packages[`node_modules/${name}`]?.integrity === undefined)).toEqual([]);
  }
});
