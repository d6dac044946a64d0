import type { Check } from '../../model.js';

export const lifetimeChecks: readonly Check[] = [];
