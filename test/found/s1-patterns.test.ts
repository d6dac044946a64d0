import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { patternsIn, slowInput } from './slow-patterns.js';

/** On a fast machine, the square of 20,000 characters took 5 ms only. */
const LENGTH = 40_000;
/** A pattern that visits each character a few times takes a tenth of this; one that takes the square, a multiple. */
const LIMIT_MS = 10;

/** Patterns that take the square of their input, with the bound of that input and who chooses it. */
const REVIEWED: Readonly<Record<string, { readonly length: number; readonly why: string }>> = {
  '^_+|_+$': { length: 64, why: 'names of servers, cut to 64 characters' },
  '"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)"(\\s*:)?': {
    length: 500,
    why: 'only JSON that was written here',
  },
  '"(?:[^"\\\\]|\\\\.)*"(?:\\s*:)?|[{}[\\]]': { length: 500, why: 'only JSON that was parsed before' },
  '\\$\\$\\{|\\$\\{([^}]*)\\}': { length: 500, why: 'values of configuration files' },
  [String.raw`"""(?:\\[\s\S]|[^\\])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[{]|[\]}]|\n`]:
    {
      length: 500,
      why: 'configuration files that were parsed as TOML before',
    },
  '^-+|-+$': { length: 80, why: 'labels in reports, cut to 80 characters' },
};

describe('S1: the search for slow patterns', () => {
  it.each([
    ['<[^>]*>', 'g'],
    ['<(script|style)\\b.*?<\\/\\1\\s*>', 'gis'],
    ['^[ \\t]+|[ \\t]+$', 'g'],
    ['\\s+$', ''],
    ['\\beyJ[\\w-]{10,}\\.eyJ[\\w-]{10,}\\.[\\w-]{10,}', ''],
  ])('finds /%s/%s', (source, flags) => {
    expect(slowInput(new RegExp(source, flags), LENGTH, LIMIT_MS)).toBeDefined();
  });
});

describe('S1: the patterns of packages/', async () => {
  const root = join(import.meta.dirname, '../../packages');
  const files = (await readdir(root, { recursive: true })).filter((file) => /^[a-z]+.src.+\.ts$/.test(file));
  const patterns = files.flatMap((file) => patternsIn(file, readFileSync(join(root, file), 'utf8')));

  it('are all found', () => {
    expect(patterns.length).toBeGreaterThan(350);
  });

  it('take time that grows with their input and not with its square', () => {
    const slow = patterns.flatMap(({ at, source, flags }) => {
      const length = REVIEWED[source]?.length ?? LENGTH;
      const input = slowInput(new RegExp(source, flags), length, LIMIT_MS);
      return input === undefined ? [] : [`packages/${at} /${source}/${flags} on ${input}`];
    });
    expect(slow).toEqual([]);
  });

  it('are reviewed only while they exist', () => {
    const sources = new Set(patterns.map(({ source }) => source));
    expect(Object.keys(REVIEWED).filter((source) => !sources.has(source))).toEqual([]);
  });
});
