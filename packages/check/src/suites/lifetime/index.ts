import type { Check } from '../../model.js';
import { endChecks } from './end.js';
import { startChecks } from './start.js';

/** Start and exit of a process. */
export const lifetimeChecks: readonly Check[] = [...startChecks, ...endChecks];
