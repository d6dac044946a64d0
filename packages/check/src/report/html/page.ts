import { createHash } from 'node:crypto';
import type { Finding, Report } from '../../model.js';
import { type FailOn, verdictOf } from '../../run/grade.js';
import { shortened } from '../plain-text.js';
import { STANDINGS, standingOf, suitesOf, WORDS } from '../standing.js';
import { findingSections } from './findings.js';
import { html, Markup } from './markup.js';
import { contents, overview, pageFooter, pageHeader } from './overview.js';
import { STYLE } from './style.js';

/**
 * The report as one HTML page without other files. It needs no network, and can be read without scripts. All text of a
 * server is escaped, and the content security policy allows only the style and the script of this page.
 */
export function toHtml(report: Report, { failOn = 'must' }: { readonly failOn?: FailOn } = {}): string {
  const { target, grade, findings } = report;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${grade.letter} · ${shortened(target.label, 100)} · isthmus check</title>
<link rel="icon" href="data:,">
<style>${new Markup(STYLE)}</style>
</head>
<body>
<a class="skip-link" href="#findings">Skip to the findings</a>
${pageHeader(report, verdictOf(report, failOn))}
<main>
${overview(report)}
<div id="findings" tabindex="-1">
${contents(findings)}${filterForm(findings)}
${findingSections(findings)}
</div>
</main>
${pageFooter(report)}
<script>${new Markup(SCRIPT)}</script>
</body>
</html>
`.text;
}

/** Hidden until the script runs. Without scripts the page shows all findings. */
function filterForm(findings: readonly Finding[]): Markup {
  const standings = STANDINGS.filter((standing) =>
    findings.some((finding) => standingOf(finding) === standing),
  );
  return html`<form id="filter" role="search" aria-label="Filter the findings" hidden>
<label class="text">Search <input type="search" name="text" placeholder="title, id, rule, text on the wire" autocomplete="off" spellcheck="false"></label>
<label>Suite <select name="suite"><option value="">all</option>${suitesOf(findings).map((suite) => html`<option>${suite}</option>`)}</select></label>
<fieldset><legend class="unseen">Outcome</legend>
${standings.map((standing) => html`<label class="chip ${standing}"><input type="checkbox" name="standing" value="${standing}" checked> ${WORDS[standing].column}</label>`)}
</fieldset>
<button type="button">Show all</button>
<output id="shown" aria-live="polite"></output>
</form>
`;
}

/** Hides findings that do not match. Opens folded parts while a filter is set. */
const SCRIPT = `
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

const POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${hashOf(SCRIPT)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
