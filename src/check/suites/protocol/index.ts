import type { Check } from '../../model.js';
import { pingChecks } from './ping.js';
import { roundsPartChecks } from './rounds-part.js';

export const protocolChecks: readonly Check[] = [...pingChecks, ...roundsPartChecks];
