import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const PACKAGES = ['sdk', 'gateway', 'check', 'console', 'cli'];

const page = await readFile(join(root, 'docs/architecture.md'), 'utf8');
const sources = (await Promise.all(PACKAGES.map((name) => readSources(`${name}/src`)))).flat();
const sourcesOfPage = await readSources('console/web/src');

describe('docs/architecture.md', () => {
  it('names only files and folders that exist', () => {
    const paths = [...page.matchAll(/`((?:packages|test|docs)\/[^`…]+)`/g)].map((match) => match[1]!);
    expect(paths.length).toBeGreaterThan(40);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('has a glossary of at most 26 words, and the code uses each of them', () => {
    const section = page.slice(page.indexOf('## Glossary'), page.indexOf('## Where to add what'));
    const words = [...section.matchAll(/^\| ([A-Z]\w+) +\|/gm)].map((match) => match[1]!);
    expect(words.length).toBeGreaterThan(20);
    expect(words.length).toBeLessThanOrEqual(26);
    const text = sources.map((source) => source.text).join('\n');
    expect(words.filter((word) => !new RegExp(`\\b\\w*${word}`, 'i').test(text))).toEqual([]);
  });

  it('is the first thing that CONTRIBUTING.md points to', async () => {
    const contributing = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8');
    expect(/\]\((docs\/[^)]+)\)/.exec(contributing)?.[1]).toBe('docs/architecture.md');
  });
});

describe('the names of exported types', () => {
  it('are unique in the repository', () => {
    const files = new Map<string, string[]>();
    for (const { file, text } of [...sources, ...sourcesOfPage]) {
      for (const [, name] of text.matchAll(/^export (?:abstract )?(?:class|interface|type) (\w+)/gm)) {
        files.set(name!, [...(files.get(name!) ?? []), file]);
      }
    }
    expect(files.size).toBeGreaterThan(500);
    expect([...files].filter(([, where]) => where.length > 1)).toEqual([]);
  });
});

describe('the grain of the sources', () => {
  it('is at most 1060 files, and at most 15 in a folder', () => {
    expect(sources.length).toBeGreaterThan(500);
    expect(sources.length).toBeLessThanOrEqual(1060);
    const folders = new Map<string, number>();
    for (const { file } of sources) {
      const folder = file.slice(0, file.lastIndexOf('/'));
      folders.set(folder, (folders.get(folder) ?? 0) + 1);
    }
    expect([...folders].filter(([, count]) => count > 15)).toEqual([]);
  });

  it('has no base classes: only errors extend a class', () => {
    const derived = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/^(?:export )?(?:abstract )?class (\w+)(?:<.*>)? extends (\w+)/gm)]
        .filter(([, , base]) => !/Error$/.test(base!))
        .map(([, name]) => `${file}: ${name}`),
    );
    expect(derived).toEqual([]);
  });
});

async function readSources(path: string): Promise<{ file: string; text: string }[]> {
  const folder = join(root, 'packages', path);
  const files = (await readdir(folder, { recursive: true })).filter((file) => /\.tsx?$/.test(file));
  return Promise.all(
    files.map(async (file) => ({
      file: `packages/${path}/${file.replaceAll('\\', '/')}`,
      text: await readFile(join(folder, file), 'utf8'),
    })),
  );
}
