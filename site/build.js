/** Builds the whole site into a folder. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHighlighter } from './highlight.js';
import { layout } from './layout.js';
import { deadLinks } from './links.js';
import { createMarkdown } from './markdown.js';
import { collectPages } from './pages.js';
import { searchScript } from './search-index.js';
import { sourcePage } from './sources.js';

const ASSETS = fileURLToPath(new URL('assets/', import.meta.url));
const MINISEARCH = join(dirname(createRequire(import.meta.url).resolve('minisearch')), '../umd/index.js');

/**
 * @param {string} folder what was in it is removed
 * @returns {Promise<number>} the number of pages
 */
export async function buildSite(folder) {
  const pages = await collectPages();
  const bySource = new Map(pages.map((page) => [page.source, page]));
  bySource.set('docs/decisions', bySource.get('docs/decisions/index.md'));
  const sources = [];
  const findPage = (source) => {
    if (bySource.has(source)) return bySource.get(source);
    const page = sourcePage(source);
    if (page) sources.push(page);
    bySource.set(source, page);
    return page;
  };
  const { render } = createMarkdown(await createHighlighter(), findPage);
  const rendered = pages.map((page) => ({ page, ...render(page) }));
  const files = new Map(
    [...rendered, ...sources.map((page) => ({ page, ...render(page) }))].map(toFile(pages)),
  );
  files.set('assets/search-index.js', searchScript(rendered));
  write(folder, files);
  cpSync(ASSETS, join(folder, 'assets'), { recursive: true });
  cpSync(MINISEARCH, join(folder, 'assets/minisearch.js'));
  const dead = deadLinks(folder);
  if (dead.length > 0) throw new Error(`The site has dead links:\n${dead.join('\n')}`);
  return pages.length + sources.length;
}

function toFile(pages) {
  return ({ page, html, sections }) => [page.url, layout(page, { html, sections }, pages)];
}

function write(folder, files) {
  rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
