// npm run release -- --dry-run: packs the four packages, installs each alone in an empty folder, tries it, and prints what
// would be published and how to compare it with the registry. Without --dry-run it publishes. docs/releasing.md has the list.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PUBLIC_ADDRESS } from './release/address.js';
import { installAlone, PACKAGES, packAll, provenanceOf, smoke, succeed } from './release/packages.js';
import { progress, SetupError } from './setup/main.js';
import { inRoot, root } from './setup/paths.js';
import { ensureBuilt, ensureInstalled, runMain } from './setup.js';

const NOTES = `
Provenance: compare each integrity above with "npm view NAME@VERSION dist.integrity" after the release. Everyone can build
the same tarballs from the commit: npm run release -- --dry-run. On a CI that npm knows, packages are published with
--provenance, and "npm audit signatures" verifies them.`;

await runMain(async () => {
  const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } });
  const isReal = !values['dry-run'];
  const { version } = JSON.parse(await readFile(inRoot('package.json'), 'utf8'));
  const source = await readSource(version);
  for (const problem of source.problems) progress(`not ready: ${problem}`);
  if (isReal && source.problems.length > 0) throw new SetupError('Nothing was published.');
  await ensureInstalled();
  await ensureBuilt();
  const folder = await mkdtemp(join(tmpdir(), 'isthmus-release-'));
  try {
    progress('packing …');
    const tarballs = await packAll(folder);
    for (const each of PACKAGES) {
      progress(`installing ${each.name} alone, and trying it …`);
      await smoke(await installAlone(folder, each, tarballs), each.folder);
    }
    console.log(`Isthmus ${version} of commit ${source.commit}, Node ${process.version}`);
    for (const { folder: name, name: title } of PACKAGES) {
      const { kilobytes, integrity } = await provenanceOf(tarballs.get(name));
      console.log(`${title}@${version}  ${kilobytes} kB\n  ${integrity}`);
      if (isReal) await succeed('npm', publishArgs(tarballs.get(name)), folder);
    }
    console.log(NOTES);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** What is released, and why it may not be. */
async function readSource(version) {
  const git = async (...args) => (await succeed('git', args, root)).trim();
  const changelog = await readFile(inRoot('CHANGELOG.md'), 'utf8');
  const problems = [
    (await git('status', '--porcelain')) !== '' && 'the work tree has changes that are not committed',
    (await git('tag', '--points-at', 'HEAD')) !== `v${version}` && `the commit has no tag v${version}`,
    !new RegExp(`^## ${version} \\(\\d{4}-\\d\\d-\\d\\d\\)`, 'm').test(changelog) &&
      `CHANGELOG.md has no heading "## ${version} (DATE)"`,
    PUBLIC_ADDRESS === undefined && 'PUBLIC_ADDRESS in scripts/release/address.js is not set',
  ];
  return { commit: await git('rev-parse', 'HEAD'), problems: problems.filter(Boolean) };
}

function publishArgs(tarball) {
  // npm can prove where a package was built only on a CI that it knows.
  const provenance = process.env.ACTIONS_ID_TOKEN_REQUEST_URL === undefined ? [] : ['--provenance'];
  return ['publish', tarball, '--access', 'public', ...provenance];
}
