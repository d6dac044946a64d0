import type { Check } from '../../model.js';

export const httpChecks: readonly Check[] = [];
