import type { Check } from '../../model.js';
import { fallbackChecks } from './fallback.js';
import { lockChecks } from './lock.js';
import { matrixChecks } from './matrix.js';

/** The two eras beside each other, and each revision that a server agrees to. */
export const eraChecks: readonly Check[] = [...lockChecks, ...fallbackChecks, ...matrixChecks];
