import type { Check } from '../../model.js';
import { capabilityChecks } from './capabilities.js';
import { discoverChecks } from './discover.js';
import { idChecks } from './ids.js';
import { messageChecks } from './messages.js';
import { metaChecks } from './meta.js';
import { oddMessageChecks } from './odd-messages.js';
import { pingChecks } from './ping.js';
import { roundsPartChecks } from './rounds-part.js';
import { versionChecks } from './versions.js';

export const protocolChecks: readonly Check[] = [
  ...messageChecks,
  ...oddMessageChecks,
  ...idChecks,
  ...metaChecks,
  ...versionChecks,
  ...discoverChecks,
  ...capabilityChecks,
  ...pingChecks,
  ...roundsPartChecks,
];
