import type { Finding } from '../../check/model.js';
import { cleanLine } from '../../check/report/clean-text.js';
import { createProgressLine } from '../terminal/progress-line.js';
import type { Terminal } from '../terminal/terminal.js';

export interface CheckProgress {
  /** Fits `onFinding` of `checkServer`. */
  readonly found: (finding: Finding, progress: { readonly done: number; readonly of: number }) => void;
  /** Takes the line away. */
  readonly end: () => void;
}

/** A line on stderr while the checks run: how many are done, what was wrong so far, which was the last. */
export function createCheckProgress({
  stderr,
  readsErrors,
  err,
}: Pick<Terminal, 'stderr' | 'readsErrors' | 'err'>): CheckProgress {
  const line = createProgressLine(stderr, readsErrors ? 'live' : 'none', err);
  const wrong = { fail: 0, error: 0, warn: 0 };
  return {
    found({ outcome, suite, title }, { done, of }) {
      if (outcome in wrong) wrong[outcome as keyof typeof wrong] += 1;
      const counts = Object.entries(wrong)
        .filter(([, number]) => number > 0)
        .map(([name, number]) => `${number} ${name}`);
      const message = [counts.join(', '), `${suite}: ${cleanLine(title)}`].filter(Boolean).join('; ');
      line.update({ progress: done, total: of, message });
    },
    end: () => line.hide(),
  };
}
