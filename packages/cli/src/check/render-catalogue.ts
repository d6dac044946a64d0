import { type Check, SUITES } from '@isthmus/check/internal/model.js';
import { isOpinion, levelInWords } from '@isthmus/check/internal/rules/index.js';
import type { Terminal } from '../terminal/terminal.js';

/** All checks, by suite or as JSON. */
export function renderCatalogue(
  checks: readonly Check[],
  asJson: boolean,
  { out }: Pick<Terminal, 'out'>,
): string {
  if (asJson) {
    const plain = checks.map(({ id, suite, title, level, rules, reason, era = 'each', over, hint }) => ({
      id,
      suite,
      title,
      level,
      rules,
      ...(isOpinion({ rules }) && { opinion: true }),
      ...(reason !== undefined && { reason }),
      era,
      over: over ?? ['command', 'socket', 'http'],
      hint,
    }));
    return `${JSON.stringify(plain, null, 2)}\n`;
  }
  const widest = Math.max(0, ...checks.map(({ id }) => id.length));
  const parts = SUITES.map((suite) => {
    const own = checks.filter((check) => check.suite === suite);
    const lines = own.map(
      ({ id, level, rules, title }) =>
        `  ${id.padEnd(widest)}  ${levelInWords({ level, rules }).padEnd(16)}  ${title}`,
    );
    return `${out.bold(suite)} (${own.length})\n${lines.join('\n')}`;
  });
  return `${parts.join('\n\n')}\n\n${checks.length} checks\n`;
}
