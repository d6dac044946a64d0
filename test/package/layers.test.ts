import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { describe, expect, it } from 'vitest';
import { findOffences, findStrays } from './layer-rules.js';
import { readImports } from './read-imports.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

const PACKAGES = ['sdk', 'gateway', 'check', 'console', 'cli'];

describe.each(PACKAGES)('the source of packages/%s', (name) => {
  it('has a level for every file', async () => {
    const files = (await readSources(name)).map(({ file }) => file);
    expect(files).not.toEqual([]);
    expect(findStrays(name, files)).toEqual([]);
  });

  it('imports only what its level, its era and its dependencies allow', async () => {
    const imports = (await readSources(name)).flatMap(({ file, text }) => readImports(file, text));
    expect(imports).not.toEqual([]);
    const { dependencies, peerDependencies } = await readManifest(`packages/${name}`);
    const names = Object.keys({ ...dependencies, ...peerDependencies });
    expect(findOffences({ name, dependencies: names }, imports)).toEqual([]);
  });
});

describe('the packages', () => {
  it('have one version, which the library says', async () => {
    const manifests = await Promise.all(PACKAGES.map((name) => readManifest(`packages/${name}`)));
    expect(manifests.map(({ version }) => version)).toEqual(PACKAGES.map(() => VERSION));
    expect((await readManifest('.')).version).toBe(VERSION);
  });

  it('depend on each other in exactly that version, and in one direction', async () => {
    const found: Record<string, Record<string, string>> = {};
    for (const name of PACKAGES) {
      const { dependencies } = await readManifest(`packages/${name}`);
      const own = Object.entries(dependencies ?? {}).filter(([each]) => each.startsWith('@isthmus/'));
      found[name] = Object.fromEntries(own);
    }
    expect(found).toEqual({
      sdk: {},
      gateway: { '@isthmus/sdk': VERSION },
      check: { '@isthmus/sdk': VERSION },
      console: { '@isthmus/sdk': VERSION },
      cli: {
        '@isthmus/check': VERSION,
        '@isthmus/console': VERSION,
        '@isthmus/gateway': VERSION,
        '@isthmus/sdk': VERSION,
      },
    });
  });

  it('have every dependency explained in docs/dependencies.md', async () => {
    const manifests = await Promise.all(
      ['.', ...PACKAGES.map((name) => `packages/${name}`)].map(readManifest),
    );
    const names = manifests.flatMap(({ dependencies, peerDependencies, devDependencies }) =>
      Object.keys({ ...dependencies, ...peerDependencies, ...devDependencies }),
    );
    const page = await readFile(join(root, 'docs/dependencies.md'), 'utf8');
    const missing = names.filter((name) => !name.startsWith('@isthmus/') && !page.includes(`\`${name}\``));
    expect(missing).toEqual([]);
  });
});

describe('the level rules', () => {
  it.each([
    ['a lower level', 'wire/codec.ts', '../errors.js'],
    ['the same folder', 'wire/codec.ts', './json-rpc.js'],
    ['the level below the limit', 'transport/stdio.ts', '../process/spawn.js'],
    ['the shared part of era/', 'era/legacy/server-dialect.ts', '../revisions.js'],
    ['the same era', 'era/modern/server-dialect.ts', './envelope.js'],
    ['an era from the shared part', 'era/dialect.ts', './legacy/server-dialect.js'],
    ['anything into index.ts', 'index.ts', './bridge/bridge.js'],
    ['child processes in process/', 'process/spawn.ts', 'node:child_process'],
    ['a builtin', 'wire/codec.ts', 'node:buffer'],
    ['a declared dependency', 'server/tools.ts', 'ajv/dist/2020.js'],
    ['a declared scoped dependency', 'server/tools.ts', '@scope/name/part'],
  ])('allow %s', (_, file, specifier) => {
    expect(offences(file, specifier)).toEqual([]);
  });

  it.each([
    [
      'wire/codec.ts',
      '../exchange/call.js',
      'wire (level 1) may import levels 0 to 0, and exchange is level 3',
    ],
    [
      'wire/codec.ts',
      '../process/spawn.js',
      'wire (level 1) may import levels 0 to 0, and process is level 1',
    ],
    ['async/queue.ts', '../errors.js', 'async (level 0) may import nothing of ours, and errors is level 0'],
    [
      'server/serve.ts',
      '../transport/stdio.js',
      'server (level 6) may import levels 0 to 4, and transport is level 5',
    ],
    [
      'server/serve.ts',
      '../client/client.js',
      'server (level 6) may import levels 0 to 4, and client is level 6',
    ],
    [
      'client/connect.ts',
      '../transport/memory.js',
      'client (level 6) may import levels 0 to 4, and transport is level 5',
    ],
    ['host/host.ts', '../bridge/bridge.js', 'host (level 8) may import levels 0 to 7, and bridge is level 8'],
    ['era/legacy/a.ts', '../modern/b.js', 'the two eras do not import each other'],
    ['era/modern/a.ts', '../legacy/b.js', 'the two eras do not import each other'],
    ['server/serve.ts', 'node:child_process', 'only process/ of the sdk starts child processes'],
    ['client/connect.ts', 'child_process', 'only process/ of the sdk starts child processes'],
    ['host/main.ts', 'node:child_process', 'only process/ of the sdk starts child processes'],
    ['host/main.ts', 'cross-spawn', 'only process/ of the sdk starts child processes'],
    ['host/main.ts', '../../test/setup/build.js', 'it is outside of the package'],
    ['host/main.ts', '../utils/text.js', '"utils" is not in the table'],
    ['wire/codec.ts', 'fs', 'write "node:fs"'],
    ['wire/codec.ts', 'zod', '"zod" is not in the dependencies of packages/sdk'],
    ['wire/codec.ts', '@scope/other', '"@scope/other" is not in the dependencies of packages/sdk'],
    ['wire/codec.ts', 'isthmus/server', '"isthmus" is not in the dependencies of packages/sdk'],
  ])('stop %s from importing %s', (file, specifier, reason) => {
    expect(offences(file, specifier)).toEqual([
      `packages/sdk/src/${file}:7 imports "${specifier}": ${reason}`,
    ]);
  });

  it('report a file outside of the table', () => {
    expect(findStrays('sdk', ['wire/codec.ts', 'utils/text.ts', 'helper.ts', 'index.ts'])).toEqual([
      'packages/sdk/src/utils/text.ts belongs to no level: "utils" is not in the table',
      'packages/sdk/src/helper.ts belongs to no level: "helper" is not in the table',
    ]);
  });

  function offences(file: string, specifier: string): string[] {
    return findOffences({ name: 'sdk', dependencies: ['ajv', '@scope/name'] }, [
      { file, line: 7, specifier },
    ]);
  }
});

describe('reading imports', () => {
  it('finds every way to name a module, with its line', () => {
    const source = [
      "import './side-effect.js';",
      "import { a } from './value.js';",
      "import type { B } from './type.js';",
      'import {',
      '  type C,',
      "} from './several-lines.js';",
      "export { d } from './export.js';",
      "export type { D } from './export-type.js';",
      "export * from './export-all.js';",
      "export type E = import('./type-expression.js').E;",
      "export const load = () => import('./dynamic.js');",
      'export const again = () => import(`./template.js`);',
      "import old = require('./equals.js');",
      "export const asked = require('./require.js');",
      "export const builtin = process.getBuiltinModule('node:child_process');",
    ].join('\n');
    expect(readImports('wire/a.ts', source).map(({ line, specifier }) => `${line} ${specifier}`)).toEqual([
      '1 ./side-effect.js',
      '2 ./value.js',
      '3 ./type.js',
      '4 ./several-lines.js',
      '7 ./export.js',
      '8 ./export-type.js',
      '9 ./export-all.js',
      '10 ./type-expression.js',
      '11 ./dynamic.js',
      '12 ./template.js',
      '13 ./equals.js',
      '14 ./require.js',
      '15 node:child_process',
    ]);
  });

  it('is not misled by comments, strings, regular expressions and computed names', () => {
    const source = [
      "// import './comment.js';",
      "/** import { a } from './doc.js'; */",
      `export const text = "import './string.js'";`,
      'export const template = `',
      "import './template.js';",
      '`;',
      "export const pattern = /import('x')/;",
      'export const load = (name: string) => import(name);',
      'export const meta = import.meta.url;',
    ].join('\n');
    expect(readImports('wire/a.ts', source)).toEqual([]);
  });
});

interface Manifest {
  readonly version: string;
  readonly dependencies?: Record<string, string>;
  /** Optional: what is imported of them is loaded where it is there. */
  readonly peerDependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'));
}

async function readSources(name: string): Promise<{ file: string; text: string }[]> {
  const folder = join(root, 'packages', name, 'src');
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((each) => each.endsWith('.ts')).map((each) => each.replaceAll('\\', '/'));
  return Promise.all(
    files.sort().map(async (file) => ({ file, text: await readFile(join(folder, file), 'utf8') })),
  );
}
