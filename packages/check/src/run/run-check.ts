import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Check, Era, Finding, Outcome } from '../model.js';
import { Failed, Skipped } from './check-context.js';
import { prepareContext, type RunContext } from './prepare-context.js';

/** Runs one check in one era, with a time limit, and returns its finding. Never rejects. */
export async function runCheck(check: Check, era: Era, run: RunContext): Promise<Finding> {
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
    return finding('pass', { seen: seen ?? 'as expected' });
  } catch (error) {
    if (error instanceof Skipped) return finding('skip', { seen: error.message });
    if (error instanceof Failed) {
      const { seen, expected, wire = excerpt(), input } = error;
      const outcome = check.level === 'MUST' ? 'fail' : 'warn';
      return finding(outcome, { seen, expected, wire, ...(input !== undefined && { input }) });
    }
    return finding('error', {
      seen: `could not be finished: ${messageOf(error)}`,
      expected: 'the check finishes',
      wire: excerpt(),
    });
  } finally {
    cancelTimeout();
    await clear();
  }

  function finding(outcome: Outcome, found: Partial<Finding> & { readonly seen: string }): Finding {
    return findingOf(check, era, outcome, { ms: clock.now() - began, ...found });
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
