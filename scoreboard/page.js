// docs/scoreboard.md from what was found.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { inRoot } from '../scripts/setup/paths.js';
import { SEED } from './judge.js';
import { reasonFor } from './reasons.js';

/** The ids of the MUST checks that fail, once each. */
export function brokenMusts({ findings }) {
  return [...new Set(findings.filter(({ outcome }) => outcome === 'fail').map(({ id }) => id))];
}

export function toPage({ servers, clients, reasons, ms }) {
  return `# Scoreboard

After this page you know how well some servers and clients follow the specification.

The tables have the results of \`isthmus check\` ${versionOf({ of: 'isthmus' })} and \`isthmus check-client\`. \`npm run scoreboard\` wrote them on
${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${availableParallelism()} cores, seed ${SEED}; the whole run took ${Math.ceil(ms / 60_000)} minutes.
MUST and SHOULD show how many of the checks that apply have passed. "n/a" counts the checks that found nothing to judge, or could
not decide. [check-ci.md](check-ci.md) explains percentages and letters.

Each failed MUST has a line that says why the fault is the peer's, with the place in the peer's code. The lines are data in
\`scoreboard/reasons.json\`. The run fails when one is missing, and when one is not needed any more. A SHOULD that no rule of the
specification demands is marked as an opinion.

## Servers

The run calls only tools that are marked as read-only. It calls all tools of the fixtures of the official SDKs, and no tools of
servers whose tools would use the network (\`--no-tools\`). The fixtures are small programs of this repository on the official SDKs,
with their defaults. Faults of a fixture itself (missing descriptions, capabilities that it ignores) are listed, too. The packages of
real servers and clients have a manifest in \`scoreboard/\`. They are started with keys that open nothing, and need no network.

| server | version | eras | MUST | SHOULD | grade | n/a | took |
|---|---|---|---|---|---|---|---|
${servers.map(toServerRow).join('\n')}

## Clients

The clients are programs of a few lines (\`scoreboard/clients/\`) with the defaults of their SDKs. They list the tools and call the
first one. The Inspector only lists, so the checks that need a call do not apply to it.

| client | version | speaks | MUST | SHOULD | grade | n/a | took |
|---|---|---|---|---|---|---|---|
${clients.map(toClientRow).join('\n')}

## The commands

${[...servers, ...clients].map(({ subject }) => `- ${subject.name}: \`${commandOf(subject)}\``).join('\n')}

## What does not hold

${[...servers, ...clients].map((row) => toFailures(row, reasons)).join('\n')}`;
}

function toServerRow({ subject, report }) {
  const eras = report.eras.map(({ era, revision }) => `${era} ${revision}`).join(', ');
  return toRow(subject, eras, report);
}

function toClientRow({ subject, report }) {
  const [, speaks = ''] = /speaks (.+?);/.exec(report.target.label) ?? [];
  return toRow(subject, speaks, report);
}

function toRow(subject, what, { findings, grade, counts, ms }) {
  const held = (level) => {
    const of = findings.filter((each) => each.level === level && each.outcome !== 'skip');
    return `${of.filter(({ outcome }) => outcome === 'pass').length}/${of.length}`;
  };
  const cells = [
    subject.name,
    versionOf(subject),
    what,
    held('MUST'),
    held('SHOULD'),
    grade.letter,
    `${counts.skip}`,
    `${(ms / 1000).toFixed(0)} s`,
  ];
  return `| ${cells.join(' | ')} |`;
}

function toFailures({ subject, report }, reasons) {
  const broken = report.findings.filter(({ outcome }) => outcome !== 'pass' && outcome !== 'skip');
  if (broken.length === 0) return `### ${subject.name}\n\nEverything that applies holds.\n`;
  const sorted = [...broken].sort((one, other) => one.level.localeCompare(other.level));
  const lines = sorted.map(({ id, era, level, rules, seen, outcome }) => {
    const where = era === undefined ? '' : `, ${era}`;
    const cited = rules.length > 0 ? ` (${rules.join(', ')})` : ' (opinion)';
    const reason = outcome === 'fail' ? reasonFor(reasons, subject.name, id) : undefined;
    const why = reason ? `\n  - The peer's: ${reason.why} (${reason.source})` : '';
    return `- ${outcome === 'error' ? 'not judged' : level} \`${id}\`${where}${cited}: ${toLine(seen)}${why}`;
  });
  return `### ${subject.name}\n\n${lines.join('\n')}\n`;
}

/** What a peer said, on one line of Markdown, without the place of this checkout. */
function toLine(text) {
  return text
    .replaceAll(inRoot(), '')
    .replaceAll(inRoot().replace(/[\\/]$/, ''), '.')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('|', '\\|')
    .replaceAll('`', "'")
    .slice(0, 220);
}

function commandOf(subject) {
  if (subject.program) {
    const over = subject.over ? ` --over ${subject.over}` : '';
    return `isthmus check-client${over} -- node ${subject.program} {server}`;
  }
  const options = `${subject.callTools ? ' --call-tools' : ''}${subject.noTools ? ' --no-tools' : ''}`;
  const check = `isthmus check${options}`;
  if (subject.command) return `${check} -- ${(subject.shown ?? subject.command).join(' ')}`;
  return `${subject.words.join(' ').replaceAll('{port}', '8080')}\` and \`${check} http://127.0.0.1:8080/mcp`;
}

function versionOf({ of, at }) {
  const folder = of === 'isthmus' ? '' : (at ?? `node_modules/${of}`);
  return JSON.parse(readFileSync(inRoot(folder, 'package.json'), 'utf8')).version;
}
