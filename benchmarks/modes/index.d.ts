import type { KnownMode } from '../lib/options.js';
import type { Verdict } from '../lib/verdicts.js';

export interface Mode extends KnownMode {
  judge(document: {
    readonly eras: readonly ('modern' | 'legacy')[];
    readonly upstreams: readonly ('modern' | 'legacy')[];
  }): Verdict[];
}

export const MODES: readonly Mode[];
