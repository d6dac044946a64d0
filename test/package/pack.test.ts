import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installAlone, PACKAGES, packAll, smoke, succeed } from '../../scripts/release/packages.js';
import { runProgram } from './run-program.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const minutes = 60_000;

const ENTRIES = {
  sdk: 'dist/index.js',
  gateway: 'dist/index.js',
  check: 'dist/index.js',
  console: 'dist/index.js',
  cli: 'bin/isthmus.js',
};

let folder: string;
let tarballs: ReadonlyMap<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'isthmus-pack-'));
  tarballs = await packAll(folder);
}, 5 * minutes);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(PACKAGES)('$name, packed and installed alone', (each) => {
  const { folder: own, name } = each;
  let project: string;

  beforeAll(async () => {
    project = await installAlone(folder, each, tarballs);
  }, 5 * minutes);

  it('contains the program, its licence and readme, and nothing of the workshop', async () => {
    const files = await listInstalled(project, name);
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json', ENTRIES[own]]));
    const strange = files.filter((path) => !isWanted(path));
    expect(strange).toEqual([]);
  });

  it('is loaded with all that it needs, and does what it is for', () => smoke(project, own), 2 * minutes);
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
      // npm may print warnings of its own before it.
      const printed = await succeed('npx', ['--no-install', 'isthmus', '--version'], project());
      expect(printed.trimEnd().split('\n').at(-1)).toBe(version);
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

function isWanted(path: string): boolean {
  if (/^(?:docs|examples|deploy)\/|^(?:CHANGELOG|SECURITY)\.md$/.test(path)) return true;
  if (/\.test\.|(?:^|\/)(?:test|benchmarks)\//.test(path)) return false;
  return /^(?:LICENSE|README\.md|package\.json|bin\/(?:isthmus\.js|package\.json)|dist\/bundle\/(?:licenses\.txt|package\.json)|dist\/web\/.+\.gz|config\.schema\.json|rules\.json|dist\/.+\.(?:js|d\.ts))$/.test(
    path,
  );
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
