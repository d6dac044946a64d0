import type { ServerView } from '../../../src/contract.js';
import { calls } from '../state/store.js';

/** How many calls run. Calls are told of at once, and the state of a server every few seconds. */
export function runningOf({ name, load }: ServerView): number {
  const seen = calls.all.value.filter(({ server, state }) => server === name && state === 'running').length;
  return Math.max(load.running, seen);
}
