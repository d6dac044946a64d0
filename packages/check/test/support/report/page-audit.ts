// What is asked of a page, as programs for the browser: they run there, so they are text here.

/** Texts whose contrast with what is behind them is below 4.5, as `text: 3.2`. */
export const LOW_CONTRAST = `(() => {
  const parse = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const groundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const bad = [];
  let looked = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (text === '' || !element.checkVisibility() || element.closest('script, style, option')) continue;
    looked += 1;
    const [one, other] = [parse(getComputedStyle(element).color), groundOf(element)].map(luminance);
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 4.5) bad.push(text.slice(0, 40) + ': ' + contrast.toFixed(2));
  }
  return looked > 20 ? bad : ['only ' + looked + ' texts'];
})()`;

/** Elements that stick out of the window on the right. */
export const TOO_WIDE = `(() => {
  const width = document.documentElement.clientWidth;
  const out = [...document.querySelectorAll('body *')]
    .filter((element) => element.checkVisibility() && !element.closest('.unseen, .skip-link'))
    .filter((element) => element.getBoundingClientRect().right > width + 0.5)
    .map((element) => element.tagName + '.' + element.className);
  return document.documentElement.scrollWidth > width ? ['the page scrolls', ...out] : out;
})()`;

/** What somebody who cannot see the page, or has no mouse, would stumble over. */
export const OBSTACLES = `(() => {
  const found = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  for (const landmark of ['header', 'nav', 'main', 'footer', 'form[role=search]'])
    if (all(landmark).length !== 1) found.push(all(landmark).length + ' ' + landmark);
  let level = 0;
  for (const heading of all('h1, h2, h3, h4, h5, h6')) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) found.push('h' + level + ' is followed by h' + next + ': ' + heading.textContent);
    level = next;
  }
  if (all('h1').length !== 1) found.push('one h1');
  for (const control of all('input, select')) if (control.labels.length !== 1) found.push('no label: ' + control.name);
  for (const section of all('section, nav, form'))
    if (!section.ariaLabel && !document.getElementById(section.getAttribute('aria-labelledby')))
      found.push('no name: ' + section.id);
  for (const cell of all('th')) if (!cell.scope) found.push('no scope: ' + cell.textContent);
  const ids = all('[id]').map(({ id }) => id);
  for (const id of ids.filter((id, at) => ids.indexOf(id) < at)) found.push('id twice: ' + id);
  for (const link of all('a[href^="#"]'))
    if (!document.getElementById(link.hash.slice(1))) found.push('leads nowhere: ' + link.hash);
  if (document.documentElement.lang !== 'en') found.push('lang');
  if (document.title === '') found.push('title');
  return found;
})()`;

export const OPEN_ALL = `for (const fold of document.querySelectorAll('details')) fold.open = true`;

/** The titles of the findings that are to be seen, in their order. */
export const SHOWN = `[...document.querySelectorAll('[data-standing] :is(h4, .what)')]
  .filter((title) => title.checkVisibility()).map((title) => title.firstChild.data.trim())`;
