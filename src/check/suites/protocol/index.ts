import type { Check } from '../../model.js';
import { pingChecks } from './ping.js';

export const protocolChecks: readonly Check[] = [...pingChecks];
