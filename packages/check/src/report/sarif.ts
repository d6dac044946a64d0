import { createHash } from 'node:crypto';
import type { Finding, Report } from '../model.js';
import { cite, isOpinion } from '../rules/index.js';
import {
  cleanLine,
  cleanText,
  describeFinding,
  nameOfFinding,
  rulesInWords,
  seenAndExpected,
  shortened,
} from './plain-text.js';
import { standingOf } from './standing.js';

/** Options of `toSarif`. */
export interface SarifOptions {
  /**
   * The file of the repository at which results are shown. A finding has no line of code, and GitHub refuses results without
   * a file. Default `README.md`.
   */
  readonly artifact?: string;
}

/**
 * The report as SARIF 2.1.0. Only failures are results, since GitHub shows every result as an alert, whatever its `kind`.
 * The level is `error` for a MUST and for an unfinished check, `warning` for a SHOULD, and `note` with a suppression for
 * what the baseline accepts. The rules are all checks of the run.
 */
export function toSarif(report: Report, { artifact = 'README.md' }: SarifOptions = {}): string {
  const rules = rulesOf(report);
  const results = [
    ...report.findings
      .filter(({ outcome }) => outcome !== 'pass' && outcome !== 'skip')
      .map((finding) => resultOf(finding, report, artifact, rules)),
    ...report.stale.map((entry) => staleResult(entry, report, artifact, rules)),
  ];
  const started = new Date(report.started);
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'isthmus check', version: report.version, rules } },
        automationDetails: { id: `isthmus-check/${slugOf(report.target.label)}/` },
        invocations: [
          {
            executionSuccessful: true,
            startTimeUtc: started.toISOString(),
            endTimeUtc: new Date(started.getTime() + report.ms).toISOString(),
          },
        ],
        columnKind: 'utf16CodeUnits',
        originalUriBaseIds: {
          '%SRCROOT%': { description: { text: 'The folder of the repository that has the server.' } },
        },
        results,
        properties: { counts: report.counts, grade: report.grade, eras: report.eras, seed: report.seed },
      },
    ],
  };
  return `${JSON.stringify(log, cleaned, 2)}\n`;
}

/** Cleans every string, since any of them may come from the server. */
function cleaned(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? cleanText(value) : value;
}

interface Rule {
  readonly id: string;
}

const STALE = {
  id: 'baseline/stale',
  shortDescription: { text: 'The baseline accepts only what still fails' },
  fullDescription: { text: 'An entry whose check no longer fails must be removed.' },
  help: { text: 'Remove the entry from the baseline, or run with --update-baseline.' },
  defaultConfiguration: { level: 'error' },
  properties: { tags: ['baseline'] },
} as const;

function rulesOf({ findings, stale }: Report): Rule[] {
  const rules = new Map(findings.map((finding) => [finding.id, ruleOf(finding)]));
  return [...rules.values(), ...(stale.length > 0 ? [STALE] : [])];
}

function ruleOf({ id, suite, title, level, rules, reason, hint }: Finding): Rule {
  const cited = cite(rules);
  const [helpUri] = cited.flatMap(({ url }) => url ?? []);
  const why = cleanLine([...rulesInWords({ level, rules }), ...(reason ? [reason] : [])].join('. '));
  const what = cleanLine(title);
  const fix = cleanLine(hint);
  const links = cited.map(({ id: rule, says, url }) =>
    url === undefined ? `- ${mark(rule)}: ${mark(says)}` : `- [${mark(rule)}](${url}): ${mark(says)}`,
  );
  return {
    id,
    shortDescription: { text: what },
    fullDescription: { text: shortened(why, MAX_DESCRIPTION) },
    ...(helpUri !== undefined && { helpUri }),
    help: {
      text: `${what}. ${why}. How to fix it: ${fix}`,
      markdown: [
        `${mark(what)}.`,
        links.length > 0 ? links.join('\n') : `${mark(why)}.`,
        `**How to fix it:** ${mark(fix)}`,
      ].join('\n\n'),
    },
    defaultConfiguration: { level: level === 'MUST' ? 'error' : 'warning' },
    properties: { tags: [suite, ...(isOpinion({ rules }) ? ['opinion'] : rules)].slice(0, MAX_TAGS) },
  } as Rule;
}

/** GitHub allows at most 1,024 characters. */
const MAX_DESCRIPTION = 900;

/** The limit of GitHub for a rule. */
const MAX_TAGS = 20;

function resultOf(finding: Finding, report: Report, artifact: string, rules: readonly Rule[]) {
  const { id, title, era, outcome, suite, ms } = finding;
  const isAccepted = standingOf(finding) === 'accepted';
  const level = isAccepted ? 'note' : outcome === 'warn' ? 'warning' : 'error';
  return {
    ruleId: id,
    ruleIndex: rules.findIndex((rule) => rule.id === id),
    kind: 'fail',
    level,
    message: {
      text: `${cleanLine(title)}${era ? ` (${era} era)` : ''}. ${outcome === 'error' ? 'Could not be finished. ' : ''}${seenAndExpected(finding)}`,
    },
    ...placeOf(nameOfFinding(finding), report, artifact),
    ...(isAccepted && {
      suppressions: [{ kind: 'external', status: 'accepted', justification: 'The baseline accepts it.' }],
    }),
    properties: {
      suite,
      outcome,
      ...(isOpinion(finding) && { opinion: true }),
      ...(era && { era }),
      ms,
      details: describeFinding(finding),
    },
  };
}

function staleResult(entry: string, report: Report, artifact: string, rules: readonly Rule[]) {
  return {
    ruleId: STALE.id,
    ruleIndex: rules.findIndex((rule) => rule.id === STALE.id),
    kind: 'fail',
    level: 'error',
    message: { text: `Stale entry of the baseline: ${cleanLine(entry)}` },
    ...placeOf(`${STALE.id} ${entry}`, report, artifact),
  };
}

/** Where the result is shown, and the fingerprints that identify it in the next run. */
function placeOf(name: string, { target }: Report, artifact: string) {
  const label = cleanLine(target.label);
  const hash = createHash('sha256').update(`${label}\n${name}`).digest('hex').slice(0, 16);
  return {
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: encodeURI(artifact), uriBaseId: '%SRCROOT%' },
          region: { startLine: 1 },
        },
        logicalLocations: [{ name: label, fullyQualifiedName: label, kind: 'resource' }],
      },
    ],
    // GitHub reads the second one. Without it, GitHub would use the line of the file.
    partialFingerprints: { 'isthmusCheck/v1': name, primaryLocationLineHash: `${hash}:1` },
  };
}

function slugOf(label: string): string {
  return (
    label
      .replace(/[^A-Za-z0-9.-]+/g, '-')
      .slice(0, 80)
      .replace(/^-+|-+$/g, '') || 'server'
  );
}

/** Escapes text for Markdown. */
function mark(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|~]/g, '\\$&');
}
