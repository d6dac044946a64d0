import type { TraceFinding } from '../contract.js';
import { redactBody, type TraceRedactor } from './write-trace.js';

/** What redaction replaces in a text, and what looks like a secret and stays. */
export function findingsIn(seq: number, text: string, redactor: TraceRedactor): TraceFinding[] {
  const clean = redactBody(text, redactor);
  return [
    ...replacedIn(text, clean).map((around) => ({ seq, what: 'replaced' as const, why: REPLACED, around })),
    ...suspiciousIn(clean).map((around) => ({ seq, what: 'suspicious' as const, why: SUSPICIOUS, around })),
  ];
}

const REPLACED = 'a value of the environment or of a header, or something that looks like a key';
const SUSPICIOUS = 'a long random text: it may be a key, and was left';

/** The surroundings of each mark that redaction has left. */
function replacedIn(text: string, clean: string): string[] {
  if (text === clean) return [];
  const before = countOf(text, MARK);
  return [...clean.matchAll(MARKS)].slice(before).map(({ index }) => surroundings(clean, index, MARK.length));
}

function suspiciousIn(clean: string): string[] {
  return [...clean.matchAll(LONG_WORDS)]
    .filter(([word]) => looksRandom(word))
    .map(({ index, 0: word }) => {
      const masked = `${clean.slice(0, index)}${word.slice(0, 4)}…${clean.slice(index + word.length)}`;
      return surroundings(masked, index, 5);
    });
}

/** Random text has digits and both cases, and few characters repeat. */
function looksRandom(word: string): boolean {
  if (!/\d/.test(word) || !/[a-z]/.test(word)) return false;
  if (!/[A-Z]/.test(word) && !/^[0-9a-f]+$/.test(word)) return false;
  return new Set(word).size >= Math.min(16, word.length / 3);
}

function surroundings(text: string, at: number, length: number): string {
  return text.slice(Math.max(0, at - AROUND), at + length + AROUND).replace(/\s+/g, ' ');
}

function countOf(text: string, word: string): number {
  return text.split(word).length - 1;
}

const MARK = '[redacted]';
const MARKS = /\[redacted\]/g;
const LONG_WORDS = /[A-Za-z0-9+/_-]{32,4000}/g;
const AROUND = 40;
