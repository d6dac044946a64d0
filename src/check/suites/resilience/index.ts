import type { Check } from '../../model.js';

export const resilienceChecks: readonly Check[] = [];
