import type { Finding, WireLine } from '../../model.js';
import { cite, isOpinion, levelInWords } from '../../rules/index.js';
import { fewerLines } from '../../wire/excerpt.js';
import { ARROWS, nameOfFinding, rulesInWords, shortened } from '../plain-text.js';
import { bySuite, count, duration, type Standing, standingOf, WORDS } from '../standing.js';
import { html, type Markup, when } from './markup.js';

/** The findings by outcome, the worst first, and then by suite. Passed and skipped findings are folded. */
export function findingSections(findings: readonly Finding[]): Markup[] {
  return SECTIONS.flatMap(({ id, title, standings, folded }) => {
    const groups = bySuite(findings, ...standings);
    const total = groups.reduce((sum, group) => sum + group.findings.length, 0);
    if (total === 0) return [];
    const heading = html`<h2 id="${id}-title">${title} <span class="count">${total}</span></h2>`;
    const body = groups.map(
      (group) => html`<div class="group" data-group>
<h3>${group.suite}</h3>
${folded ? html`<ul class="rows">${group.findings.map(row)}</ul>` : group.findings.map(card)}
</div>
`,
    );
    return [
      html`<section id="${id}" class="findings" aria-labelledby="${id}-title" data-group>
${folded ? html`<details data-fold><summary>${heading}</summary>${body}</details>` : html`${heading}${body}`}
</section>
`,
    ];
  });
}

interface Section {
  readonly id: string;
  readonly title: string;
  readonly standings: readonly Standing[];
  readonly folded: boolean;
}

export const SECTIONS: readonly Section[] = [
  { id: 'fails', title: WORDS.fail.section, standings: ['fail', 'error'], folded: false },
  { id: 'warns', title: WORDS.warn.section, standings: ['warn'], folded: false },
  { id: 'accepted', title: WORDS.accepted.section, standings: ['accepted'], folded: false },
  { id: 'skips', title: WORDS.skip.section, standings: ['skip'], folded: true },
  { id: 'holds', title: WORDS.pass.section, standings: ['pass'], folded: true },
];

function card(finding: Finding): Markup {
  const { title, reason, seen, expected, hint, input, wire, ms } = finding;
  const standing = standingOf(finding);
  return html`<article class="card ${standing}" id="${anchorOf(finding)}" data-standing="${standing}" data-suite="${finding.suite}">
<p class="badges"><span class="badge ${standing}"><span aria-hidden="true">${WORDS[standing].sign}</span> ${WORDS[standing].word}</span>${eraBadge(finding)}<span class="badge plain">${levelInWords(finding)}</span></p>
<h4>${title}</h4>
<p class="name"><a href="#${anchorOf(finding)}"><code>${finding.id}</code></a>${finding.rules.map((rule) => html` <code class="rule">${rule}</code>`)} <span class="took">${duration(ms)}</span></p>
<dl>
${entry('Seen', seen)}${entry('Expected', expected)}${ruleEntries(finding)}${entry('Why', reason)}${entry('How to fix it', hint)}
${entry('Not judged because of it', finding.consequences?.join(', '))}
${when(input !== undefined, () => html`<dt>Smallest input</dt><dd><pre>${shortened(input!, MAX_TEXT)}</pre></dd>`)}
</dl>
${when(wire.length > 0, () => wireFold(wire))}
</article>
`;
}

function row(finding: Finding): Markup {
  const standing = standingOf(finding);
  return html`<li class="row ${standing}" id="${anchorOf(finding)}" data-standing="${standing}" data-suite="${finding.suite}">
<span class="sign ${standing}" aria-hidden="true">${WORDS[standing].sign}</span>
<div><p class="what">${finding.title}${eraBadge(finding)}${when(isOpinion(finding), () => html` <span class="badge plain">opinion</span>`)}</p>
${when(finding.seen !== '', () => html`<p class="seen">${shortened(finding.seen, MAX_TEXT)}</p>`)}
<p class="name"><code>${finding.id}</code>${finding.rules.map((rule) => html` <code class="rule">${rule}</code>`)}</p></div>
</li>
`;
}

/** The sentences of the rules, with links to the specification. */
function ruleEntries(finding: Finding): Markup {
  const cited = cite(finding.rules);
  if (cited.length === 0) return entry('Rule', rulesInWords(finding).join('; '));
  const lines = cited.map(
    ({ id, level, says, url }) =>
      html`<dd>${url === undefined ? id : html`<a href="${url}">${id}</a>`} (${level}): ${says}</dd>
`,
  );
  return html`<dt>${cited.length === 1 ? 'Rule' : 'Rules'}</dt>${lines}`;
}

function eraBadge({ era }: Finding): Markup {
  return when(era !== undefined, () => html` <span class="badge plain">${era}</span>`);
}

function entry(name: string, text: string | undefined): Markup {
  return when(
    text !== undefined && text !== '',
    () => html`<dt>${name}</dt><dd>${shortened(text!, MAX_TEXT)}</dd>
`,
  );
}

function wireFold(wire: readonly WireLine[]): Markup {
  return html`<details class="wire"><summary>On the wire <span class="count">${count(wire.length, 'line')}</span></summary>
<ol tabindex="0" aria-label="What went over the wire">
${fewerLines(wire, MAX_WIRE_LINES).map(
  ({
    from,
    atMs,
    text,
  }) => html`<li class="${from}"><span class="when"><span aria-hidden="true">${ARROWS[from]}</span><span class="unseen">${SPEAKERS[from]}</span> ${Math.round(atMs)} ms</span><pre>${shortened(text, MAX_WIRE_TEXT)}</pre></li>
`,
)}</ol></details>`;
}

const SPEAKERS = { check: 'sent', server: 'received', client: 'received', note: 'note' } as const;
const MAX_TEXT = 4000;
const MAX_WIRE_TEXT = 20_000;
const MAX_WIRE_LINES = 100;

/** The same in every run, so that links keep working. */
function anchorOf(finding: Finding): string {
  return nameOfFinding(finding)
    .replace(/[^A-Za-z0-9-]+/g, '-')
    .replace(/-$/, '');
}
