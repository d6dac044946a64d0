import type { Report } from '../model.js';
import { type CheckOptions, survey, surveyAndCheck } from '../run/check-server.js';
import type { CheckTarget } from '../wire/targets.js';
import { compare, type Difference } from './compare.js';

/** A server judged twice: by itself, and behind a bridge. */
export interface ThroughReport {
  readonly direct: Report;
  readonly through: Report;
  readonly differences: readonly Difference[];
}

/** Runs the same checks on both ways, and says what is not the same. Rejects when `signal` stops it on the first. */
export async function checkThrough(
  direct: CheckTarget,
  through: CheckTarget,
  options: CheckOptions = {},
): Promise<ThroughReport> {
  // The same input for both, where checks make up their own.
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31);
  const run = { inTurn: true, ...options, seed };
  const first = await surveyAndCheck(direct, run);
  options.signal?.throwIfAborted();
  // What varies by itself shows in a second look.
  const again = await survey(direct, run);
  const second = await surveyAndCheck(through, run);
  return { direct: first.report, through: second.report, differences: compare(first, again, second) };
}
