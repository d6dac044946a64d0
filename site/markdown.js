/** Markdown to HTML: headings with anchors, links between pages, code to copy, tables that scroll, diagrams inline. */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import MarkdownIt from 'markdown-it';
import { escapeHtml } from './highlight.js';
import { root } from './pages.js';

/**
 * @param {(code: string, language: string) => string} highlight
 * @param {(source: string) => import('./pages.js').Page | undefined} findPage the page of a file of the repository
 */
export function createMarkdown(highlight, findPage) {
  const markdown = new MarkdownIt({ html: true, linkify: false });
  const { rules } = markdown.renderer;
  rules.fence = ([...tokens], index) => {
    const { content, info } = tokens[index];
    const code = highlight(content, info.trim().split(' ')[0]);
    return `<div class="code"><button type="button" class="copy">Copy</button><pre><code>${code}</code></pre></div>\n`;
  };
  rules.table_open = () => '<div class="table"><table>\n';
  rules.table_close = () => '</table></div>\n';
  rules.image = (tokens, index, _options, { page }) => {
    const path = posix.join(posix.dirname(page.source), tokens[index].attrGet('src'));
    if (path.endsWith('.webp')) {
      // Within the page, as the SVG images are: the site is read from files.
      const data = readFileSync(new URL(path, root)).toString('base64');
      return `<img class="screenshot" alt="${markdown.utils.escapeHtml(tokens[index].content)}" src="data:image/webp;base64,${data}">`;
    }
    if (!path.endsWith('.svg')) throw new Error(`${page.source}: ${path} is not an SVG or WebP image`);
    const svg = readFileSync(new URL(path, root), 'utf8');
    return svg
      .replace(/<\?xml.*?\?>/, '')
      .replace(/\n\s*/g, '\n')
      .trim();
  };
  markdown.core.ruler.push('anchors', ({ tokens, env }) => addAnchors(tokens, env));
  markdown.core.ruler.push('links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      for (const [index, token] of (children ?? []).entries()) {
        if (token.type === 'link_open') resolveLink(token, children[index + 1], env.page, findPage);
      }
    }
  });
  return {
    /** @returns {{ html: string, sections: { title: string, anchor: string, level: number, text: string }[] }} */
    render(page) {
      const env = { page, sections: [] };
      const html = markdown.render(page.text, env);
      return { html, sections: env.sections };
    },
  };
}

/** Gives each heading an id as GitHub does, and collects the plain text below each. */
function addAnchors(tokens, { sections }) {
  const used = new Map();
  let section = { title: '', anchor: '', level: 1, text: '' };
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const title = plainText(tokens[index + 1]);
      const slug = takeAnchor(tokens, index) ?? slugOf(title);
      const before = used.get(slug) ?? 0;
      used.set(slug, before + 1);
      section = {
        title,
        anchor: before === 0 ? slug : `${slug}-${before}`,
        level: Number(token.tag[1]),
        text: '',
      };
      sections.push(section);
      token.attrSet('id', section.anchor);
      tokens[index + 1].children.push(anchorLink(section.anchor, title, token));
    } else if (token.type === 'inline' && tokens[index - 1]?.type !== 'heading_open') {
      section.text += `${plainText(token)} `;
    } else if (token.type === 'fence') {
      section.text += `${token.content} `;
    }
  }
}

/** The reference gives its headings ids of its own, in a paragraph before each. */
function takeAnchor(tokens, index) {
  const before = tokens[index - 2];
  const id = before?.type === 'inline' && /^<a id="([^"]+)"><\/a>$/.exec(before.content)?.[1];
  if (!id) return undefined;
  before.children = [];
  for (const paragraph of [tokens[index - 3], tokens[index - 1]]) paragraph.hidden = true;
  return id;
}

function anchorLink(anchor, title, { constructor: Token }) {
  const token = new Token('html_inline', '', 0);
  token.content = ` <a class="anchor" href="#${anchor}" aria-label="Link to ${escapeHtml(title)}">#</a>`;
  return token;
}

function plainText({ children }) {
  return (children ?? [])
    .filter(({ type }) => type === 'text' || type === 'code_inline' || type === 'softbreak')
    .map(({ type, content }) => (type === 'softbreak' ? ' ' : content))
    .join('');
}

function slugOf(title) {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}

/**
 * Links between files of the repository become links between pages, relative to the page that has them. A text that is
 * the name of a file becomes the title of its page.
 */
function resolveLink(link, text, page, findPage) {
  const href = link.attrGet('href');
  if (/^([a-z]+:|#)/.test(href)) return;
  const [path, anchor] = href.split('#');
  const source = posix.join(posix.dirname(page.source), decodeURI(path)).replace(/\/$/, '');
  const target = findPage(source);
  if (target === undefined) throw new Error(`${page.source} links to ${href}, which does not exist`);
  if (text.type === 'text' && /^[\w./-]+\.md$/.test(text.content)) text.content = target.title;
  const relative = posix.relative(posix.dirname(page.url), target.url);
  link.attrSet('href', anchor === undefined ? relative : `${relative}#${anchor}`);
}
