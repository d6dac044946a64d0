import type { Check, Era, Finding, Outcome } from '../model.js';

/** What a check says of a target, with all that is known of the check itself. */
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
