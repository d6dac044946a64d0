import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { Check, CheckTransport, Suite } from '../model.js';

/** Which checks to run. */
export interface CheckChoice {
  /** Default: all. */
  readonly suites?: readonly Suite[];
  /** Ids; a `*` stands for anything. */
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
}

/** One check in one era, or the reason why it is not run. */
export interface Planned {
  readonly check: Check;
  readonly era: Era;
  readonly obstacle?: string;
}

/** The selected checks. */
export function choose(checks: readonly Check[], { suites, only, skip = [] }: CheckChoice): Check[] {
  return checks.filter(
    ({ id, suite }) =>
      (suites === undefined || suites.includes(suite)) &&
      (only === undefined || only.some((pattern) => fits(pattern, id))) &&
      !skip.some((pattern) => fits(pattern, id)),
  );
}

/** Whether a pattern such as `stdio/*` matches the id of a check. */
export function fits(pattern: string, id: string): boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[\\^$+?.()|[\]{}]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`).test(id);
}

/** Every check in every era that it is about, with the reason if it cannot run. */
export function planRun(
  checks: readonly Check[],
  transport: CheckTransport,
  spoken: readonly Era[],
  isSse = false,
): Planned[] {
  return checks.flatMap((check) => {
    const first = spoken[0]!;
    const about = check.era ?? 'each';
    const eras: readonly Era[] = about === 'each' ? spoken : about === 'none' ? [first] : [about];
    return eras.map((era): Planned => {
      const over = check.over;
      if (over && !over.includes(transport)) {
        return {
          check,
          era: spoken.includes(era) ? era : first,
          obstacle: `is about ${over.map(nameOf).join(' and ')}, and the target is ${nameOf(transport)}`,
        };
      }
      if (isSse && over?.length === 1 && !check.id.startsWith('http-sse/')) {
        return {
          check,
          era: first,
          obstacle: 'is about Streamable HTTP, and the target speaks HTTP with SSE (2024-11-05)',
        };
      }
      if (!spoken.includes(era)) return { check, era, obstacle: `the target does not speak the ${era} era` };
      return { check, era };
    });
  });
}

function nameOf(transport: CheckTransport): string {
  return NAMES[transport];
}

const NAMES: Readonly<Record<CheckTransport, string>> = {
  command: 'a command',
  socket: 'a socket',
  http: 'a URL',
};
