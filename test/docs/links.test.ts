/** Every link between the files of the repository leads somewhere. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allPages, anchorsOf, linksOf, resolveLink, root } from './markdown.js';

const PAGES = allPages();

it('the pages are found, and their links', () => {
  expect(PAGES).toEqual(expect.arrayContaining(['README.md', 'docs/server.md', 'packages/sdk/README.md']));
  expect(PAGES.flatMap((page) => linksOf(page)).length).toBeGreaterThan(150);
});

it.each(PAGES)('%s', (page) => {
  const dead = linksOf(page).filter((link) => {
    const { path, anchor } = resolveLink(link);
    // The pages are copied beside the README of the command when it is packed (N1).
    const found = [path, path.replace(/^packages\/cli\//, '')].find((each) => existsSync(join(root, each)));
    if (found === undefined) return true;
    return anchor !== undefined && !(found.endsWith('.md') && anchorsOf(found).has(anchor));
  });
  expect(dead.map(({ line, target }) => `${page}:${line} ${target}`)).toEqual([]);
});
