import { type Finding, type Outcome, SUITES } from '../model.js';

/** The outcome of a finding, with the baseline considered. */
export type Standing = Outcome | 'accepted';

/** The order in reports: the worst first. */
export const STANDINGS = ['fail', 'error', 'warn', 'accepted', 'skip', 'pass'] as const satisfies Standing[];

export function standingOf({ outcome, accepted }: Finding): Standing {
  return accepted ? 'accepted' : outcome;
}

/** The suites that have findings: those of `SUITES` in that order, then others in the order of the findings. */
export function suitesOf(findings: readonly Finding[]): string[] {
  const found = new Set(findings.map(({ suite }) => suite));
  return [...SUITES.filter((suite) => found.delete(suite)), ...found];
}

/** The findings with the given standings by suite, the worst first. Suites without such findings are left out. */
export function bySuite(
  findings: readonly Finding[],
  ...standings: readonly Standing[]
): { readonly suite: string; readonly findings: readonly Finding[] }[] {
  const meant = findings.filter((finding) => standings.includes(standingOf(finding)));
  const order = (finding: Finding) => STANDINGS.indexOf(standingOf(finding));
  return suitesOf(meant).map((suite) => ({
    suite,
    findings: meant
      .filter((finding) => finding.suite === suite)
      .sort((one, other) => order(one) - order(other)),
  }));
}

/** How reports show each standing: a sign, a word, the title of its section, and the head of its column. */
export const WORDS: Readonly<
  Record<Standing, { sign: string; word: string; section: string; column: string }>
> = {
  fail: { sign: '✗', word: 'fails', section: 'What fails', column: 'fail' },
  error: { sign: '?', word: 'could not be finished', section: 'What could not be finished', column: 'error' },
  warn: { sign: '!', word: 'warns', section: 'Warnings', column: 'warn' },
  accepted: { sign: '~', word: 'accepted', section: 'Accepted by the baseline', column: 'known' },
  skip: { sign: '–', word: 'does not apply', section: 'What does not apply', column: 'n/a' },
  pass: { sign: '✓', word: 'holds', section: 'What holds', column: 'pass' },
};

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
