import type { Check } from '../../model.js';
import { fallbackChecks } from './fallback.js';
import { lockChecks } from './lock.js';
import { matrixChecks } from './matrix.js';

/** Both eras on one server, and each revision that a server accepts. */
export const eraChecks: readonly Check[] = [...lockChecks, ...fallbackChecks, ...matrixChecks];
