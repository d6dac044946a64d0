import { dual } from '../behaviour/dual.js';
import type { Scenario } from '../model.js';

/** Servers that do not leave at once. */
export const ENDS: readonly Scenario[] = [
  {
    name: 'slow-exit',
    title: 'A server that needs half a second to leave',
    over: ['stdio'],
    serves: ['modern', 'legacy'],
    open: () => dual({ script: { atEnd: { afterMs: 500 } } }),
  },
  {
    name: 'stubborn',
    title: 'A server that leaves neither at the end of its input nor at SIGTERM',
    over: ['stdio'],
    serves: ['modern', 'legacy'],
    open: () => dual({ script: { atEnd: 'stays' } }),
  },
];
