import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { CARRIED } from './carried-values.js';

/** One place where the answer of now is not that of the file. */
export interface AnswerDifference {
  /** `result.content[0].text`. Empty: the whole answer. */
  readonly path: string;
  readonly what: 'changed' | 'added' | 'missing';
  readonly recorded?: unknown;
  readonly now?: unknown;
}

/**
 * What differs between two answers. Ids and times differ each time, so they do not count, and neither does what was
 * removed from the file. `shape`: only members and types count, not values.
 */
export function compareAnswers(recorded: unknown, now: unknown, shape = false): readonly AnswerDifference[] {
  const found: AnswerDifference[] = [];
  compare(recorded, now, '', { shape, found });
  return found;
}

interface Comparison {
  readonly shape: boolean;
  readonly found: AnswerDifference[];
}

function compare(recorded: unknown, now: unknown, path: string, comparison: Comparison): void {
  const { found, shape } = comparison;
  if (found.length >= MAX_DIFFERENCES) return;
  if (typeOf(recorded) !== typeOf(now)) found.push({ path, what: 'changed', recorded, now });
  else if (Array.isArray(recorded)) compareLists(recorded, now as unknown[], path, comparison);
  else if (isJsonObject(recorded)) compareMembers(recorded, now as typeof recorded, path, comparison);
  else if (!shape && !isSame(recorded, now)) found.push({ path, what: 'changed', recorded, now });
}

/** More would not be read. */
const MAX_DIFFERENCES = 100;

function compareLists(
  recorded: readonly unknown[],
  now: readonly unknown[],
  path: string,
  comparison: Comparison,
): void {
  for (const [at, value] of recorded.slice(0, now.length).entries())
    compare(value, now[at], `${path}[${at}]`, comparison);
  if (comparison.shape) return;
  for (const [at, value] of recorded.entries())
    if (at >= now.length) report(comparison, { path: `${path}[${at}]`, what: 'missing', recorded: value });
  for (const [at, value] of now.entries())
    if (at >= recorded.length) report(comparison, { path: `${path}[${at}]`, what: 'added', now: value });
}

function compareMembers(
  recorded: Readonly<Record<string, unknown>>,
  now: Readonly<Record<string, unknown>>,
  path: string,
  comparison: Comparison,
): void {
  for (const [name, value] of Object.entries(recorded)) {
    const at = path === '' ? name : `${path}.${name}`;
    if (!Object.hasOwn(now, name)) report(comparison, { path: at, what: 'missing', recorded: value });
    // The names of what is asked are made up by the server.
    else if (name === 'inputRequests') compare(valuesOf(value), valuesOf(now[name]), at, comparison);
    else if (!isCarried(name, value, now[name])) compare(value, now[name], at, comparison);
  }
  for (const [name, value] of Object.entries(now))
    if (!Object.hasOwn(recorded, name))
      report(comparison, { path: path === '' ? name : `${path}.${name}`, what: 'added', now: value });
}

function report({ found }: Comparison, difference: AnswerDifference): void {
  if (found.length < MAX_DIFFERENCES) found.push(difference);
}

function isCarried(name: string, recorded: unknown, now: unknown): boolean {
  return CARRIED.some((each) => each === name) && typeof recorded === 'string' && typeof now === 'string';
}

function valuesOf(value: unknown): unknown {
  return isJsonObject(value) ? Object.values(value) : value;
}

function isSame(recorded: unknown, now: unknown): boolean {
  if (recorded === now) return true;
  if (typeof recorded === 'number') return isEpochMs(recorded) && isEpochMs(now);
  return typeof recorded === 'string' && fits(withoutTimes(recorded), withoutTimes(now as string));
}

/** Milliseconds since 1970, between 2010 and 2100. */
function isEpochMs(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) > 1.26e12 && (value as number) < 4.1e12;
}

function withoutTimes(text: string): string {
  return text.replace(TIMES, '(time)').replace(UUIDS, '(id)');
}

const TIMES =
  /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/g;
const UUIDS = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi;

/** Whether the text fits that of the file, in which each `[redacted]` stands for any text. */
function fits(recorded: string, now: string): boolean {
  const [first = '', ...rest] = recorded.split('[redacted]');
  if (rest.length === 0) return recorded === now;
  const last = rest.pop()!;
  if (!now.startsWith(first) || !now.endsWith(last) || now.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = now.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= now.length - last.length;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
