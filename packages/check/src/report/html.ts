import { createHash } from 'node:crypto';
import type { Report } from '../model.js';
import { type FailOn, verdictOf } from '../run/judge-run.js';
import { shortened } from './clean-text.js';
import { filterForm, SCRIPT } from './html/filter.js';
import { findingSections } from './html/findings.js';
import { html, Markup } from './html/markup.js';
import { contents, overview, pageFooter, pageHeader } from './html/overview.js';
import { STYLE } from './html/style.js';

/**
 * The report as one page that needs nothing else: no network, and no script to be read. Whatever a server said is text
 * in it, and its policy forbids everything but our own style and script.
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
