/** Looks for links that lead nowhere, in the files of the finished site. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** @returns {string[]} a sentence for each dead link */
export function deadLinks(folder) {
  const files = readdirSync(folder, { recursive: true }).map((path) => path.replaceAll('\\', '/'));
  const pages = new Map(
    files
      .filter((path) => path.endsWith('.html'))
      .map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  );
  const anchors = new Map([...pages].map(([path, html]) => [path, idsIn(html)]));
  return [...pages].flatMap(([page, html]) =>
    linksIn(html).flatMap((link) => {
      const [path, anchor] = link.split('#');
      const target = path === '' ? page : posix.join(posix.dirname(page), decodeURI(path));
      if (!files.includes(target)) return [`${page}: ${link} does not exist`];
      if (anchor && !anchors.get(target)?.has(decodeURIComponent(anchor)))
        return [`${page}: ${link} has no such heading`];
      return [];
    }),
  );
}

function linksIn(html) {
  const links = [...html.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, link]) =>
    link.replaceAll('&amp;', '&'),
  );
  return links.filter((link) => !/^[a-z]+:/.test(link));
}

function idsIn(html) {
  return new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id));
}
