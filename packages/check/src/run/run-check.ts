import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { Check, Finding, Outcome } from '../model.js';
import { findingOf } from './finding-of.js';
import { prepareContext, type RunContext } from './prepare-context.js';
import { Failed, Skipped } from './verdict.js';

/** Runs one check in one era, within bounds, and says what came of it. Never rejects. */
export async function runCheck(check: Check, era: Era, house: RunContext): Promise<Finding> {
  const { clock, patience } = house;
  const began = clock.now();
  const { table, excerpt, clear } = prepareContext(house, era);
  let callOff = () => {};
  const late = new Promise<never>((_, reject) => {
    callOff = clock.after(patience.checkMs, () =>
      reject(new Error(`the check did not come to an end within ${patience.checkMs} ms`)),
    );
  });
  const work = (async () => check.run(table))();
  // It may still fail after its time is up, when its connections are closed.
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
      seen: `could not be judged: ${messageOf(error)}`,
      expected: 'the check comes to an end',
      wire: excerpt(),
    });
  } finally {
    callOff();
    await clear();
  }

  function finding(outcome: Outcome, found: Partial<Finding> & { readonly seen: string }): Finding {
    return findingOf(check, era, outcome, { ms: clock.now() - began, ...found });
  }
}
