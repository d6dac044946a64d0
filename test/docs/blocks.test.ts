/** Every block of code of every page is proven: compiled, parsed, read as a configuration, or checked as a command line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeProblem, readServers } from '@isthmus/sdk/internal/config/index.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { ensureBuilt } from '../../scripts/setup.js';
import { blocksOfKind, kindOf, placeOf } from './block-kinds.js';
import { problemsOf } from './command-lines.js';
import { compileBlocks } from './compile.js';
import { allPages, blocksOf } from './markdown.js';

const PAGES = allPages();
const withPlace = (kind: Parameters<typeof blocksOfKind>[1]) =>
  blocksOfKind(PAGES, kind).map((block) => ({ place: placeOf(block), block }));

beforeAll(() => ensureBuilt());

it('every block has a kind, or a reason why it has none', () => {
  const blocks = PAGES.flatMap(blocksOf);
  expect(blocks.length).toBeGreaterThan(100);
  const hint = 'write <!-- illustration: REASON --> before a block that cannot be run';
  expect(blocks.filter((block) => kindOf(block) === undefined).map(placeOf), hint).toEqual([]);
});

it('the programs compile', async () => {
  const programs = blocksOfKind(PAGES, 'program');
  expect(programs.length).toBeGreaterThan(20);
  expect([...(await compileBlocks(programs)).values()].flat()).toEqual([]);
}, 120_000);

describe('configuration files are read without a problem', () => {
  it.each(withPlace('config'))('$place', async ({ block }) => {
    const folder = mkdtempSync(join(tmpdir(), 'isthmus-docs-'));
    try {
      const file = join(folder, 'mcp.json');
      writeFileSync(file, block.text);
      const variables = [...block.text.matchAll(/\$\{(?:env:)?([A-Z_]+)/g)].map(([, name]) => [name!, 'x']);
      const { servers, problems } = await readServers(file, { env: Object.fromEntries(variables) });
      expect(problems.map(describeProblem)).toEqual([]);
      expect(Object.keys(servers).length).toBeGreaterThan(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('data is parsed', () => {
  it.each(withPlace('data'))('$place', async ({ block }) => {
    const value = block.language === 'json' ? JSON.parse(block.text) : parseYaml(block.text);
    expect(value).toBeTypeOf('object');
    const lines = [...block.text.matchAll(/^ *(?:- |run: |- run: )?((?:npx |npm |isthmus ).*)$/gm)];
    const text = lines.map(([, line]) => line).join('\n');
    expect(await problemsOf({ ...block, text })).toEqual([]);
  });
});

describe('commands and options exist', () => {
  it.each(withPlace('commands'))('$place', async ({ block }) => {
    expect(await problemsOf(block)).toEqual([]);
  });
});
