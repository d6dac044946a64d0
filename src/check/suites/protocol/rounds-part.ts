import type { Check } from '../../model.js';

/** What takes more than one message: rounds, subscriptions, cancellation, progress, logs and questions. */
export const roundsPartChecks: readonly Check[] = [];
