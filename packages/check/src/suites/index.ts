/** The catalogue of all checks. */
import type { Check } from '../model.js';
import { eraChecks } from './era/index.js';
import { httpChecks } from './http/index.js';
import { lifetimeChecks } from './lifetime/index.js';
import { protocolChecks } from './protocol/index.js';
import { resilienceChecks } from './resilience/index.js';
import { toolsChecks } from './tools/index.js';

/** All checks, in the order in which they run. */
export const CHECKS: readonly Check[] = [
  ...protocolChecks,
  ...resilienceChecks,
  ...lifetimeChecks,
  ...httpChecks,
  ...toolsChecks,
  ...eraChecks,
];
