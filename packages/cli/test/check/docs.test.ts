/** What docs/check.md says is what the program does. */
import { readFile } from 'node:fs/promises';
import * as door from '@isthmus/check';
import { SUITES } from '@isthmus/check';
import { fits } from '@isthmus/check/internal/run/plan.js';
import { describe, expect, it } from 'vitest';
import { checkCommand } from '../../src/commands/check.js';

const read = (path: string) => readFile(new URL(`../../../../${path}`, import.meta.url), 'utf8');
const page = await read('docs/check.md');
const blocks = [...page.matchAll(/```(\w*)\n([\s\S]*?)```/g)].map(([, language, text]) => ({
  language,
  text: text!,
}));

describe('the page about checking servers', () => {
  it('uses options that there are', () => {
    const known = checkCommand(undefined).options.map(({ long }) => long);
    // The options of a bridge are not ours.
    const ours = page.replace(/--through '[^']*'/g, '--through').replace(/^isthmus demo through .*$/gm, '');
    const used = [...ours.matchAll(/(?<=[\s`])--[a-z][a-z-]+/g)].map(([option]) => option);
    expect(used.length).toBeGreaterThan(20);
    expect(used.filter((option) => !known.includes(option))).toEqual([]);
  });

  it('names suites and checks that there are', () => {
    const ids = door.CHECKS.map(({ id }) => id);
    const named = [...page.matchAll(/--(?:only|skip) '?([\w/*-]+)/g)].map(([, pattern]) => pattern!);
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter((pattern) => !ids.some((id) => fits(pattern, id)))).toEqual([]);
    const suites = [...page.matchAll(/^\| `(\w+)` +\|/gm)].map(([, suite]) => suite);
    expect(suites.filter((suite) => SUITES.some((name) => name === suite))).toEqual([...SUITES]);
  });

  it('quotes code that ran', async () => {
    const code = await Promise.all(
      ['weather.node-test.ts', 'weather.vitest.ts'].map((file) => read(`examples/check-your-server/${file}`)),
    );
    const quoted = blocks.filter(({ language }) => language === 'ts');
    expect(quoted).toHaveLength(2);
    for (const { text } of quoted) expect(code.some((file) => file.includes(text.trim()))).toBe(true);
  });

  it('names what isthmus/check has', () => {
    const words = [...page.matchAll(/`(\w+)(?:\([^`]*\))?`/g)].map(([, word]) => word!);
    const functions = words.filter((word) =>
      /^(check|verdict|to[A-Z]|start|assert|test|\w+Target)/.test(word),
    );
    expect(functions.length).toBeGreaterThan(12);
    expect(functions.filter((name) => !(name in door) && name !== 'test')).toEqual([]);
  });

  it('links to pages that there are', async () => {
    const links = [...page.matchAll(/\]\(([\w-]+\.md)(?:#([\w-]+))?\)/g)];
    for (const [, file, anchor] of links) {
      const text = await read(`docs/${file}`);
      const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!.toLowerCase());
      if (anchor) expect(headings.map((heading) => heading.replaceAll(' ', '-'))).toContain(anchor);
    }
    expect(links.length).toBeGreaterThan(6);
  });
});
