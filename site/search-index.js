/** The index of the search, made when the site is built. The page loads it as a script, so that it works without a server. */
import MiniSearch from 'minisearch';

/** Must be the same where the index is read (assets/site.js). */
export const SEARCH_OPTIONS = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'url', 'text'],
};

/** @param {readonly { page: import('./pages.js').Page, sections: readonly { title: string, anchor: string, text: string }[] }[]} rendered */
export function searchScript(rendered) {
  const index = new MiniSearch(SEARCH_OPTIONS);
  let id = 0;
  for (const { page, sections } of rendered) {
    for (const { title, anchor, text } of sections) {
      const url = `${page.url}#${anchor}`;
      index.add({ id, title, page: page.title, url, text: text.slice(0, MAX_TEXT) });
      id += 1;
    }
  }
  return `globalThis.isthmusIndex = ${JSON.stringify(JSON.stringify(index))};\n`;
}

const MAX_TEXT = 2000;
