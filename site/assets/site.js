// The site in the browser: navigation on phones, the theme, copying code, and the search.
const root = document.documentElement;
const byId = (id) => document.getElementById(id);

byId('menu').addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('menu-open');
  byId('menu').setAttribute('aria-expanded', String(isOpen));
});

byId('theme').addEventListener('click', () => {
  const isDark = root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = isDark ? 'light' : 'dark';
  try {
    localStorage.setItem('theme', root.dataset.theme);
  } catch {
    // The choice lasts for this page.
  }
});

document.addEventListener('click', async ({ target }) => {
  if (!(target instanceof HTMLButtonElement) || !target.matches('.copy')) return;
  const code = target.parentElement.querySelector('code');
  target.textContent = (await copy(code)) ? 'Copied' : 'Press Ctrl+C';
  setTimeout(() => {
    target.textContent = 'Copy';
  }, 2000);
});

/** Without permission for the clipboard the text is selected instead. */
async function copy(element) {
  try {
    await navigator.clipboard.writeText(element.textContent.replace(/\n$/, ''));
    return true;
  } catch {
    getSelection().selectAllChildren(element);
    return false;
  }
}

const input = byId('search');
const results = byId('results');
const asset = (name) => `${root.dataset.base}/assets/${name}`;
let index;

/** The index is large: it is loaded when somebody begins to search. */
function loadIndex() {
  index ??= loadScript('minisearch.js')
    .then(() => loadScript('search-index.js'))
    .then(() => globalThis.MiniSearch.loadJSON(globalThis.isthmusIndex, SEARCH_OPTIONS));
  return index;
}
const SEARCH_OPTIONS = { fields: ['title', 'page', 'text'], storeFields: ['title', 'page', 'url', 'text'] };

function loadScript(name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = asset(name);
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${name} cannot be loaded`));
    document.head.append(script);
  });
}

async function search() {
  const wanted = input.value.trim();
  if (wanted === '') return hide();
  const found = (await loadIndex()).search(wanted, SEARCH);
  if (input.value.trim() !== wanted) return;
  results.replaceChildren(...found.slice(0, 12).map(toItem));
  if (found.length === 0)
    results.append(
      Object.assign(document.createElement('li'), { textContent: 'Nothing found', className: 'none' }),
    );
  results.hidden = false;
}

/** Guides come before the reference, and the reference before the long tables of rules. */
const SEARCH = {
  prefix: true,
  fuzzy: 0.15,
  combineWith: 'AND',
  boost: { title: 4, page: 2 },
  boostDocument(_id, _term, { url }) {
    if (/^(check-rules|scoreboard|decisions)/.test(url)) return 0.3;
    return url.startsWith('reference/') ? 0.5 : 1;
  },
};

function toItem({ title, page, url, text, terms }) {
  const link = Object.assign(document.createElement('a'), { href: `${root.dataset.base}/${url}` });
  const heading = Object.assign(document.createElement('strong'), { textContent: title });
  const place = Object.assign(document.createElement('span'), { textContent: page === title ? '' : page });
  const excerpt = Object.assign(document.createElement('small'), { textContent: excerptOf(text, terms) });
  link.append(heading, place, excerpt);
  const item = document.createElement('li');
  item.append(link);
  return item;
}

function excerptOf(text, terms) {
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...places, text.length) - 40);
  return `${start > 0 ? '… ' : ''}${text.slice(start, start + 120)}`;
}

function hide() {
  results.hidden = true;
  results.replaceChildren();
}

input.addEventListener('input', search);
input.addEventListener('focus', loadIndex, { once: true });
document.addEventListener('keydown', (event) => {
  const links = [...results.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement);
  if (event.key === '/' && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    input.focus();
  } else if (event.key === 'Escape') {
    hide();
  } else if (event.key === 'Enter' && document.activeElement === input) {
    links[0]?.click();
  } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && links.length > 0 && !results.hidden) {
    event.preventDefault();
    (links[at + (event.key === 'ArrowDown' ? 1 : -1)] ?? input).focus();
  }
});
document.addEventListener('click', ({ target }) => {
  if (!target.closest('.search')) hide();
});
