import type { Check } from '../../model.js';
import { endChecks } from './end.js';
import { startChecks } from './start.js';

/** How a process comes and goes. */
export const lifetimeChecks: readonly Check[] = [...startChecks, ...endChecks];
