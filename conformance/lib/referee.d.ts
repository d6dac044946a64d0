import type { Check } from './judge.js';

/** Runs one scenario of the referee against a server. Undefined: it left no checks. */
export function runScenario(
  url: string,
  scenario: string,
  revision: string,
): Promise<readonly Check[] | undefined>;
