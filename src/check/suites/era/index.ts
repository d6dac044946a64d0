import type { Check } from '../../model.js';

export const eraChecks: readonly Check[] = [];
