import type { WireLine } from '../model.js';

/** What leaves a check that did not hold. */
export class Failed extends Error {
  override readonly name = 'Failed';
  readonly seen: string;
  readonly expected: string;
  readonly wire: readonly WireLine[] | undefined;
  readonly input: string | undefined;

  constructor(seen: string, expected: string, more: FailureDetails = {}) {
    super(`${seen}; expected: ${expected}`);
    this.seen = seen;
    this.expected = expected;
    this.wire = more.wire;
    this.input = more.input;
  }
}

export interface FailureDetails {
  /** Where the last lines of the connections of the check do not show it. */
  readonly wire?: readonly WireLine[];
  /** The smallest input that fails. */
  readonly input?: string;
}

/** What leaves a check that has nothing to judge. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}
