import type { Mutant } from '../../support/client/mutant.js';
import { CANCEL_AND_CACHE } from './cancel-and-cache.js';
import { HTTP } from './http.js';
import { LOGIN } from './login.js';
import { MESSAGES } from './messages.js';
import { NEGOTIATION } from './negotiation.js';
import { ROBUSTNESS } from './robustness.js';
import { ROUNDS } from './rounds.js';
import { TASKS } from './tasks.js';

/** Clients with one fault each. */
export const MUTANTS: readonly Mutant[] = [
  ...NEGOTIATION,
  ...MESSAGES,
  ...ROUNDS,
  ...CANCEL_AND_CACHE,
  ...HTTP,
  ...ROBUSTNESS,
  ...TASKS,
  ...LOGIN,
];
