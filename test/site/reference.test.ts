/** What the API reference says of every exported name, and whether its examples work. */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ExportedName, exportedNames } from '../../site/exported-names.js';
import { runProgram } from '../package/run-program.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const tsc = join(root, 'node_modules/typescript/bin/tsc');

/** The names that a reader begins with. Each has an example. */
const DOORS = [
  ...['Server.method', 'Server.prompt', 'Server.resource', 'Server.tool', 'assertSound', 'connect'],
  ...['createBridge', 'createGateway', 'createHost', 'createServer', 'http', 'stdio'],
];

let names: readonly ExportedName[];
let folder: string;

beforeAll(async () => {
  names = await exportedNames();
  // Inside the checkout, so that the packages are found by their names.
  await mkdir(join(root, '.cache'), { recursive: true });
  folder = await mkdtemp(join(root, '.cache/reference-'));
}, 240_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

it('has a sentence for every exported name', () => {
  const exported = names.filter(({ name }) => !name.includes('.'));
  expect(exported.length).toBeGreaterThan(250);
  expect(exported.filter(({ sentence }) => !/^\S.*[.:]/s.test(sentence)).map(toLabel)).toEqual([]);
});

it('names no rules of the referee by id', () => {
  expect(names.filter(({ text }) => /\b[A-Z]{3,6}-\d{3}\b/.test(text)).map(toLabel)).toEqual([]);
});

it('has examples at its doors, which compile, run and print what they say', async () => {
  const examples = names.flatMap(({ name, examples: all }) =>
    all.map((text) => ({ name, code: codeOf(text) })),
  );
  expect(examples.map(({ name }) => name)).toEqual(expect.arrayContaining(DOORS));
  const files = examples.map(({ name, code }, at) => ({ name, code, file: `${at}-${name}` }));
  for (const { file, code } of files) await writeFile(join(folder, `${file}.mts`), code);
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG));
  const compiled = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
  expect(compiled.stdout).toBe('');
  // Examples start the first server of the reference as `node server.js`.
  const { code } = files.find(({ name }) => name === 'createServer')!;
  await writeFile(join(folder, 'server.js'), code);
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  for (const { file, name, code } of files) {
    const run = await runProgram(process.execPath, [`${file}.mjs`], { cwd: folder, limitMs: 60_000 });
    expect({ name, ...run }).toEqual({ name, code: 0, stdout: printedBy(code), stderr: '' });
  }
}, 240_000);

const CONFIG = {
  extends: '../../tsconfig.base.json',
  compilerOptions: { declaration: false, customConditions: [], rootDir: '.' },
  include: ['*.mts'],
};

function toLabel({ module, name }: ExportedName): string {
  return `${module} ${name}`;
}

function codeOf(example: string): string {
  return /```ts\n(.*?)\n```/s.exec(example)![1]!;
}

function printedBy(code: string): string {
  return [...code.matchAll(/\/\/ prints: (.+)/g)].map(([, line]) => `${line}\n`).join('');
}
