/** Light or dark, as the system of the reader prefers. All text has a contrast of at least 4.5 to its background. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f6f7f9; --panel: #ffffff; --sunken: #f1f3f6; --line: #dde1e7;
  --text: #1b1f27; --soft: #586070; --link: #1f4fbf;
  --fail: #b3261e; --error: #8e2a86; --warn: #8a5700; --accepted: #3f5a8a; --skip: #586070; --pass: #1a6e3f;
  --fail-tint: #fdecea; --error-tint: #f9eaf7; --warn-tint: #fdf3dc; --accepted-tint: #e9eff9; --skip-tint: #eef0f3; --pass-tint: #e5f4ea;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #101318; --panel: #181c23; --sunken: #11151b; --line: #2c323d;
    --text: #e6e9ef; --soft: #a2abba; --link: #8fb4ff;
    --fail: #ff8d84; --error: #eb9be3; --warn: #f0bd52; --accepted: #a6c0f0; --skip: #a2abba; --pass: #7dd39b;
    --fail-tint: #3a1d1c; --error-tint: #331c31; --warn-tint: #33270f; --accepted-tint: #1e2a40; --skip-tint: #232933; --pass-tint: #15301f;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: auto; }
body {
  margin: 0 auto; padding: 1.25rem clamp(.75rem, 3vw, 2rem) 3rem; max-width: 72rem;
  background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: anywhere;
}
h1, h2, h3, h4, p, ul, ol, dl, dd, pre, table { margin: 0; padding: 0; }
ul, ol { list-style: none; }
a { color: var(--link); }
code, pre { font-family: var(--mono); font-size: .85em; }
pre { white-space: pre-wrap; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 4px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip-link { position: absolute; left: -999rem; }
.skip-link:focus { left: 1rem; top: 1rem; padding: .5rem 1rem; background: var(--panel); z-index: 1; }
#findings:focus { outline: none; }

.top { display: grid; grid-template-columns: auto 1fr; gap: .75rem 1.25rem; align-items: center; margin-bottom: 1.5rem; }
.grade {
  display: grid; place-items: center; width: 6.5rem; height: 6.5rem; border-radius: 1.4rem;
  font-size: 3.25rem; font-weight: 750; letter-spacing: -.03em; border: 2px solid currentColor;
}
.grade.good { color: var(--pass); background: var(--pass-tint); }
.grade.fair { color: var(--warn); background: var(--warn-tint); }
.grade.poor, .grade.bad { color: var(--fail); background: var(--fail-tint); }
.kicker { color: var(--soft); font-size: .8rem; font-weight: 600; letter-spacing: .06em; text-transform: uppercase; }
h1 { font: 650 clamp(1.1rem, 3.2vw, 1.6rem)/1.3 var(--mono); }
.verdict { font-size: 1.1rem; margin-top: .2rem; }
.verdict.pass strong { color: var(--pass); }
.verdict.fail strong { color: var(--fail); }
.why { color: var(--soft); }
.eras { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: .4rem 1.75rem; font-size: .9rem; }
.capabilities { color: var(--soft); }

.tiles { display: grid; grid-template-columns: repeat(6, 1fr); gap: .6rem; }
.tile { padding: .7rem .85rem; border-radius: .8rem; background: var(--panel); border: 1px solid var(--line); }
.tile .number { display: block; font-size: 1.7rem; font-weight: 700; line-height: 1.15; font-variant-numeric: tabular-nums; }
.tile .label { font-size: .85rem; color: var(--soft); }
.tile.none .number { color: var(--soft); font-weight: 500; }
.tile.fail:not(.none) { background: var(--fail-tint); border-color: var(--fail); }
.tile.error:not(.none) { background: var(--error-tint); border-color: var(--error); }
.tile.fail:not(.none) span { color: var(--fail); }
.tile.error:not(.none) span { color: var(--error); }
.tile.warn:not(.none) .number { color: var(--warn); }
.tile.accepted:not(.none) .number { color: var(--accepted); }
.tile.pass:not(.none) .number { color: var(--pass); }
.stale { padding: .9rem 1.1rem; margin-bottom: .75rem; border-radius: .8rem; background: var(--fail-tint); border: 1px solid var(--fail); }
.stale h3 { color: var(--fail); font-size: 1rem; }
.stale ul { list-style: disc; padding-left: 1.2rem; font-size: .9rem; }
.halves { display: grid; grid-template-columns: 3fr 2fr; gap: .75rem; margin-top: .75rem; }
.panel { padding: 1rem 1.1rem; border-radius: .8rem; background: var(--panel); border: 1px solid var(--line); min-width: 0; }
.panel h3 { font-size: .95rem; margin-bottom: .5rem; }
.panel p { font-size: .9rem; }
table { border-collapse: collapse; font-size: .9rem; }
.suites { width: 100%; }
.suites th, .suites td { padding: .3rem .5rem; text-align: left; border-top: 1px solid var(--line); font-weight: 500; overflow-wrap: normal; }
.suites tbody th { overflow-wrap: anywhere; }
.suites thead th { border-top: 0; color: var(--soft); font-size: .8rem; }
.suites :is(th, td):first-child { padding-left: 0; }
.suites .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.suites .shares { width: 34%; padding-right: 0; }
td.zero { color: var(--soft); }
td.fail { color: var(--fail); font-weight: 700; }
td.error { color: var(--error); font-weight: 700; }
td.warn { color: var(--warn); font-weight: 700; }
td.accepted { color: var(--accepted); }
td.pass { color: var(--pass); }
td.skip { color: var(--soft); }
svg { display: block; width: 100%; height: .55rem; border-radius: .3rem; overflow: hidden; }
rect.fail { fill: var(--fail); } rect.error { fill: var(--error); } rect.warn { fill: var(--warn); }
rect.accepted { fill: var(--accepted); } rect.skip { fill: var(--line); } rect.pass { fill: var(--pass); }
.share { display: grid; grid-template-columns: 4.5rem 1fr 4rem; align-items: center; gap: .5rem; margin-top: .5rem; }
.percent { text-align: right; font-variant-numeric: tabular-nums; }
.letters { margin: .5rem 0; }
.letters th { white-space: nowrap; }
.letters th, .letters td { padding: .15rem .75rem .15rem 0; text-align: left; }
summary { cursor: pointer; }
.panel details { margin-top: .75rem; font-size: .9rem; }
.panel summary { color: var(--link); }

nav { margin: 1.75rem 0 .75rem; }
nav ul { display: flex; flex-wrap: wrap; gap: .4rem 1.25rem; }
.count { color: var(--soft); font-weight: 400; font-size: .85em; font-variant-numeric: tabular-nums; }
form { display: flex; flex-wrap: wrap; gap: .6rem .9rem; align-items: center; padding: .8rem 1rem; border-radius: .8rem; background: var(--panel); border: 1px solid var(--line); font-size: .9rem; }
form .text { flex: 1 1 16rem; display: flex; gap: .5rem; align-items: center; }
input[type=search], select, button {
  font: inherit; color: inherit; background: var(--sunken); border: 1px solid var(--soft); border-radius: .5rem; padding: .4rem .6rem; min-height: 2.4rem;
}
input[type=search] { flex: 1; min-width: 0; width: 100%; }
::placeholder { color: var(--soft); opacity: 1; }
button { cursor: pointer; }
fieldset { display: flex; flex-wrap: wrap; gap: .4rem; border: 0; margin: 0; padding: 0; }
.chip { display: inline-flex; align-items: center; gap: .35rem; padding: .25rem .7rem; min-height: 2.2rem; border-radius: 99rem; border: 1px solid var(--line); cursor: pointer; }
.chip input { margin: 0; accent-color: var(--link); }
.chip.fail { color: var(--fail); } .chip.error { color: var(--error); } .chip.warn { color: var(--warn); }
.chip.accepted { color: var(--accepted); } .chip.skip { color: var(--skip); } .chip.pass { color: var(--pass); }
output { color: var(--soft); }

.findings { margin-top: 1.75rem; }
.findings h2 { font-size: 1.3rem; display: inline; }
.findings h3 { margin: 1rem 0 .5rem; color: var(--soft); font-size: .85rem; letter-spacing: .05em; text-transform: uppercase; }
.card { padding: 1rem 1.15rem; margin-bottom: .75rem; border-radius: .8rem; background: var(--panel); border: 1px solid var(--line); border-left: 5px solid var(--soft); }
.card.fail { border-left-color: var(--fail); } .card.error { border-left-color: var(--error); }
.card.warn { border-left-color: var(--warn); } .card.accepted { border-left-color: var(--accepted); }
.card:target, .row:target { outline: 2px solid var(--link); outline-offset: 2px; }
.card h4 { font-size: 1.08rem; margin-top: .35rem; }
.badges { display: flex; flex-wrap: wrap; gap: .4rem; }
.badge { display: inline-block; padding: .05rem .6rem; border-radius: 99rem; font-size: .78rem; font-weight: 600; white-space: nowrap; }
.badge.fail { color: var(--fail); background: var(--fail-tint); } .badge.error { color: var(--error); background: var(--error-tint); }
.badge.warn { color: var(--warn); background: var(--warn-tint); } .badge.accepted { color: var(--accepted); background: var(--accepted-tint); }
.badge.plain { color: var(--soft); background: var(--skip-tint); font-weight: 500; }
.name { font-size: .85rem; color: var(--soft); }
.name a { color: var(--soft); }
.rule { padding: .05rem .4rem; border-radius: .3rem; background: var(--skip-tint); color: var(--soft); white-space: nowrap; }
.card dl { display: grid; grid-template-columns: 8rem 1fr; gap: .3rem 1rem; margin-top: .7rem; font-size: .95rem; }
dt { color: var(--soft); }
dd { min-width: 0; white-space: pre-line; }
dd pre { padding: .4rem .6rem; border-radius: .4rem; background: var(--sunken); border: 1px solid var(--line); max-height: 14rem; overflow: auto; }
.wire { margin-top: .75rem; }
.wire summary { color: var(--link); font-size: .9rem; padding: .25rem 0; }
.wire ol { margin-top: .35rem; padding: .5rem .75rem; border-radius: .5rem; background: var(--sunken); border: 1px solid var(--line); max-height: 28rem; overflow: auto; }
.wire li { display: grid; grid-template-columns: 6rem 1fr; gap: .75rem; padding: .15rem 0; }
.wire .when { font: .8rem/1.6 var(--mono); color: var(--soft); white-space: nowrap; }
.wire pre { min-width: 0; line-height: 1.55; }
.wire .check .when { color: var(--link); }
.wire .note pre { color: var(--soft); font-style: italic; }
.rows { border-radius: .8rem; background: var(--panel); border: 1px solid var(--line); }
.row { display: grid; grid-template-columns: 1.2rem 1fr; gap: .5rem; padding: .55rem 1rem; }
.row + .row { border-top: 1px solid var(--line); }
.sign.pass { color: var(--pass); font-weight: 700; } .sign.skip { color: var(--soft); }
.row .seen { color: var(--soft); font-size: .9rem; }
.row .name { font-size: .8rem; }
footer { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .85rem; }

@media (max-width: 48rem) {
  .halves { grid-template-columns: 1fr; }
  .tiles { grid-template-columns: repeat(3, 1fr); }
}
@media (max-width: 34rem) {
  .top { gap: .75rem .9rem; align-items: start; }
  .grade { width: 4.2rem; height: 4.2rem; font-size: 2.1rem; border-radius: 1rem; }
  .eras { flex-direction: column; }
  .tile { padding: .5rem .65rem; }
  .tile .number { font-size: 1.35rem; }
  .panel { padding: .8rem .85rem; }
  .suites .shares { display: none; }
  .suites th, .suites td { padding: .3rem .25rem; }
  .suites { font-size: .85rem; }
  .card { padding: .8rem .85rem; }
  .card dl { grid-template-columns: 1fr; gap: .1rem; }
  .card dd { margin-bottom: .45rem; }
  .wire li { grid-template-columns: 1fr; gap: 0; }
  .row { padding: .5rem .7rem; }
}
@media print {
  form, nav, .skip-link { display: none; }
  body { max-width: none; padding: 0; }
  .card, .row, .panel { break-inside: avoid; }
  .wire ol, dd pre { max-height: none; overflow: visible; }
}
`;
