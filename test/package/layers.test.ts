import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findOffences, findStrays } from './layer-rules.js';
import { readImports } from './read-imports.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

describe('the source of this package', () => {
  it('has a level for every file', async () => {
    const files = (await readSources()).map(({ file }) => file);
    expect(files).not.toEqual([]);
    expect(findStrays(files)).toEqual([]);
  });

  it('imports only what its level, its era and its dependencies allow', async () => {
    const imports = (await readSources()).flatMap(({ file, text }) => readImports(file, text));
    expect(imports).not.toEqual([]);
    const { dependencies, peerDependencies } = await readManifest();
    expect(findOffences(imports, Object.keys({ ...dependencies, ...peerDependencies }))).toEqual([]);
  });

  it('has every dependency explained in docs/dependencies.md', async () => {
    const { dependencies, peerDependencies, devDependencies } = await readManifest();
    const page = await readFile(join(root, 'docs/dependencies.md'), 'utf8');
    const missing = Object.keys({ ...dependencies, ...peerDependencies, ...devDependencies }).filter(
      (name) => !page.includes(`\`${name}\``),
    );
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
    ['index.ts into cli/', 'cli/commands/demo.ts', '../../index.js'],
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
      'wire (level 1) may import levels 0 to 0, and exchange is level 2',
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
      'server (level 5) may import levels 0 to 3, and transport is level 4',
    ],
    [
      'server/serve.ts',
      '../client/client.js',
      'server (level 5) may import levels 0 to 3, and client is level 5',
    ],
    [
      'client/connect.ts',
      '../transport/memory.js',
      'client (level 5) may import levels 0 to 3, and transport is level 4',
    ],
    ['host/host.ts', '../bridge/bridge.js', 'host (level 6) may import levels 0 to 5, and bridge is level 6'],
    [
      'check/run.ts',
      '../console/feed.js',
      'check (level 7) may import levels 0 to 6, and console is level 7',
    ],
    ['check/run.ts', '../index.js', 'check (level 7) may import levels 0 to 6, and index is level 8'],
    ['era/legacy/a.ts', '../modern/b.js', 'the two eras do not import each other'],
    ['era/modern/a.ts', '../legacy/b.js', 'the two eras do not import each other'],
    ['server/serve.ts', 'node:child_process', 'only process/ starts child processes'],
    ['client/connect.ts', 'child_process', 'only process/ starts child processes'],
    ['cli/main.ts', 'node:child_process', 'only process/ starts child processes'],
    ['cli/main.ts', 'cross-spawn', 'only process/ starts child processes'],
    ['cli/main.ts', '../../test/setup/build.js', 'it is outside of src/'],
    ['cli/main.ts', '../utils/text.js', '"utils" is not in the level table of CONTRIBUTING.md'],
    ['wire/codec.ts', 'fs', 'write "node:fs"'],
    ['wire/codec.ts', 'zod', '"zod" is not in the dependencies of package.json'],
    ['wire/codec.ts', '@scope/other', '"@scope/other" is not in the dependencies of package.json'],
    ['wire/codec.ts', 'isthmus/server', '"isthmus" is not in the dependencies of package.json'],
  ])('stop src/%s from importing %s', (file, specifier, reason) => {
    expect(offences(file, specifier)).toEqual([`src/${file}:7 imports "${specifier}": ${reason}`]);
  });

  it('report a file outside of the table', () => {
    expect(findStrays(['wire/codec.ts', 'utils/text.ts', 'helper.ts', 'index.ts'])).toEqual([
      'src/utils/text.ts belongs to no level: "utils" is not in the level table of CONTRIBUTING.md',
      'src/helper.ts belongs to no level: "helper" is not in the level table of CONTRIBUTING.md',
    ]);
  });

  function offences(file: string, specifier: string): string[] {
    return findOffences([{ file, line: 7, specifier }], ['ajv', '@scope/name']);
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
  readonly dependencies: Record<string, string>;
  /** Optional: what is imported of them is loaded where it is there. */
  readonly peerDependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}

async function readManifest(): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
}

async function readSources(): Promise<{ file: string; text: string }[]> {
  const names = await readdir(join(root, 'src'), { recursive: true });
  const files = names.filter((name) => name.endsWith('.ts')).map((name) => name.replaceAll('\\', '/'));
  return Promise.all(
    files.sort().map(async (file) => ({ file, text: await readFile(join(root, 'src', file), 'utf8') })),
  );
}
