/** Packs the packages, installs each alone in an empty folder, and tries what it is for. */

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inRoot } from '../setup/paths.js';
import { describeEnd, run } from '../setup/run.js';

/** What each package needs of the others. In the order in which they are published. */
export const PACKAGES = /** @type {const} */ ([
  { folder: 'sdk', name: '@isthmus/sdk', needs: ['sdk'] },
  { folder: 'gateway', name: '@isthmus/gateway', needs: ['sdk', 'gateway'] },
  { folder: 'check', name: '@isthmus/check', needs: ['sdk', 'check'] },
  { folder: 'console', name: '@isthmus/console', needs: ['sdk', 'console'] },
  { folder: 'cli', name: 'isthmus', needs: ['sdk', 'gateway', 'check', 'console', 'cli'] },
]);

const SERVER = `
  const server = createServer({ name: 'a', version: '1' });
  server.tool('hello', {}, () => 'good');
`;

/** Each does what its package is for, and prints "good". */
const PROGRAMS = {
  sdk: `
    import { connect, createServer, memory, serve } from '@isthmus/sdk';
    ${SERVER}
    const link = memory();
    await serve(server, link);
    const client = await connect(link);
    console.log((await client.callTool('hello')).content[0].text);
    await client.close();
    process.exit();
  `,
  gateway: `
    import { createGateway } from '@isthmus/gateway';
    console.log(typeof createGateway === 'function' ? 'good' : 'bad');
  `,
  check: `
    import { assertSound } from '@isthmus/check';
    import { createServer } from '@isthmus/sdk';
    ${SERVER}
    const { counts } = await assertSound({ server }, { only: ['ping/*'] });
    console.log(counts.pass > 0 ? 'good' : 'bad');
    process.exit();
  `,
  console: `
    import { AccessControl, openConsoleServer } from '@isthmus/console';
    const server = await openConsoleServer({ access: new AccessControl(), handlers: {}, guardsPayloads: false });
    const page = await fetch(server.address());
    console.log((await page.text()).includes('<div id="page">') ? 'good' : 'bad');
    process.exit();
  `,
  cli: `
    import { createServer } from 'isthmus';
    import { checkServer } from 'isthmus/check';
    console.log(typeof createServer === 'function' && typeof checkServer === 'function' ? 'good' : 'bad');
  `,
};

/**
 * @param {string} folder where the tarballs go
 * @returns {Promise<Map<string, string>>} the tarball of each package, by its folder
 */
export async function packAll(folder) {
  const tarballs = new Map();
  for (const { folder: name } of PACKAGES) {
    const to = join(folder, 'tarballs', name);
    await mkdir(to, { recursive: true });
    await succeed('npm', ['pack', '--pack-destination', to], inRoot('packages', name));
    const tarball = (await readdir(to)).find((each) => each.endsWith('.tgz'));
    if (tarball === undefined) throw new Error(`npm pack made no tarball of packages/${name}`);
    tarballs.set(name, join(to, tarball));
  }
  return tarballs;
}

/**
 * A project with one of the packages, and with those that it needs.
 * @param {string} folder
 * @param {(typeof PACKAGES)[number]} wanted
 * @param {ReadonlyMap<string, string>} tarballs
 */
export async function installAlone(folder, { folder: own, needs }, tarballs) {
  const project = join(folder, own);
  await mkdir(project);
  // Without a manifest npm would look for one in the folders above.
  await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'project', private: true }));
  const files = needs.map((each) => /** @type {string} */ (tarballs.get(each)));
  await succeed('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...files], project);
  return project;
}

/**
 * @param {string} project
 * @param {keyof typeof PROGRAMS} own
 */
export async function smoke(project, own) {
  const args = ['--input-type=module', '--eval', PROGRAMS[own]];
  const { output } = await run(process.execPath, args, { cwd: project, limitMs: 120_000 });
  if (output !== 'good\n') throw new Error(`The program for packages/${own} printed:\n${output}`);
}

/**
 * What a person compares with the registry afterwards.
 * @param {string} tarball
 */
export async function provenanceOf(tarball) {
  const bytes = await readFile(tarball);
  return {
    kilobytes: Math.round((await stat(tarball)).size / 1000),
    integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
  };
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
export async function succeed(command, args, cwd) {
  // npm tells the scripts that it runs where they run; the npm that is started here must find its own place.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^(?:npm_(?:package|lifecycle|command|config_local_prefix)|INIT_CWD|NODE_ENV$|VITEST)/i.test(name),
    ),
  );
  const result = await run(command, args, { cwd, env, limitMs: 300_000 });
  if (!result.ok) throw new Error(`${command} ${args.join(' ')}: ${describeEnd(result)}\n${result.output}`);
  return result.output;
}
