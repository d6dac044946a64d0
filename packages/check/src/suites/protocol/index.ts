import type { Check } from '../../model.js';
import { cacheChecks } from './cache.js';
import { capabilityChecks } from './capabilities.js';
import { completionChecks } from './completion.js';
import { discoverChecks } from './discover.js';
import { errorChecks } from './errors.js';
import { iconChecks } from './icons.js';
import { idChecks } from './ids.js';
import { idsEverywhereChecks } from './ids-everywhere.js';
import { initializeChecks } from './initialize.js';
import { messageChecks } from './messages.js';
import { metaChecks } from './meta.js';
import { pageChecks } from './pages.js';
import { pingChecks } from './ping.js';
import { promptChecks } from './prompts.js';
import { resourceChecks } from './resources.js';
import { resultChecks } from './results.js';
import { roundsPartChecks } from './rounds-part.js';
import { shapeChecks } from './shapes.js';
import { stateChecks } from './state.js';
import { taskExtensionChecks } from './task-extension.js';
import { taskChecks } from './tasks.js';
import { versionChecks } from './versions.js';

export const protocolChecks: readonly Check[] = [
  ...messageChecks,
  ...idChecks,
  ...idsEverywhereChecks,
  ...metaChecks,
  ...versionChecks,
  ...discoverChecks,
  ...initializeChecks,
  ...pingChecks,
  ...capabilityChecks,
  ...stateChecks,
  ...resultChecks,
  ...shapeChecks,
  ...errorChecks,
  ...cacheChecks,
  ...pageChecks,
  ...resourceChecks,
  ...promptChecks,
  ...completionChecks,
  ...iconChecks,
  ...taskChecks,
  ...taskExtensionChecks,
  ...roundsPartChecks,
];
