import { readFileSync } from 'node:fs';
import { renderMarkdown } from 'isthmus/internal/terminal/render-markdown.js';
import { createStyle } from 'isthmus/internal/terminal/terminal.js';
import { describe, expect, it } from 'vitest';
import { isthmus } from '../support/isthmus.js';

const GUIDE = readFileSync(new URL('../../../../docs/guides/hosts.md', import.meta.url), 'utf8');

it('lists the pages with their titles', async () => {
  const { code, stdout } = await isthmus('docs');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^getting-started +Getting started$/m);
  expect(stdout).not.toContain('decisions/');
});

it.each(['guides/hosts', 'hosts', 'docs/guides/hosts.md'])('shows the page called %s', async (name) => {
  expect(await isthmus('docs', name)).toMatchObject({ code: 0, stdout: GUIDE });
});

it('prints where the pages are', async () => {
  const { stdout } = await isthmus('docs', 'hosts', '--path');
  expect(readFileSync(stdout.trimEnd(), 'utf8')).toBe(GUIDE);
});

it('names similar pages where there is no such page', async () => {
  const { code, stderr } = await isthmus('docs', 'check-c');
  expect(code).toBe(2);
  expect(stderr).toContain('There is no page "check-c"');
  expect(stderr).toContain('Similar pages: check-ci, check-client');
});

describe('N1: isthmus docs', () => {
  it('N1: suggests the page that was meant', async () => {
    const { code, stderr } = await isthmus('docs', 'opertions');
    expect(code).toBe(2);
    expect(stderr).toContain('isthmus: There is no page "opertions"\nhint: Did you mean operations?\n');
  });

  it('N1: every page that the help of a command names exists', async () => {
    const commands = (await isthmus('--help')).stdout.matchAll(/^ {2}([a-z-]+) {2,}\S/gm);
    const pages = (await isthmus('docs')).stdout.match(/^\S+/gm)!;
    for (const [, command] of commands) {
      const { stdout } = await isthmus(command!, '--help');
      const named = [...stdout.matchAll(/\bisthmus docs ([a-z/-]+)/g)].map(([, page]) => page!);
      expect(
        named.filter((page) => !pages.includes(page)),
        command,
      ).toEqual([]);
      expect(stdout, command).not.toMatch(/\bdocs\/[a-z-]+\.md/);
    }
  }, 120_000);
});

describe('a page on a terminal', () => {
  const render = (text: string, width = 40) => renderMarkdown(text, { width, out: createStyle(false, {}) });

  it('has headings, wrapped paragraphs, code and lists', () => {
    const page = [
      '# Title `x`',
      '',
      'A paragraph with [a link](other.md) and [the web](https://example.com),',
      'of two lines.',
      '',
      '```',
      'code  stays',
      '```',
      '',
      '- one',
      '  goes on',
      '- **two**',
    ];
    expect(render(page.join('\n'))).toBe(
      [
        'TITLE X',
        '',
        'A paragraph with a link and the web',
        '(https://example.com), of two lines.',
        '',
        '    code  stays',
        '',
        '- one goes on',
        '- two',
        '',
      ].join('\n'),
    );
  });

  it('has tables with aligned columns', () => {
    const page = ['| a | what |', '| --- | --- |', '| `x\\|y` | text |'];
    expect(render(page.join('\n'))).toBe('a    what\nx|y  text\n');
  });

  it('keeps the text of every page of ours', () => {
    for (const name of ['cli', 'operations', 'config', 'check', 'architecture']) {
      const text = readFileSync(new URL(`../../../../docs/${name}.md`, import.meta.url), 'utf8');
      const words = new Set(text.replace(/<!--[\s\S]*?-->/g, '').match(/[A-Za-z]{5,}/g));
      const shown = render(text, Number.POSITIVE_INFINITY);
      const lost = [...words].filter((word) => !shown.toLowerCase().includes(word.toLowerCase()));
      // Only the addresses of links to other pages are left out.
      expect(lost.filter((word) => !new RegExp(`\\]\\([^)]*${word}`).test(text))).toEqual([]);
    }
  });
});
