import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ended, runProgram } from './run-program.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const minutes = 60_000;

/** What each package needs of the others, and what a program can do with it alone. */
const PACKAGES = [
  { folder: 'sdk', name: '@isthmus/sdk', needs: ['sdk'], entry: 'dist/index.js' },
  { folder: 'gateway', name: '@isthmus/gateway', needs: ['sdk', 'gateway'], entry: 'dist/index.js' },
  { folder: 'check', name: '@isthmus/check', needs: ['sdk', 'check'], entry: 'dist/index.js' },
  { folder: 'cli', name: 'isthmus', needs: ['sdk', 'gateway', 'check', 'cli'], entry: 'bin/isthmus.js' },
] as const;

let folder: string;
const tarballs = new Map<string, string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'isthmus-pack-'));
  for (const { folder: name } of PACKAGES) {
    const to = join(folder, 'tarballs', name);
    await mkdir(to, { recursive: true });
    await succeed('npm', ['pack', '--pack-destination', to], join(root, 'packages', name));
    const tarball = (await readdir(to)).find((each) => each.endsWith('.tgz'));
    if (tarball === undefined) throw new Error(`npm pack made no tarball of packages/${name}`);
    tarballs.set(name, join(to, tarball));
  }
}, 5 * minutes);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(PACKAGES)('$name, packed and installed alone', ({ folder: own, name, needs, entry }) => {
  const project = () => join(folder, own);

  beforeAll(async () => {
    await createProject(project());
    const files = needs.map((each) => tarballs.get(each)!);
    await succeed('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...files], project());
  }, 5 * minutes);

  it('contains the program, its licence and readme, and nothing of the workshop', async () => {
    const files = await listInstalled(project(), name);
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json', entry]));
    const strange = files.filter((path) => !isWanted(path));
    expect(strange).toEqual([]);
  });

  it('is loaded, with all that it needs', async () => {
    const { code, stdout, stderr } = await runProgram(
      process.execPath,
      ['--input-type=module', '--eval', PROGRAMS[own]],
      { cwd: project(), limitMs: minutes },
    );
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'good\n' });
  });
});

it('the sdk brings at most 20 packages and 10 MB', async () => {
  const installed = join(folder, 'sdk/node_modules');
  const names = (await readdir(installed, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  const manifests = names.filter(
    (entry) =>
      entry.name === 'package.json' &&
      /node_modules\/(?:@[^/]+\/)?[^/]+$/.test(entry.parentPath.replaceAll('\\', '/')),
  );
  const sizes = await Promise.all(
    names.map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size),
  );
  const megabytes = sizes.reduce((sum, size) => sum + size, 0) / 1e6;
  expect(manifests.length).toBeLessThanOrEqual(20);
  expect(megabytes).toBeLessThanOrEqual(10);
});

describe('isthmus, packed and installed', () => {
  const project = () => join(folder, 'cli');

  it(
    'answers --version with the version of its manifest',
    async () => {
      const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
      const answer = await runNpm('npx', ['--no-install', 'isthmus', '--version'], project());
      expect({ code: answer.code, stdout: answer.stdout.trim() }, answer.stderr).toEqual({
        code: 0,
        stdout: version,
      });
    },
    minutes,
  );

  it(
    'serves the demo over stdio: one question, one answer, and the end of input ends it',
    async () => {
      const request = {
        jsonrpc: '2.0',
        id: 1,
        method: 'server/discover',
        params: {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      };
      const command = join(project(), 'node_modules/.bin/isthmus');
      const { code, stdout, stderr } = await runProgram(command, ['demo'], {
        cwd: project(),
        input: `${JSON.stringify(request)}\n`,
        limitMs: minutes,
      });
      expect({ code, lines: stdout.split('\n').length }, stderr).toEqual({ code: 0, lines: 2 });
      expect(JSON.parse(stdout)).toMatchObject({
        jsonrpc: '2.0',
        id: 1,
        result: { resultType: 'complete', supportedVersions: expect.arrayContaining(['2026-07-28']) },
      });
    },
    2 * minutes,
  );

  it('has the schema of configuration files', async () => {
    const command = join(project(), 'node_modules/.bin/isthmus');
    const { code, stdout } = await runProgram(command, ['config', 'schema'], {
      cwd: project(),
      limitMs: minutes,
    });
    expect({ code, title: typeof JSON.parse(stdout) }).toEqual({ code: 0, title: 'object' });
  });
});

const SERVER = `
  const server = createServer({ name: 'a', version: '1' });
  server.tool('hello', {}, () => 'good');
`;

/** Each does what its package is for, and prints "good". */
const PROGRAMS: Record<(typeof PACKAGES)[number]['folder'], string> = {
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
    import { checkServer } from '@isthmus/check';
    console.log(typeof checkServer === 'function' ? 'good' : 'bad');
  `,
  cli: `
    import { createServer } from 'isthmus';
    import { checkServer } from 'isthmus/check';
    console.log(typeof createServer === 'function' && typeof checkServer === 'function' ? 'good' : 'bad');
  `,
};

function isWanted(path: string): boolean {
  if (/\.test\.|(?:^|\/)(?:test|benchmarks)\//.test(path)) return false;
  return /^(?:LICENSE|README\.md|package\.json|bin\/isthmus\.js|config\.schema\.json|rules\.json|dist\/.+\.(?:js|d\.ts))$/.test(
    path,
  );
}

/** A project of its own kind: without a manifest npm would look for one in the folders above. */
async function createProject(path: string): Promise<void> {
  await mkdir(path);
  await writeFile(join(path, 'package.json'), JSON.stringify({ name: 'project', private: true }));
}

async function listInstalled(project: string, name: string): Promise<string[]> {
  const installed = join(project, 'node_modules', name);
  const entries = await readdir(installed, { recursive: true, withFileTypes: true });
  return (
    entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(installed.length + 1)
          .replaceAll('\\', '/'),
      )
      // Dependencies that could not be hoisted would be nested here.
      .filter((path) => !path.startsWith('node_modules/'))
  );
}

async function succeed(command: string, args: readonly string[], cwd: string): Promise<void> {
  const { code, stdout, stderr } = await runNpm(command, args, cwd);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: exit code ${code}\n${stdout}${stderr}`);
}

/** npm tells the scripts it runs where they run; the npm started here must find its own place. */
function runNpm(command: string, args: readonly string[], cwd: string): Promise<Ended> {
  const inherited = Object.entries(process.env).filter(
    ([name]) =>
      !/^(?:npm_(?:package|lifecycle|command|config_local_prefix)|INIT_CWD|NODE_ENV$|VITEST)/i.test(name),
  );
  return runProgram(command, args, { cwd, env: Object.fromEntries(inherited), limitMs: 3 * minutes });
}
