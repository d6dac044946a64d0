import type { Finding } from '../../model.js';
import { STANDINGS, standingOf, suitesOf } from '../standing.js';
import { WORDS } from '../words.js';
import { html, type Markup } from './markup.js';

/** Shown by the script that makes it work; without it everything is there anyway. */
export function filterForm(findings: readonly Finding[]): Markup {
  const standings = STANDINGS.filter((standing) =>
    findings.some((finding) => standingOf(finding) === standing),
  );
  return html`<form id="filter" role="search" aria-label="Filter the findings" hidden>
<label class="text">Search <input type="search" name="text" placeholder="title, id, rule, words on the wire" autocomplete="off" spellcheck="false"></label>
<label>Suite <select name="suite"><option value="">all</option>${suitesOf(findings).map((suite) => html`<option>${suite}</option>`)}</select></label>
<fieldset><legend class="unseen">Outcome</legend>
${standings.map((standing) => html`<label class="chip ${standing}"><input type="checkbox" name="standing" value="${standing}" checked> ${WORDS[standing].column}</label>`)}
</fieldset>
<button type="button">Show all</button>
<output id="shown" aria-live="polite"></output>
</form>
`;
}

/** Hides what was not asked for. Folds open while something is looked for, and close again. */
export const SCRIPT = `
const form = document.getElementById('filter');
const status = document.getElementById('shown');
const items = [...document.querySelectorAll('[data-standing]')];
const texts = items.map((item) => item.textContent.toLowerCase());
const folds = [...document.querySelectorAll('[data-fold]')];
const boxes = [...form.querySelectorAll('[name=standing]')];
let looking = false;
function apply() {
  const words = form.elements.text.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const suite = form.elements.suite.value;
  const wanted = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
  let shown = 0;
  items.forEach((item, at) => {
    const fits = wanted.has(item.dataset.standing) && (suite === '' || item.dataset.suite === suite) &&
      words.every((word) => texts[at].includes(word));
    item.hidden = !fits;
    if (fits) shown += 1;
  });
  for (const group of document.querySelectorAll('[data-group]')) {
    group.hidden = !group.querySelector('[data-standing]:not([hidden])');
  }
  const looks = words.length > 0 || suite !== '' || wanted.size < boxes.length;
  if (looks !== looking) for (const fold of folds) fold.open = looks;
  looking = looks;
  status.textContent = looks ? shown + ' of ' + items.length + ' shown' : '';
}
form.addEventListener('input', apply);
form.addEventListener('submit', (event) => event.preventDefault());
form.querySelector('button').addEventListener('click', () => {
  form.reset();
  apply();
});
form.hidden = items.length === 0;
apply();
`;
