/**
 * The pages that ship in the package `isthmus`: docs/, examples/, deploy/ and the pages at the root. They are copied before
 * `npm pack` and removed after it. Links that would lead out of the package become plain text.
 */

import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { inRoot } from '../setup/paths.js';

const FOLDERS = ['docs', 'examples', 'deploy'];
const FILES = ['CHANGELOG.md', 'SECURITY.md'];
const TARGET = inRoot('packages/cli');

export function copyPages() {
  removePages();
  for (const name of [...FOLDERS, ...FILES]) cpSync(inRoot(name), join(TARGET, name), { recursive: true });
  // The sources of the images, what only contributors read, and the results of other programs.
  for (const name of ['docs/diagrams', 'docs/decisions', 'docs/scoreboard.md'])
    rmSync(join(TARGET, name), { recursive: true, force: true });
  // Screenshots are large, and a terminal does not show them.
  for (const name of readdirSync(join(TARGET, 'docs/images')))
    if (name.endsWith('.webp')) rmSync(join(TARGET, 'docs/images', name));
  for (const page of pagesBelow('')) {
    const path = join(TARGET, page);
    writeFileSync(
      path,
      keepLinks(readFileSync(path, 'utf8'), page, (target) => existsSync(join(TARGET, target))),
    );
  }
}

export function removePages() {
  for (const name of [...FOLDERS, ...FILES]) rmSync(join(TARGET, name), { recursive: true, force: true });
}

/**
 * The page with the links and images that lead somewhere; the text of others stays.
 * @param {string} text
 * @param {string} page its path in the package
 * @param {(path: string) => boolean} exists
 */
export function keepLinks(text, page, exists) {
  return text.replace(/!?\[((?:[^\]`]|`[^`]*`)*)\]\(([^)\s]+)\)/g, (link, label, target) => {
    if (/^(?:[a-z]+:|#)/.test(target)) return link;
    const path = posix.normalize(posix.join(dirname(page), target.split('#')[0]));
    // The README of the package stands for that of the repository.
    return exists(path) ? link : label;
  });
}

/** @param {string} folder */
function pagesBelow(folder) {
  return [...FOLDERS.map((name) => join(folder, name)), ...FILES].flatMap((name) =>
    name.endsWith('.md')
      ? [name]
      : readdirSync(join(TARGET, name), { recursive: true, encoding: 'utf8' })
          .filter((path) => path.endsWith('.md'))
          .map((path) => posix.join(name, path.replaceAll('\\', '/'))),
  );
}
