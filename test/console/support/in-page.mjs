// Functions that run in a page. They use nothing of this file.

/** What in the page is not its own work, or breaks its layout. It goes to each place first, and waits for its heading. */
export async function foreignParts(places) {
  const never = [
    'base, style, meta[http-equiv], object, embed, frame, frameset, math, template, video, track, picture, source',
    'foreignObject, animate, marquee, noscript, iframe[srcdoc], [srcset], [ping], [formaction], form[action]',
  ].join();
  const isOwn = (url) =>
    url === '' || url.startsWith('blob:') || new URL(url, location.href).origin === location.origin;
  const isForeign = (element) => {
    if (element.matches(never) || element.getAttributeNames().some((name) => name.startsWith('on')))
      return true;
    if (element.matches('script, link, img, audio, iframe')) return !isOwn(element.src ?? element.href);
    const address = element.matches('a[href]') ? element.getAttribute('href') : '#';
    return !(address.startsWith('#') || (/^https?:/.test(address) && element.rel === 'noopener noreferrer'));
  };
  const widest = (box) => {
    const end = box.getBoundingClientRect().right + 1;
    return [...box.querySelectorAll('*')].find((part) => part.getBoundingClientRect().right > end)?.outerHTML;
  };
  const seen = [];
  const look = (at) => {
    const note = (what) => seen.push(`${at}: ${what?.slice(0, 200)}`);
    for (const element of document.querySelectorAll('*')) if (isForeign(element)) note(element.outerHTML);
    if (document.scripts.length !== 1) note(`${document.scripts.length} scripts`);
    if (/[\u202a-\u202e\u2066-\u2069\u200b]/.test(document.body.innerText)) note('a hidden character');
    const values = [...document.querySelectorAll('input, textarea')].map(({ value }) => value);
    if ([document.body.innerText, ...values].join().includes('[object ')) note('a name that objects have');
    if ('polluted' in {}) note('a polluted prototype');
    // What is for screen readers only has one pixel.
    for (const box of document.querySelectorAll('html, main, .split-main, .server-main'))
      if (box.clientWidth > 1 && box.scrollWidth > box.clientWidth + 1)
        note(`too wide: ${box.tagName} ${widest(box)}`);
  };
  if (places.length === 0) look(location.hash);
  for (const { fragment, heading } of places) {
    location.hash = fragment;
    const until = performance.now() + 30_000;
    const found = () => document.querySelector('main h1')?.textContent;
    while (found() !== heading && performance.now() < until) await new Promise(requestAnimationFrame);
    if (found() !== heading) seen.push(`${fragment}: ${found()}`);
    look(fragment);
  }
  return seen;
}

export function goTo(fragment) {
  location.hash = fragment;
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
}

export async function axeViolations() {
  const { violations } = await globalThis.axe.run(document, { resultTypes: ['violations'] });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}

export function sizeOfDocument() {
  const { scrollWidth: width, scrollHeight: height } = document.documentElement;
  return { width, height };
}

/** Whether an element is within the box that scrolls it. */
export function isInView(element) {
  const row = element.getBoundingClientRect();
  const box = element.closest('[role="grid"]').getBoundingClientRect();
  return row.top >= box.top && row.bottom <= box.bottom;
}

export function nextFrame() {
  return new Promise((resolve) => requestAnimationFrame(() => resolve()));
}

export async function tryEverything({ api, origin, key }) {
  const call = JSON.stringify({ method: 'tools/call', params: '{"name":"echo"}' });
  const tryIt = (url, init) =>
    fetch(url, init).then(
      ({ type, status }) => `${type} ${status}`,
      () => 'refused',
    );
  const headers = { 'isthmus-key': key };
  const fetched = [
    await tryIt(`${api}/hello`),
    await tryIt(`${api}/hello`, { headers }),
    await tryIt(`${api}/calls`, { method: 'POST', headers, body: call }),
    // A simple request leaves without a question to the server. The policy of its answer refuses it.
    await tryIt(`${api}/calls`, { method: 'POST', mode: 'no-cors', body: call }),
  ];
  const event = (target) =>
    new Promise((resolve) => {
      for (const name of ['open', 'message', 'error'])
        target.addEventListener(name, () => resolve(name), { once: true });
    });
  const stream = new EventSource(`${api}/feed`);
  const streamed = await event(stream);
  stream.close();
  const socket = await event(new WebSocket(`${origin.replace('http', 'ws')}/console/api/feed`));
  const form = document.createElement('form');
  form.method = 'POST';
  form.action = `${api}/enter`;
  form.target = 'into';
  document.body.append(form);
  const frame = document.querySelector('iframe');
  const loaded = () =>
    new Promise((resolve) => frame.addEventListener('load', () => resolve(), { once: true }));
  let wait = loaded();
  form.submit();
  await wait;
  wait = loaded();
  frame.src = `${origin}/console/`;
  await wait;
  let framed = 'readable';
  try {
    void frame.contentWindow.document.body.innerHTML;
  } catch {
    framed = 'closed';
  }
  return { fetched, streamed, socket, framed };
}

export function copyText(text) {
  return navigator.clipboard.writeText(text);
}

export function hasFocus(element) {
  return element === document.activeElement;
}

/** What is wider than it can show, without a way to scroll it for those who read it. */
export function tooWideParts() {
  // What is for screen readers only has one pixel.
  const wide = ({ scrollWidth, clientWidth }) => clientWidth > 1 && scrollWidth > clientWidth + 1;
  const boxes = [...document.querySelectorAll('html, main, .split-main, .split-list, .server-main, .panel')];
  return boxes.filter(wide).map(({ tagName, className }) => `${tagName} ${className}`);
}

/** What the browser tells a page whose tab is hidden, or seen again. */
export function hide(isHidden) {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden });
  document.dispatchEvent(new Event('visibilitychange'));
}

export function addresses(links) {
  return links.map((link) => link.getAttribute('href'));
}

/** Each text in a frame of its own that believes it to be HTML. */
export function believe(texts) {
  for (const text of texts) {
    const frame = document.createElement('iframe');
    frame.srcdoc = text;
    document.body.append(frame);
  }
}

/** The frames of the lens: the side, the way, what it is, and the number of its note. */
export function framesInLens(items) {
  return items.map((item) => {
    const side = /, (client|server) side,/.exec(item.textContent)[1];
    const number = item.querySelector('.note-number')?.lastChild.textContent;
    const words = [
      side,
      item.querySelector('.lane-way').textContent,
      item.querySelector('strong').textContent,
    ];
    return [...words, ...(number === undefined ? [] : [`#${number}`])].join(' ');
  });
}
