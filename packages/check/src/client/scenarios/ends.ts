import { dual } from '../behaviour/dual.js';
import type { Scenario } from '../model.js';

/** How long the server `slow-exit` needs after the end of its input. */
export const LEAVES_MS = 500;

/** Servers that do not leave at once. */
export const ENDS: readonly Scenario[] = [
  {
    name: 'slow-exit',
    title: 'A server that needs half a second to leave',
    over: ['stdio'],
    serves: ['modern', 'legacy'],
    open: () => dual({ script: { atEnd: { afterMs: LEAVES_MS } } }),
  },
  {
    name: 'stubborn',
    title: 'A server that leaves neither at the end of its input nor at SIGTERM',
    over: ['stdio'],
    serves: ['modern', 'legacy'],
    open: () => dual({ script: { atEnd: 'stays' } }),
  },
];
