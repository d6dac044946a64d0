import { type Finding, type Outcome, SUITES } from '../model.js';

/** What a reader wants to know of a finding first: how it stands, with the baseline considered. */
export type Standing = Outcome | 'accepted';

/** The worst first: the order in which reports tell. */
export const STANDINGS = ['fail', 'error', 'warn', 'accepted', 'skip', 'pass'] as const satisfies Standing[];

export function standingOf({ outcome, accepted }: Finding): Standing {
  return accepted ? 'accepted' : outcome;
}

/** The names of the suites that have findings: ours in the usual order, then others as they come. */
export function suitesOf(findings: readonly Finding[]): string[] {
  const found = new Set(findings.map(({ suite }) => suite));
  return [...SUITES.filter((suite) => found.delete(suite)), ...found];
}

/** Those of the given standings by suite, in each the worst first. Suites without any are left out. */
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

/** What readers see for each standing: a sign, a word, and what a section of them is called. */
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
