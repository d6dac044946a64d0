import type { Check } from '../../model.js';
import { bodyChecks } from './bodies.js';
import { connectionChecks } from './connections.js';
import { headerValueChecks } from './header-values.js';
import { modernOnlyChecks } from './modern-only.js';
import { originChecks } from './origin.js';
import { paramHeaderChecks } from './param-headers.js';
import { plainHttpChecks } from './plain-http.js';
import { requiredHeaderChecks } from './required-headers.js';
import { statusChecks } from './statuses.js';
import { streamChecks } from './streams.js';

export const httpChecks: readonly Check[] = [
  ...requiredHeaderChecks,
  ...headerValueChecks,
  ...paramHeaderChecks,
  ...statusChecks,
  ...modernOnlyChecks,
  ...streamChecks,
  ...originChecks,
  ...bodyChecks,
  ...plainHttpChecks,
  ...connectionChecks,
];
