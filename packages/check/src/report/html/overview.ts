import type { EraReport, Finding, Report } from '../../model.js';
import type { RunVerdict } from '../../run/grade.js';
import { shortened } from '../plain-text.js';
import {
  bySuite,
  count,
  duration,
  STANDINGS,
  type Standing,
  standingOf,
  suitesOf,
  WORDS,
} from '../standing.js';
import { SECTIONS } from './findings.js';
import { html, type Markup, when } from './markup.js';

/** The verdict, the grade with its reason, and the server. */
export function pageHeader(report: Report, verdict: RunVerdict): Markup {
  const { target, grade, eras } = report;
  return html`<header class="top">
<div class="grade ${GRADE_CLASS[grade.letter]}" role="img" aria-label="Grade ${grade.letter}"><span aria-hidden="true">${grade.letter}</span></div>
<div class="headline">
<p class="kicker">isthmus check</p>
<h1>${shortened(target.label, MAX_NAME)}</h1>
<p class="verdict ${verdict.passed ? 'pass' : 'fail'}"><strong>${verdict.passed ? 'Passed' : 'Failed'}</strong>${verdict.passed ? '' : `: ${verdict.reasons.join(', ')}`}</p>
<p class="why">${grade.why}</p>
</div>
<ul class="eras">${eras.map(eraItem)}</ul>
</header>
`;
}

export function overview(report: Report): Markup {
  const { findings, grade, stale } = report;
  return html`<section aria-labelledby="overview-title" class="overview">
<h2 id="overview-title" class="unseen">Overview</h2>
${when(
  stale.length > 0,
  () => html`<div class="stale"><h3>${count(stale.length, 'entry', 'entries')} of the baseline ${stale.length === 1 ? 'is' : 'are'} stale</h3>
<ul>${stale.map((each) => html`<li>${each}</li>`)}</ul></div>
`,
)}
<ul class="tiles">${STANDINGS.map((standing) => tile(standing, findings))}</ul>
<div class="halves">
<div class="panel"><h3>By suite</h3>${suiteTable(findings)}</div>
<div class="panel"><h3>The grade</h3>
${shareBar('MUST', grade.must)}${shareBar('SHOULD', grade.should)}
<details><summary>How the grade is computed</summary>
<table class="letters"><tbody>
${LETTERS.map(([letter, meaning]) => html`<tr><th scope="row">${letter}</th><td>${meaning}</td></tr>`)}
</tbody></table>
<p>Only checks that apply count, once for each era. A check that could not be finished counts as a broken MUST. The baseline does not change the grade.</p>
</details></div>
</div>
</section>
`;
}

/** Links to the parts that have findings. */
export function contents(findings: readonly Finding[]): Markup {
  const there = SECTIONS.flatMap(({ id, title, standings }) => {
    const number = findings.filter((finding) => standings.includes(standingOf(finding))).length;
    return number === 0
      ? []
      : [html`<li><a href="#${id}">${title} <span class="count">${number}</span></a></li>`];
  });
  return html`<nav aria-label="Parts of this report"><ul>${there}</ul></nav>
`;
}

export function pageFooter({ version, seed, started, ms, target }: Report): Markup {
  return html`<footer><p>Checked over ${TRANSPORTS[target.transport]} on <time datetime="${started}">${started.replace('T', ' ').replace(/(:\d\d)(\.\d+)?Z$/, '$1 UTC')}</time> in ${duration(ms)}, seed ${seed}, by isthmus ${version}.</p></footer>
`;
}

const MAX_NAME = 200;

const TRANSPORTS = { command: 'the pipes of a command', socket: 'a socket', http: 'HTTP' } as const;

const GRADE_CLASS = { 'A+': 'good', A: 'good', B: 'fair', C: 'fair', D: 'poor', F: 'bad' } as const;

const LETTERS = [
  ['A+', 'every MUST and every SHOULD holds'],
  ['A', 'every MUST holds'],
  ['B', '95 % of the MUST hold'],
  ['C', '85 %'],
  ['D', '70 %'],
  ['F', 'less, or no check applied'],
] as const;

function eraItem({ era, revision, server, capabilities, tools, resources, prompts }: EraReport): Markup {
  const offers = [
    tools > 0 ? count(tools, 'tool') : '',
    resources > 0 ? count(resources, 'resource') : '',
    prompts > 0 ? count(prompts, 'prompt') : '',
  ].filter(Boolean);
  return html`<li><span class="badge plain">${era}</span> <strong>${shortened(revision, MAX_NAME)}</strong> ${server ? shortened(`${server.name} ${server.version}`, MAX_NAME) : 'no name'}${offers.length > 0 ? ` · ${offers.join(', ')}` : ''}<span class="capabilities"> · ${shortened(capabilities.join(', '), MAX_NAME) || 'no capabilities'}</span></li>`;
}

function tile(standing: Standing, findings: readonly Finding[]): Markup {
  const number = findings.filter((finding) => standingOf(finding) === standing).length;
  return html`<li class="tile ${standing} ${number === 0 ? 'none' : ''}"><span class="number">${number}</span> <span class="label"><span aria-hidden="true">${WORDS[standing].sign}</span> ${TILES[standing]}</span></li>`;
}

const TILES: Readonly<Record<Standing, string>> = {
  fail: 'fail',
  error: 'unfinished',
  warn: 'warn',
  accepted: 'accepted',
  skip: 'not applicable',
  pass: 'hold',
};

function suiteTable(findings: readonly Finding[]): Markup {
  const columns = STANDINGS.filter((standing) =>
    findings.some((finding) => standingOf(finding) === standing),
  );
  return html`<table class="suites">
<thead><tr><th scope="col">suite</th>${columns.map((standing) => html`<th scope="col" class="number">${WORDS[standing].column}</th>`)}<th scope="col" class="shares"><span class="unseen">shares</span></th></tr></thead>
<tbody>
${suitesOf(findings).map((suite) => {
  const [group] = bySuite(
    findings.filter((finding) => finding.suite === suite),
    ...STANDINGS,
  );
  const counts = columns.map((standing) => ({
    standing,
    number: group!.findings.filter((finding) => standingOf(finding) === standing).length,
  }));
  return html`<tr><th scope="row">${suite}</th>${counts.map(({ standing, number }) => html`<td class="number ${number === 0 ? 'zero' : standing}">${number}</td>`)}<td class="shares">${stackedBar(counts)}</td></tr>
`;
})}</tbody></table>`;
}

function stackedBar(counts: readonly { readonly standing: Standing; readonly number: number }[]): Markup {
  const all = counts.reduce((sum, { number }) => sum + number, 0);
  let at = 0;
  const parts = counts
    .filter(({ number }) => number > 0)
    .map(({ standing, number }) => {
      const width = (number / all) * 100;
      const part = html`<rect class="${standing}" x="${at.toFixed(2)}" y="0" width="${width.toFixed(2)}" height="8"/>`;
      at += width;
      return part;
    });
  return html`<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}

function shareBar(name: string, share: number): Markup {
  const rest = name === 'MUST' ? 'fail' : 'warn';
  return html`<p class="share"><span>${name}</span> <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="${rest}" x="0" y="0" width="100" height="8"/><rect class="pass" x="0" y="0" width="${share}" height="8"/></svg> <span class="percent">${share} %</span></p>
`;
}
