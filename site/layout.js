/** The HTML around the text of a page. */
import { posix } from 'node:path';
import { escapeHtml } from './highlight.js';

/**
 * @param {import('./pages.js').Page} page
 * @param {{ html: string, sections: { title: string, anchor: string, level: number }[] }} content
 * @param {readonly import('./pages.js').Page[]} pages all pages, for the navigation
 */
export function layout(page, { html, sections }, pages) {
  const to = (url) => posix.relative(posix.dirname(page.url), url);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)}${page.url === 'index.html' ? '' : ' · Isthmus'}</title>
<script>document.documentElement.dataset.base = ${JSON.stringify(to('') || '.')};
try { const theme = localStorage.getItem('theme'); if (theme) document.documentElement.dataset.theme = theme; } catch {}</script>
<link rel="stylesheet" href="${to('assets/site.css')}">
<script defer src="${to('assets/site.js')}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header>
<button type="button" id="menu" aria-expanded="false" aria-controls="navigation" aria-label="Navigation">☰</button>
<a class="home" href="${to('index.html')}">Isthmus</a>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search ( / )" aria-label="Search" autocomplete="off" aria-controls="results">
<ol id="results" hidden></ol>
</div>
<button type="button" id="theme" aria-label="Dark or light">◐</button>
</header>
<div class="columns">
<nav id="navigation" aria-label="Pages">
${navigation(page, pages, to)}
</nav>
<main id="content">
${html}
</main>
${contents(sections)}
</div>
</body>
</html>
`;
}

function navigation(page, pages, to) {
  const groups = groupPages(pages);
  return [...groups]
    .filter(([group]) => group !== '')
    .map(([group, members]) => {
      const entries = members.map((member) => {
        const current = member.url === page.url ? ' aria-current="page"' : '';
        return `<li><a href="${to(member.url)}"${current}>${escapeHtml(member.short)}</a></li>`;
      });
      const open = group === page.group || (group === 'Start' && page.group === '') ? ' open' : '';
      return `<details${open}><summary>${group}</summary>\n<ul>\n${entries.join('\n')}\n</ul></details>`;
    })
    .join('\n');
}

function groupPages(pages) {
  const groups = new Map();
  for (const page of pages) groups.set(page.group, [...(groups.get(page.group) ?? []), page]);
  return groups;
}

/** The headings of the page, beside it. A long page shows the upper ones only. */
function contents(sections) {
  const level = sections.filter(({ level }) => level === 2 || level === 3).length > 60 ? 2 : 3;
  const entries = sections.filter((section) => section.level > 1 && section.level <= level);
  if (entries.length < 2) return '<aside></aside>';
  const items = entries.map(
    (section) =>
      `<li class="level-${section.level}"><a href="#${section.anchor}">${escapeHtml(section.title)}</a></li>`,
  );
  return `<aside aria-label="On this page"><p>On this page</p>\n<ul>\n${items.join('\n')}\n</ul></aside>`;
}
