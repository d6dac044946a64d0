import type { Check } from '../../model.js';
import { cacheChecks } from './cache.js';
import { capabilityChecks } from './capabilities.js';
import { discoverChecks } from './discover.js';
import { errorChecks } from './errors.js';
import { idChecks } from './ids.js';
import { messageChecks } from './messages.js';
import { metaChecks } from './meta.js';
import { oddMessageChecks } from './odd-messages.js';
import { pageChecks } from './pages.js';
import { pingChecks } from './ping.js';
import { resultChecks } from './results.js';
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
  ...resultChecks,
  ...errorChecks,
  ...cacheChecks,
  ...pageChecks,
  ...pingChecks,
  ...roundsPartChecks,
];
