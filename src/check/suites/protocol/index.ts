import type { Check } from '../../model.js';
import { idChecks } from './ids.js';
import { messageChecks } from './messages.js';
import { oddMessageChecks } from './odd-messages.js';
import { pingChecks } from './ping.js';
import { roundsPartChecks } from './rounds-part.js';

export const protocolChecks: readonly Check[] = [
  ...messageChecks,
  ...oddMessageChecks,
  ...idChecks,
  ...pingChecks,
  ...roundsPartChecks,
];
