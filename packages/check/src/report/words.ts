import type { Standing } from './standing.js';

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
