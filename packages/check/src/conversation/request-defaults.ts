import type { Era } from '@isthmus/sdk/internal/exchange/call.js';

/**
 * Faults of a server that would spoil every conversation, found on the way in. What is known of them is judged once; the
 * other checks get round them, so that they can judge what they are about and do not wait in vain.
 */
export interface RequestDefaults {
  /** Eras in which errors come without the id of their request: the only request under way is the one they are for. */
  readonly looseErrors: Set<Era>;
  /** Methods that were not answered at all, as `era method`: nobody waits long for them again. */
  readonly silent: Set<string>;
}

export function createRequestDefaults(): RequestDefaults {
  return { looseErrors: new Set(), silent: new Set() };
}

/** How long to wait for an answer. */
export function patienceFor({ silent }: RequestDefaults, era: Era, method: string, ms: number): number {
  return silent.has(`${era} ${method}`) ? Math.min(ms, SHORT_MS) : ms;
}

const SHORT_MS = 700;
