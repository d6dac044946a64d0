import type { Check } from '../../model.js';

export const toolsChecks: readonly Check[] = [];
