import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ended, runProgram } from './run-program.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const minutes = 60_000;

let folder: string;
let project: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'isthmus-pack-'));
  project = join(folder, 'project');
  await succeed('npm', ['pack', '--pack-destination', folder], root);
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm pack made no tarball');
  await createProject(project);
  await succeed(
    'npm',
    ['install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, tarball)],
    project,
  );
}, 5 * minutes);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the packed and installed package', () => {
  it('contains the program, its licence and readme, and nothing of the workshop', async () => {
    const files = await listInstalled();
    expect(files).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'bin/isthmus.js',
        'dist/index.js',
        'docs/config.schema.json',
        'package.json',
      ]),
    );
    const strange = files.filter(
      (path) =>
        !/^(?:LICENSE|README\.md|package\.json|bin\/isthmus\.js|docs\/config\.schema\.json|dist\/.+\.(?:js|js\.map|d\.ts))$/.test(
          path,
        ) || /\.test\.|(?:^|\/)(?:test|benchmarks)\//.test(path),
    );
    expect(strange).toEqual([]);
  });

  it(
    'answers --version with the version of its manifest',
    async () => {
      const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
      const answer = await runNpm('npx', ['--no-install', 'isthmus', '--version'], project);
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
      const command = join(project, 'node_modules/.bin/isthmus');
      const { code, stdout, stderr } = await runProgram(command, ['demo'], {
        cwd: project,
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
});

/** A project of its own kind: without a manifest npm would look for one in the folders above. */
async function createProject(path: string): Promise<void> {
  await mkdir(path);
  await writeFile(join(path, 'package.json'), JSON.stringify({ name: 'project', private: true }));
}

async function listInstalled(): Promise<string[]> {
  const installed = join(project, 'node_modules/isthmus');
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
