import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Check, Era, Finding, Outcome } from '../model.js';
import { Failed, Skipped } from './check-context.js';
import type { JudgedCheck } from './group-findings.js';
import { prepareContext, type RunContext } from './prepare-context.js';

/** Runs one check in one era, with a time limit, and returns its finding and the cause. Never rejects. */
export async function runCheck(check: Check, era: Era, run: RunContext): Promise<JudgedCheck> {
  const { clock, patience } = run;
  const began = clock.now();
  const { context, excerpt, clear } = prepareContext(run, era);
  let cancelTimeout = () => {};
  const late = new Promise<never>((_, reject) => {
    cancelTimeout = clock.after(patience.checkMs, () =>
      reject(new Error(`the check did not finish within ${patience.checkMs} ms`)),
    );
  });
  const work = (async () => check.run(context))();
  // It may still reject after the time limit, when its connections are closed.
  work.catch(() => {});
  try {
    const seen = await Promise.race([work, late]);
    return judged('pass', { seen: seen ?? 'as expected' });
  } catch (error) {
    if (error instanceof Skipped) return judged('skip', { seen: error.message });
    if (error instanceof Failed) {
      const { seen, expected, wire = excerpt(), input, failureCause: cause } = error;
      const outcome = check.level === 'MUST' ? 'fail' : 'warn';
      const found = { seen, expected, wire, ...(input !== undefined && { input }) };
      return { ...judged(outcome, found), ...(cause && { cause }) };
    }
    return judged('error', {
      seen: `could not be finished: ${messageOf(error)}`,
      expected: 'the check finishes',
      wire: excerpt(),
    });
  } finally {
    cancelTimeout();
    await clear();
  }

  function judged(outcome: Outcome, found: Partial<Finding> & { readonly seen: string }): JudgedCheck {
    return { finding: findingOf(check, era, outcome, { ms: clock.now() - began, ...found }) };
  }
}

/** A finding of a check, with the properties of the check. */
export function findingOf(
  check: Check,
  era: Era,
  outcome: Outcome,
  found: Partial<Finding> & { readonly seen: string; readonly ms: number },
): Finding {
  const { id, suite, title, level, rules, reason, hint } = check;
  return {
    id,
    suite,
    title,
    level,
    rules,
    ...(reason !== undefined && { reason }),
    ...((check.era ?? 'each') !== 'none' && { era }),
    outcome,
    expected: '',
    wire: [],
    hint,
    ...found,
  };
}
